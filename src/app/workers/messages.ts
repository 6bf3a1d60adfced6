import { unavailable } from '../../core/errors.ts'
import type { MetricsSnapshot } from '../../observability/metrics/snapshot.ts'
import type { ExchangeTokens, TokenExchangeRequest, TokenExchangeResult } from '../../server/http/rate-limit.ts'

/** What a process is told at its start: where the writer listens, `null` where the database needs none. */
export type ReaderArgs = { readonly writerPath: string | null }
export type WriterArgs = { readonly writerPath: string }

/**
 * What a process tells the supervisor: that it is ready, with what is to be printed, which tokens it wants, what it has
 * measured, where it was asked, and over and over that it is not stuck.
 */
export type MessageToSupervisor =
  | { readonly ready: string }
  | { readonly exchange: TokenExchangeRequest; readonly id: number }
  | { readonly measured: MetricsSnapshot; readonly id: number }
  | { readonly beat: true }

/** What the supervisor tells a process, and asks of it: what it has measured, of the database too where that `isWanted`. */
export type MessageFromSupervisor =
  | { readonly exchanged: TokenExchangeResult; readonly id: number }
  | { readonly measure: { readonly isWanted: boolean }; readonly id: number }

/** The operation by which the writer is asked whether it answers, and can read its database. */
export const pingOperation = 'ping'

/** How often a process tells that it is not stuck. */
const heartbeatIntervalMs = 500

/** How long the supervisor may take to answer; one that is stuck must not hold up requests. */
const exchangeTimeoutMs = 1_000

/** Sends a message to the process that started this one; one that is gone hears nothing, and this one learns of that otherwise. */
export function sendToSupervisor(message: MessageToSupervisor, onSent: () => void = () => {}): void {
  if (process.connected) process.send?.(message, undefined, undefined, onSent)
}

/** Has the supervisor know that this process is not stuck: it ends one that it hears nothing of. */
export function startHeartbeat(): void {
  let isSent = true
  const sendHeartbeat = () => {
    // Beats that nobody reads would pile up.
    if (!isSent) return
    isSent = false
    sendToSupervisor({ beat: true }, () => {
      isSent = true
    })
  }
  setInterval(sendHeartbeat, heartbeatIntervalMs).unref()
}

/** The exchange of tokens with the supervisor, which keeps the windows of all. */
export function createSupervisorExchange(): ExchangeTokens {
  const waiting = new Map<number, (exchanged: TokenExchangeResult) => void>()
  let lastId = 0
  process.on('message', (message: MessageFromSupervisor) => {
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
      sendToSupervisor({ id, exchange })
    })
}
