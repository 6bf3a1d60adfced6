import type { Exchange, Exchanged, ExchangeRequest } from '../rate-limit.ts'

/** What a process is told at its start: where the writer listens, `null` where the database needs none. */
export type ReaderDetails = { readonly writerPath: string | null }
export type WriterDetails = { readonly writerPath: string }

/** What a process tells the supervisor: that it is ready, with what is to be printed, or which tokens it wants. */
export type ToSupervisor = { readonly ready: string } | { readonly exchange: ExchangeRequest; readonly id: number }

/** What the supervisor tells a process. */
export type FromSupervisor = { readonly exchanged: Exchanged; readonly id: number }

/** Sends a message to the process that started this one. */
export function tellSupervisor(message: ToSupervisor): void {
  process.send?.(message)
}

/** The exchange of tokens with the supervisor, which keeps the windows of all. */
export function exchangeWithSupervisor(): Exchange {
  const waiting = new Map<number, (exchanged: Exchanged) => void>()
  let lastId = 0
  process.on('message', ({ id, exchanged }: FromSupervisor) => {
    waiting.get(id)?.(exchanged)
    waiting.delete(id)
  })
  return (exchange) =>
    new Promise((resolve) => {
      const id = ++lastId
      waiting.set(id, resolve)
      tellSupervisor({ id, exchange })
    })
}
