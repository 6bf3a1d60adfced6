import { unavailable } from '../../core/errors.ts'
import type { Snapshot } from '../../observability/metrics/snapshot.ts'
import type { Exchange, Exchanged, ExchangeRequest } from '../../server/http/rate-limit.ts'

/** What a process is told at its start: where the writer listens, `null` where the database needs none. */
export type ReaderDetails = { readonly writerPath: string | null }
export type WriterDetails = { readonly writerPath: string }

/**
 * What a process tells the supervisor: that it is ready, with what is to be printed, which tokens it wants, what it has
 * measured, where it was asked, and over and over that it is not stuck.
 */
export type ToSupervisor =
  | { readonly ready: string }
  | { readonly exchange: ExchangeRequest; readonly id: number }
  | { readonly measured: Snapshot; readonly id: number }
  | { readonly beat: true }

/** What the supervisor tells a process, and asks of it: what it has measured, of the database too where that `isWanted`. */
export type FromSupervisor =
  | { readonly exchanged: Exchanged; readonly id: number }
  | { readonly measure: { readonly isWanted: boolean }; readonly id: number }

/** The operation by which the writer is asked whether it answers, and can read its database. */
export const pingCall = 'ping'

/** How often a process tells that it is not stuck. */
const beatMs = 500

/** How long the supervisor may take to answer; one that is stuck must not hold up requests. */
const exchangeTimeoutMs = 1_000

/** Sends a message to the process that started this one; one that is gone hears nothing, and this one learns of that otherwise. */
export function tellSupervisor(message: ToSupervisor, onSent: () => void = () => {}): void {
  if (process.connected) process.send?.(message, undefined, undefined, onSent)
}

/** Has the supervisor know that this process is not stuck: it ends one that it hears nothing of. */
export function beatForSupervisor(): void {
  let isSent = true
  const beat = () => {
    // Beats that nobody reads would pile up.
    if (!isSent) return
    isSent = false
    tellSupervisor({ beat: true }, () => {
      isSent = true
    })
  }
  setInterval(beat, beatMs).unref()
}

/** The exchange of tokens with the supervisor, which keeps the windows of all. */
export function exchangeWithSupervisor(): Exchange {
  const waiting = new Map<number, (exchanged: Exchanged) => void>()
  let lastId = 0
  process.on('message', (message: FromSupervisor) => {
    if (!('exchanged' in message)) return
    waiting.get(message.id)?.(message.exchanged)
    waiting.delete(message.id)
  })
  return (exchange) =>
    new Promise((resolve, reject) => {
      const id = ++lastId
      const late = setTimeout(() => {
        waiting.delete(id)
        reject(unavailable('The limit of requests can not be looked up now.'))
      }, exchangeTimeoutMs)
      waiting.set(id, (exchanged) => {
        clearTimeout(late)
        resolve(exchanged)
      })
      tellSupervisor({ id, exchange })
    })
}
