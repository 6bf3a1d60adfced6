import type { HashedTable, HistoryRow, RowSlot } from './hashed-columns.ts'
import { rowKey, rowSlots, tableInSlot } from './hashed-columns.ts'
import type { Seal } from './seal.ts'
import { countEvents, hashRows, printAt } from './seal.ts'

/**
 * What was done to a row since it was sealed: with `missing` what came after may have moved up, with `inserted` it may have moved
 * down. A row of `seals` is `rewritten` where it holds all that is there and is not the one that was kept elsewhere.
 */
export type DifferenceKind = 'changed' | 'missing' | 'inserted' | 'swapped' | 'rewritten'

/**
 * The first row of a merchant's history that differs from what was sealed. `event` is the number of the event that it belongs to,
 * for a seal the last that it covers; `otherEvent` that of the row that it was swapped with.
 */
export type ChainDifference = {
  readonly merchantId: string
  readonly event: number
  readonly table: HashedTable | 'seals'
  /** An id, or what else identifies it; `null` where what is in its place is another, or a stretch is all that is known. */
  readonly key: string | null
  readonly done: DifferenceKind
  readonly otherEvent: number | null
}

type SealComparison = {
  readonly seal: Seal
  /** The number of the first event that it covers. */
  readonly first: number
  /** What it covers, as it is there now, from the first on. */
  readonly rows: readonly (HistoryRow | null)[]
  /** The prints of the next seal: what was closed up comes from there. */
  readonly printsAfter: string
  /** What is there now behind what it covers: what was moved on has gone there. */
  readonly rowsAfter: readonly HistoryRow[]
}

/** Which row of a seal is the first that is not as it was sealed; the events come first, then what they made, then what moved. */
export function findFirstDifference({ seal, first, rows, printsAfter, rowsAfter }: SealComparison): ChainDifference {
  const { merchantId } = seal
  const found = hashRows([...rows, ...rowsAfter]).prints
  for (const place of rows.keys()) {
    for (const slot of rowSlots) {
      if (printAt(found, place, slot) === printAt(seal.prints, place, slot)) continue
      const { done, other } = classifyDifference({ sealed: seal.prints + printsAfter, found, place, slot })
      const row = rows[place] ?? null
      const event = first + place
      const isEvent = slot === 'events'
      const table = tableInSlot(slot, row?.eventsType) ?? 'events'
      const key = row === null || done === 'missing' ? null : isEvent ? `${event}` : rowKey(table, row)
      return { merchantId, event, table, key, done, otherEvent: other === null ? null : first + other }
    }
  }
  // Each row begins as it was sealed: whoever took that much trouble is found by the whole.
  return { merchantId, event: first, table: 'events', key: null, done: 'changed', otherEvent: null }
}

type SlotComparison = {
  readonly sealed: string
  readonly found: string
  readonly place: number
  readonly slot: RowSlot
}

function classifyDifference({ sealed, found, place, slot }: SlotComparison): {
  done: DifferenceKind
  other: number | null
} {
  const [was, is] = [printAt(sealed, place, slot), printAt(found, place, slot)]
  if (is === null) return { done: 'missing', other: null }
  if (was === null) return { done: 'inserted', other: null }
  const cameFrom = findLaterPrint(sealed, { place, slot, print: is })
  const wentTo = findLaterPrint(found, { place, slot, print: was })
  if (cameFrom !== null && cameFrom === wentTo) return { done: 'swapped', other: cameFrom }
  if (cameFrom !== null) return { done: 'missing', other: null }
  return { done: wentTo === null ? 'changed' : 'inserted', other: null }
}

function findLaterPrint(
  prints: string,
  { place, slot, print }: { place: number; slot: RowSlot; print: string },
): number | null {
  for (let each = place + 1; each < countEvents(prints); each++) if (printAt(prints, each, slot) === print) return each
  return null
}

/** What is said of a difference, such as `merchant 0198…, event 17: transfers 0198… changed`. */
export function describeDifference({ merchantId, event, table, key, done, otherEvent }: ChainDifference): string {
  const row = key === null ? `a row of ${table}` : `${table} ${key}`
  const other = otherEvent === null ? '' : ` with that of event ${otherEvent}`
  return `merchant ${merchantId}, event ${event}: ${row} ${done}${other}`
}
