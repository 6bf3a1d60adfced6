import type { Tx } from '../../database/query.ts'
import type { EventType } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import { insertEvent, insertEventWithData, reserveSequenceNumbers } from './repository.ts'

/**
 * If an object can have only a fixed series of events, `version` is the event's position in the series. If an object
 * can change any number of times, `data` is the object's row. `at` is the time of the change.
 */
export type NewEvent = { readonly type: EventType; readonly objectId: string; readonly at: string } & (
  | { readonly version: number }
  | { readonly data: object }
)

type DeferredEvent = {
  readonly event: NewEvent
  readonly previous: DeferredEvent | null
  readonly count: number
}

const deferredEventsPrefix = 'events '

/** Returns the event that a deferred write inserts, or `null` if the write inserts no event. */
export function eventOfDeferredWrite(name: string, value: unknown): NewEvent | null {
  return name.startsWith(deferredEventsPrefix) ? ((value as DeferredEvent | null)?.event ?? null) : null
}

/**
 * Records an event in the same transaction as the change (outbox pattern). Events are inserted just before COMMIT, so
 * that sequences are gapless and in commit order, and the merchant's sequence row is locked only briefly.
 */
export async function recordEvent(tx: Tx, { merchantId }: Context, event: NewEvent): Promise<void> {
  await tx.deferred.update<DeferredEvent | null>(deferredEventsPrefix + merchantId, {
    read: () => null,
    next: (previous) => ({ event, previous, count: (previous?.count ?? 0) + 1 }),
    store: (tx, latest) => latest && storeEvents(tx, merchantId, latest),
  })
}

async function storeEvents(tx: Tx, merchantId: string, latest: DeferredEvent): Promise<void> {
  await reserveSequenceNumbers(tx, { merchantId, name: 'events', latest: latest.count, latestTime: 0n })
  const ordered: DeferredEvent[] = []
  for (let each: DeferredEvent | null = latest; each; each = each.previous) ordered[each.count - 1] = each
  for (const { event, count } of ordered) {
    const time = BigInt(Date.parse(event.at))
    const row = { merchantId, back: latest.count - count, time, ...event }
    await ('data' in row ? insertEventWithData(tx, row) : insertEvent(tx, row))
  }
}
