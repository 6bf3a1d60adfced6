import type { Tx } from '../../database/query.ts'
import type { EventType } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import { insertEvent, insertEventWithData, reserveSequenceNumbers } from './repository.ts'

/**
 * `version` is the number of the event, for an object with a fixed set of events. `data` is the row of an object that
 * can change at any time. `at` is the time in the object's own row.
 */
export type NewEvent = { readonly type: EventType; readonly objectId: string; readonly at: string } & (
  | { readonly version: number }
  | { readonly data: object }
)

/** A linked list from the latest. */
type DeferredEvent = {
  readonly event: NewEvent
  readonly previous: DeferredEvent | null
  readonly count: number
}

/** The merchant's id follows. */
const deferredEventsPrefix = 'events '

/** For metrics; `null` for a write of anything else. */
export function eventOfDeferredWrite(name: string, value: unknown): NewEvent | null {
  return name.startsWith(deferredEventsPrefix) ? ((value as DeferredEvent | null)?.event ?? null) : null
}

/**
 * The outbox pattern: the event and its change commit together. Events are inserted just before COMMIT, so their
 * sequence is gapless and in commit order, and the row of the merchant's sequence is locked last and briefly.
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
