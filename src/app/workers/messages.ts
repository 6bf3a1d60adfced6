import { unavailable } from '../../core/errors.ts'
import type { MetricsSnapshot } from '../../observability/metrics/snapshot.ts'
import type { ExchangeTokens, TokenExchangeRequest, TokenExchangeResult } from '../../server/http/rate-limit.ts'

/** With PostgreSQL there is no writer process, so `writerPath` is `null`. */
export type ReaderArgs = { readonly writerPath: string | null }
export type WriterArgs = { readonly writerPath: string }

export type MessageToSupervisor =
  | { readonly ready: string }
  | { readonly exchange: TokenExchangeRequest; readonly id: number }
  | { readonly measured: MetricsSnapshot; readonly id: number }
  | { readonly beat: true }

/** If `isWanted` is true, the snapshot also contains gauges from database queries. */
export type MessageFromSupervisor =
  | { readonly exchanged: TokenExchangeResult; readonly id: number }
  | { readonly measure: { readonly isWanted: boolean }; readonly id: number }

export const pingOperation = 'ping'

const heartbeatIntervalMs = 500

/** If the supervisor does not respond within `exchangeTimeoutMs`, the process continues without a response. */
const exchangeTimeoutMs = 1_000

export function sendToSupervisor(message: MessageToSupervisor, onSent: () => void = () => {}): void {
  if (process.connected) process.send?.(message, undefined, undefined, onSent)
}

export function startHeartbeat(): void {
  let isSent = true
  const sendHeartbeat = () => {
    // While the supervisor is stopped, heartbeat messages must not accumulate in memory.
    if (!isSent) return
    isSent = false
    sendToSupervisor({ beat: true }, () => {
      isSent = true
    })
  }
  setInterval(sendHeartbeat, heartbeatIntervalMs).unref()
}

export function createSupervisorExchange(): ExchangeTokens {
  const pending = new Map<number, (exchanged: TokenExchangeResult) => void>()
  let lastId = 0
  process.on('message', (message: MessageFromSupervisor) => {
    if (!('exchanged' in message)) return
    pending.get(message.id)?.(message.exchanged)
    pending.delete(message.id)
  })
  return (exchange) =>
    new Promise((resolve, reject) => {
      const id = ++lastId
      const timer = setTimeout(() => {
        pending.delete(id)
        reject(unavailable('The rate limit cannot be checked now. Retry with the same idempotency key.'))
      }, exchangeTimeoutMs)
      pending.set(id, (exchanged) => {
        clearTimeout(timer)
        resolve(exchanged)
      })
      sendToSupervisor({ id, exchange })
    })
}
