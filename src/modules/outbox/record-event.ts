import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Tx } from '../../database/query.ts'
import type { EventType } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import { insertEvent, insertEventWithData, reserveSequenceNumbers } from './repository.ts'

/**
 * What happened: to an object whose events are a known few, of which this is the one numbered `version`, or to one that may
 * change at any time, whose row `data` is now. `at` is the time that the object's own row has of it.
 */
export type NewEvent = { readonly type: EventType; readonly objectId: string; readonly at: string } & (
  | { readonly version: number }
  | { readonly data: object }
)

/** What a merchant's operations in one transaction have left to be told, the latest last. */
type DeferredEvent = {
  readonly event: NewEvent
  readonly previous: DeferredEvent | null
  readonly count: number
}

/** What the pending changes are called by which a transaction tells events, before the merchant's id. */
const deferredEventsPrefix = 'events '

/** What was told by a pending change, for whoever counts what is told; `null` where it tells of nothing. */
export function eventOfDeferredWrite(name: string, value: unknown): NewEvent | null {
  return name.startsWith(deferredEventsPrefix) ? ((value as DeferredEvent | null)?.event ?? null) : null
}

/**
 * Tells whoever has to know, in the transaction of what happened: neither exists without the other.
 *
 * It is written just before COMMIT, all that a transaction tells of a merchant together: so its numbers are dense and in the
 * order of the commits, and the row that gives them is the last that anybody waits for.
 */
export function recordEvent(tx: Tx, { merchantId }: Context, happening: NewEvent): MaybePromise<unknown> {
  return tx.deferred.update<DeferredEvent | null>(deferredEventsPrefix + merchantId, {
    read: () => null,
    next: (before) => ({ event: happening, previous: before, count: (before?.count ?? 0) + 1 }),
    store: (tx, latest) => latest && storeEvents(tx, merchantId, latest),
  })
}

async function storeEvents(tx: Tx, merchantId: string, latest: DeferredEvent): Promise<void> {
  await reserveSequenceNumbers(tx, { merchantId, name: 'events', latest: latest.count, latestTime: 0n })
  const inOrder: DeferredEvent[] = []
  for (let each: DeferredEvent | null = latest; each; each = each.previous) inOrder[each.count - 1] = each
  for (const { event: happening, count } of inOrder) {
    const time = BigInt(Date.parse(happening.at))
    const event = { merchantId, back: latest.count - count, time, ...happening }
    await ('data' in event ? insertEventWithData(tx, event) : insertEvent(tx, event))
  }
}
