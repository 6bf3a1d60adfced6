import type { HashedTable, HistoryRow, RowSlot } from './hashed-columns.ts'
import { rowKey, rowSlots, tableInSlot } from './hashed-columns.ts'
import type { Seal } from './seal.ts'
import { countEvents, hashRows, printAt } from './seal.ts'

/**
 * The kinds of differences between a stored row and its seal. If a row is `missing` or `inserted`, later rows may be at
 * different positions. A `rewritten` seal is valid, but differs from the chain head that was saved outside of the
 * database.
 */
export type DifferenceKind = 'changed' | 'missing' | 'inserted' | 'swapped' | 'rewritten'

/**
 * The first row of a merchant's history that differs from its seal. `event` is the sequence of the row's event, or the
 * last event of a `rewritten` seal. If two rows were swapped, `otherEvent` is the event of the other row.
 */
export type ChainDifference = {
  readonly merchantId: string
  readonly event: number
  readonly table: HashedTable | 'seals'
  readonly key: string | null
  readonly done: DifferenceKind
  readonly otherEvent: number | null
}

type SealComparison = {
  readonly seal: Seal
  readonly first: number
  readonly rows: readonly (HistoryRow | null)[]
  /**
   * The prints (short hashes) of the next seal. If a row was removed from the history, rows of the next seal can have
   * moved into this seal.
   */
  readonly printsAfter: string
  /**
   * The rows that follow the rows of this seal. If a row was inserted into the history, a row of this seal can have
   * moved to the following rows.
   */
  readonly rowsAfter: readonly HistoryRow[]
}

export function findFirstDifference({ seal, first, rows, printsAfter, rowsAfter }: SealComparison): ChainDifference {
  const { merchantId } = seal
  const stored = hashRows([...rows, ...rowsAfter]).prints
  for (const i of rows.keys()) {
    for (const slot of rowSlots) {
      if (printAt(stored, i, slot) === printAt(seal.prints, i, slot)) continue
      const { done, other } = classifyDifference({ sealed: seal.prints + printsAfter, stored, index: i, slot })
      const row = rows[i] ?? null
      const event = first + i
      const isEvent = slot === 'events'
      const table = tableInSlot(slot, row?.eventsType) ?? 'events'
      const key = row === null || done === 'missing' ? null : isEvent ? `${event}` : rowKey(table, row)
      return { merchantId, event, table, key, done, otherEvent: other === null ? null : first + other }
    }
  }
  // If all prints (short hashes) match but the hash of all contents differs, the changed row is unknown.
  return { merchantId, event: first, table: 'events', key: null, done: 'changed', otherEvent: null }
}

type SlotComparison = {
  readonly sealed: string
  readonly stored: string
  readonly index: number
  readonly slot: RowSlot
}

function classifyDifference({ sealed, stored, index, slot }: SlotComparison): {
  done: DifferenceKind
  other: number | null
} {
  const [before, now] = [printAt(sealed, index, slot), printAt(stored, index, slot)]
  if (now === null) return { done: 'missing', other: null }
  if (before === null) return { done: 'inserted', other: null }
  const cameFrom = findLaterPrint(sealed, { index, slot, print: now })
  const wentTo = findLaterPrint(stored, { index, slot, print: before })
  if (cameFrom !== null && cameFrom === wentTo) return { done: 'swapped', other: cameFrom }
  if (cameFrom !== null) return { done: 'missing', other: null }
  return { done: wentTo === null ? 'changed' : 'inserted', other: null }
}

function findLaterPrint(
  prints: string,
  { index, slot, print }: { index: number; slot: RowSlot; print: string },
): number | null {
  for (let i = index + 1; i < countEvents(prints); i++) if (printAt(prints, i, slot) === print) return i
  return null
}

export function describeDifference({ merchantId, event, table, key, done, otherEvent }: ChainDifference): string {
  const row = key === null ? `a row of ${table}` : `${table} ${key}`
  const other = otherEvent === null ? '' : ` with that of event ${otherEvent}`
  return `merchant ${merchantId}, event ${event}: ${row} ${done}${other}`
}
