import { backoffMs, sleep } from './backoff.ts'
import { ServiceError } from './errors.ts'
import type { Event, Gets } from './generated/rest.ts'
import type { RestClient } from './rest.ts'
import { isTransient, type Transport } from './transport.ts'

export type EventOptions = {
  /** The `sequence` of the last event that you processed; 0, the default, for all. */
  readonly after?: number
  /** By default all types. */
  readonly types?: readonly Event['type'][]
  /** Ends the iteration. */
  readonly signal?: AbortSignal
}

/** Seconds for which the service holds a response until an event arrives; its maximum. */
const waitSeconds = 30
const backoff = { baseDelayMs: 500, maxDelayMs: 30_000 }
const path = '/api/events'

type Query = NonNullable<Gets[typeof path]['request']['query']>

/**
 * Iterates over the event feed, in order and without gaps, and then over each event as it happens.
 *
 * A lost connection, a restart and a response that does not arrive are retried for as long as it takes. The next event is requested
 * only when you have processed the last: store its `sequence`, and pass it as `after` when you start again.
 *
 * @throws ServiceError if the service rejects the request permanently: 401, 403, or 400 for a sequence that it does not have, because
 *   it was restored from a backup
 */
export async function* followEvents(
  { rest, transport }: { readonly rest: RestClient; readonly transport: Transport },
  { after = 0, types, signal }: EventOptions = {},
): AsyncGenerator<Event, void> {
  // A silent connection is dead once the service must have answered.
  const retry = { totalMs: 0, attemptTimeoutMs: (waitSeconds + 15) * 1_000 }
  const options = { retry, ...(signal && { signal }) }
  for (let position = after, failures = 0; !signal?.aborted; ) {
    const query: Query = { after: position, limit: 100, wait: waitSeconds, ...(types && { types: types.join(',') }) }
    try {
      const { data, pagination } = await rest.get(path, { query, ...options })
      failures = 0
      for (const event of data) {
        if (signal?.aborted) return
        yield event
      }
      position = pagination.after
    } catch (error) {
      if (signal?.aborted) return
      if (!isTransient(error)) throw error
      failures++
      const requestedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0
      const delayMs = requestedMs + backoffMs(backoff, failures)
      transport.onRetry({ path, failures, delayMs, error: error as Error })
      await sleep(delayMs, signal).catch(() => {})
    }
  }
}
