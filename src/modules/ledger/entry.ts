import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { RowOf } from '../../database/tables.ts'

export const transferKinds = defineEnum({
  deposit: 'It arrived from outside.',
  deposit_reversal: 'A deposit that was credited by mistake was taken back.',
  payout: 'A payout took amount and fee.',
  payout_completed: 'The bank paid a payout; no wallet changes by it.',
  payout_failed: 'A payout failed, and amount and fee came back.',
  payout_returned: 'The bank sent a payout back, and amount and fee came back.',
})
export type TransferKind = (typeof transferKinds)[number]

export const entryDirections = defineEnum({
  debit: 'Money left the wallet.',
  credit: 'Money came into the wallet.',
})
export type EntryDirection = (typeof entryDirections)[number]

/**
 * A line of a wallet's statement: what a transfer did to the wallet. `amount` has the fee in it, `sequence` is its place in
 * the statement, `balanceAfter` the wallet's balance after it, `payoutId` or `reference` (of a deposit, or of the one that is taken back) what caused it.
 */
export type Entry = Omit<RowOf<'transfers'>, 'id' | 'walletId' | 'sequence' | 'balanceAfter'> & {
  readonly transferId: string
  readonly walletId: string
  readonly direction: EntryDirection
  readonly sequence: number
  readonly balanceAfter: Amount
}

/** Which way money goes in the wallet of a transfer; `null` for a kind that moves nothing in a wallet. */
const directionOfKind = {
  deposit: 'credit',
  deposit_reversal: 'debit',
  payout: 'debit',
  payout_completed: null,
  payout_failed: 'credit',
  payout_returned: 'credit',
} as const satisfies Record<TransferKind, EntryDirection | null>

type TransferKindOf<Direction> = {
  [Kind in TransferKind]: (typeof directionOfKind)[Kind] extends Direction ? Kind : never
}[TransferKind]
/** The kinds by which money comes into a wallet. */
export type CreditKind = TransferKindOf<'credit'>

/** Which way money went in the wallet of a transfer of a kind; `null` where it moved in none. */
export function directionOf(kind: TransferKind): EntryDirection | null {
  return directionOfKind[kind]
}

const signs: Readonly<Record<EntryDirection, bigint>> = { debit: -1n, credit: 1n }

/** What a transfer of a kind adds to its wallet's balance; zero where it moves nothing in a wallet. */
export function balanceChangeOf(kind: TransferKind, moved: Amount): Amount {
  const direction = directionOf(kind)
  return direction === null ? 0n : signs[direction] * moved
}

/** The kinds of transfers that a wallet's account is on each side of. */
export const kindsOfDirection: Record<EntryDirection, readonly TransferKind[]> = {
  debit: kindsWithDirection('debit'),
  credit: kindsWithDirection('credit'),
}

function kindsWithDirection(direction: EntryDirection): TransferKind[] {
  return transferKinds.filter((kind) => directionOfKind[kind] === direction)
}

/**
 * The wallet's line in its transfer: debits come first, and there are two where the fee comes back as well. Ids have been given
 * by it, so it stays what it was when every line was a row.
 */
export function lineNumberOf({ kind, fee }: Pick<Entry, 'kind' | 'fee'>): number {
  if (directionOf(kind) === 'debit') return 1
  return fee > 0n ? 3 : 2
}
