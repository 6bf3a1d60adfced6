import { backoffMs, sleep } from './backoff.ts'
import { ServiceError } from './errors.ts'
import type { Event, Gets } from './generated/rest.ts'
import type { RestClient } from './rest.ts'
import { isTransient, type Transport } from './transport.ts'

export type EventOptions = {
  /** The `sequence` of the last event that you processed. The default, 0, returns all events. */
  readonly after?: number
  /** By default all types. */
  readonly types?: readonly Event['type'][]
  /** Ends the iteration. */
  readonly signal?: AbortSignal
}

/** The time in which the service waits for an event before it responds: the maximum that it allows. */
const waitSeconds = 30
const backoff = { baseDelayMs: 500, maxDelayMs: 30_000 }
const path = '/api/events'

type Query = NonNullable<Gets[typeof path]['request']['query']>

/**
 * Iterates over the event feed, in order and without gaps, and then over each event as it happens.
 *
 * Retries after a lost connection, a restart or a missing response, without a time limit. Requests the next events only
 * after you have processed the previous ones: store the `sequence` of the last event, and pass it as `after` when you
 * start again.
 *
 * @throws ServiceError if the service rejects the request permanently: 401, 403, or 400 for a sequence that the service
 *   lost in a restore from a backup
 */
export async function* followEvents(
  { rest, transport }: { readonly rest: RestClient; readonly transport: Transport },
  { after = 0, types, signal }: EventOptions = {},
): AsyncGenerator<Event, void> {
  // A connection is dead if no response arrives within the time in which the service must respond.
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
