import type { RowOf } from '../database/tables.ts'
import type { Amount } from '../money/amount.ts'

export const transferKinds = ['deposit', 'payout', 'payout_completed', 'payout_failed', 'payout_returned'] as const
export type TransferKind = (typeof transferKinds)[number]

export const entryDirections = ['debit', 'credit'] as const
export type EntryDirection = (typeof entryDirections)[number]

/**
 * A line of a wallet's statement, with what its transfer tells: `sequence` is its place there, `balanceAfter` the wallet's
 * balance after it, `payoutId` or `reference` (of a deposit) what caused it.
 */
export type Entry = RowOf<'entries'> & { readonly sequence: number; readonly balanceAfter: Amount } & Pick<
    RowOf<'transfers'>,
    'kind' | 'assetCode' | 'createdAt' | 'payoutId' | 'reference'
  >

/** The kinds of transfers that a wallet's account is on each side of. */
export const kindsOfDirection: Record<EntryDirection, readonly TransferKind[]> = {
  debit: ['payout'],
  credit: ['deposit', 'payout_failed', 'payout_returned'],
}
