import type { Answer, Tx } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import type { EventType } from './event.ts'
import { insertEvent, insertEventWithData, takeNumbers } from './repository.ts'

/**
 * What happened: to an object whose events are a known few, of which this is the one numbered `version`, or to one that may
 * change at any time, whose row `data` is now. `at` is the time that the object's own row has of it.
 */
export type Happening = { readonly type: EventType; readonly objectId: string; readonly at: string } & (
  | { readonly version: number }
  | { readonly data: object }
)

/** What a merchant's operations in one transaction have left to be told, the latest last. */
type Untold = {
  readonly happening: Happening
  readonly before: Untold | null
  readonly count: number
}

/** What the pending changes are called by which a transaction tells events, before the merchant's id. */
const pendingEvents = 'events '

/** What was told by a pending change, for whoever counts what is told; `null` where it tells of nothing. */
export function toldBy(name: string, value: unknown): Happening | null {
  return name.startsWith(pendingEvents) ? ((value as Untold | null)?.happening ?? null) : null
}

/**
 * Tells whoever has to know, in the transaction of what happened: neither exists without the other.
 *
 * It is written just before COMMIT, all that a transaction tells of a merchant together: so its numbers are dense and in the
 * order of the commits, and the row that gives them is the last that anybody waits for.
 */
export function recordEvent(tx: Tx, { merchantId }: Context, happening: Happening): Answer<unknown> {
  return tx.pending.change<Untold | null>(pendingEvents + merchantId, {
    read: () => null,
    next: (before) => ({ happening, before, count: (before?.count ?? 0) + 1 }),
    store: (tx, latest) => latest && storeEvents(tx, merchantId, latest),
  })
}

async function storeEvents(tx: Tx, merchantId: string, latest: Untold): Promise<void> {
  await takeNumbers(tx, { merchantId, name: 'events', latest: latest.count, latestTime: 0n })
  const inOrder: Untold[] = []
  for (let each: Untold | null = latest; each; each = each.before) inOrder[each.count - 1] = each
  for (const { happening, count } of inOrder) {
    const time = BigInt(Date.parse(happening.at))
    const event = { merchantId, back: latest.count - count, time, ...happening }
    await ('data' in event ? insertEventWithData(tx, event) : insertEvent(tx, event))
  }
}
