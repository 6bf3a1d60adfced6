import { hash } from 'node:crypto'
import type { RowOf } from '../../database/tables.ts'
import type { HistoryRow, RowSlot } from './hashed-columns.ts'
import { absentDigest, computeDigests, currentFormat, rowSlots } from './hashed-columns.ts'

/**
 * A seal is a checkpoint of a merchant's hash chain. A seal covers the events after the previous seal up to and
 * including `through`, the rows that these events created, and the ledger transfers of these rows.
 *
 * - `contents` is the SHA-256 of the digests of all rows that the seal covers.
 * - `hash` is the SHA-256 of all other fields and the `hash` of the previous seal, so the latest seal covers the whole
 *   history.
 * - `prints` contains the first 48 bits of each row's digest, to find a row that differs.
 */
export type Seal = RowOf<'seals'>

export type ChainHead = Pick<Seal, 'number' | 'through' | 'hash'>

export const genesisHead: ChainHead = { number: 0, through: 0, hash: '' }

/** Reading and hashing the events of a seal blocks the event loop for about 2 ms. */
export const maxEventsPerSeal = 250

const printLength = 8

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

/** In `rows`, `null` stands for a missing event. */
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

export function computeSealHash(seal: Omit<Seal, 'hash'>, previous: ChainHead): string {
  const { merchantId, number, form, through, prints, contents, createdAt } = seal
  const fields = [previous.hash, merchantId, number, form, previous.through + 1, through, createdAt, contents, prints]
  return hash('sha256', fields.map((field) => `${String(field).length}:${field}`).join(';'), 'hex')
}

/** Returns `null` if the event has no row of this kind. */
export function printAt(prints: string, index: number, slot: RowSlot): string | null {
  const start = (index * rowSlots.length + rowSlots.indexOf(slot)) * printLength
  const print = prints.slice(start, start + printLength)
  return print === absentDigest.slice(0, printLength) ? null : print
}

export function countEvents(prints: string): number {
  return prints.length / (rowSlots.length * printLength)
}
