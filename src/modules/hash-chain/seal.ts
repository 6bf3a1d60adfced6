import { hash } from 'node:crypto'
import type { RowOf } from '../../database/tables.ts'
import type { HistoryRow, RowSlot } from './hashed-columns.ts'
import { absentDigest, computeDigests, currentFormat, rowSlots } from './hashed-columns.ts'

/**
 * What seals a stretch of a merchant's history: the events after the seal before it and through `through`, with what they made
 * and moved.
 *
 * `contents` is the SHA-256 of the digests of all rows, `hash` that of everything here and of the `hash` of the seal before, so
 * the latest seal holds all. `prints` has the first 48 bits of each row's digest: they protect nothing, they tell which row it is
 * that differs.
 */
export type Seal = RowOf<'seals'>

/** What is known of the seal before: where it ends, its number and hash. */
export type ChainHead = Pick<Seal, 'number' | 'through' | 'hash'>

/** What the first seal of a merchant follows. */
export const genesisHead: ChainHead = { number: 0, through: 0, hash: '' }

/** Events that one seal covers at most: to read and hash them takes two milliseconds, in which nobody else has a turn. */
export const maxEventsPerSeal = 250

/** Characters of a print, in base64. */
const printLength = 8

/** The seal of these rows, which follow the head one by one. */
export function createSeal(
  rows: readonly HistoryRow[],
  { merchantId, head, createdAt }: { merchantId: string; head: ChainHead; createdAt: string },
): Seal {
  const unhashed = {
    merchantId,
    number: head.number + 1,
    form: currentFormat,
    through: head.through + rows.length,
    ...hashRows(rows),
    createdAt,
  }
  return { ...unhashed, hash: computeSealHash(unhashed, head) }
}

/** What a seal holds of its rows; `null` stands for an event that is not there. */
export function hashRows(rows: readonly (HistoryRow | null)[]): Pick<Seal, 'prints' | 'contents'> {
  let prints = ''
  let digests = ''
  for (const row of rows) {
    for (const digest of computeDigests(row)) {
      digests += digest
      prints += digest.slice(0, printLength)
    }
  }
  return { prints, contents: hash('sha256', digests, 'hex') }
}

/** The hash that a seal must have behind another: of all its fields, each with its length before it. */
export function computeSealHash(seal: Omit<Seal, 'hash'>, before: ChainHead): string {
  const { merchantId, number, form, through, prints, contents, createdAt } = seal
  const fields = [before.hash, merchantId, number, form, before.through + 1, through, createdAt, contents, prints]
  return hash('sha256', fields.map((field) => `${String(field).length}:${field}`).join(';'), 'hex')
}

/** The print of the row in a slot of the event at `place`, counted from 0; `null` where there is none. */
export function printAt(prints: string, place: number, slot: RowSlot): string | null {
  const at = (place * rowSlots.length + rowSlots.indexOf(slot)) * printLength
  const print = prints.slice(at, at + printLength)
  return print === absentDigest.slice(0, printLength) ? null : print
}

/** How many events prints are of. */
export function countEvents(prints: string): number {
  return prints.length / (rowSlots.length * printLength)
}
