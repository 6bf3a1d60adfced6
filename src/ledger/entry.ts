import type { RowOf } from '../database/tables.ts'
import { describedValues } from '../doors/described-values.ts'
import type { Amount } from '../money/amount.ts'

export const transferKinds = describedValues({
  deposit: 'It arrived from outside.',
  payout: 'A payout took amount and fee.',
  payout_completed: 'The bank paid a payout; no wallet changes by it.',
  payout_failed: 'A payout failed, and amount and fee came back.',
  payout_returned: 'The bank sent a payout back, and amount and fee came back.',
})
export type TransferKind = (typeof transferKinds)[number]

export const entryDirections = describedValues({
  debit: 'Money left the wallet.',
  credit: 'Money came into the wallet.',
})
export type EntryDirection = (typeof entryDirections)[number]

/**
 * A line of a wallet's statement: what a transfer did to the wallet. `amount` has the fee in it, `sequence` is its place in
 * the statement, `balanceAfter` the wallet's balance after it, `payoutId` or `reference` (of a deposit) what caused it.
 */
export type Entry = Omit<RowOf<'transfers'>, 'id' | 'walletId' | 'sequence' | 'balanceAfter'> & {
  readonly transferId: string
  readonly walletId: string
  readonly direction: EntryDirection
  readonly sequence: number
  readonly balanceAfter: Amount
}

/** The kinds of transfers that a wallet's account is on each side of. */
export const kindsOfDirection: Record<EntryDirection, readonly TransferKind[]> = {
  debit: ['payout'],
  credit: ['deposit', 'payout_failed', 'payout_returned'],
}

/**
 * The wallet's line in its transfer: debits come first, and there are two where the fee comes back as well. Ids have been given
 * by it, so it stays what it was when every line was a row.
 */
export function lineOf({ kind, fee }: Pick<Entry, 'kind' | 'fee'>): number {
  if (kind === 'payout') return 1
  return fee > 0n ? 3 : 2
}
