import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { RowOf } from '../../database/tables.ts'

export const transferKinds = defineEnum({
  opening: 'The wallet was imported with a balance from the original provider.',
  deposit: 'A deposit arrived from outside.',
  deposit_reversal: 'A deposit that was credited by mistake was reversed.',
  payout: 'A payout debited its amount and fee.',
  payout_completed: 'The bank paid a payout. No wallet changes.',
  payout_failed: 'A payout failed, and its amount and fee were returned.',
  payout_returned: 'The bank returned a completed payout, and its amount and fee were returned.',
})
export type TransferKind = (typeof transferKinds)[number]

export const entryDirections = defineEnum({
  debit: 'Money left the wallet.',
  credit: 'Money came into the wallet.',
})
export type EntryDirection = (typeof entryDirections)[number]

/**
 * `amount` includes the fee. `sequence` is the position in the wallet's statement. An entry of a payout has `payoutId`.
 * An entry of a deposit, a reversal or an import has `reference`.
 */
export type Entry = Omit<RowOf<'transfers'>, 'id' | 'walletId' | 'sequence' | 'balanceAfter'> & {
  readonly transferId: string
  readonly walletId: string
  readonly direction: EntryDirection
  readonly sequence: number
  readonly balanceAfter: Amount
}

const directionOfKind = {
  opening: 'credit',
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
export type CreditKind = TransferKindOf<'credit'>

export function directionOf(kind: TransferKind): EntryDirection | null {
  return directionOfKind[kind]
}

const signs: Readonly<Record<EntryDirection, bigint>> = { debit: -1n, credit: 1n }

export function balanceChangeOf(kind: TransferKind, amount: Amount): Amount {
  const direction = directionOf(kind)
  return direction === null ? 0n : signs[direction] * amount
}

export const kindsOfDirection: Record<EntryDirection, readonly TransferKind[]> = {
  debit: kindsWithDirection('debit'),
  credit: kindsWithDirection('credit'),
}

function kindsWithDirection(direction: EntryDirection): TransferKind[] {
  return transferKinds.filter((kind) => directionOfKind[kind] === direction)
}

/**
 * The position of the wallet's entry among the entries of its transfer. Debits come before credits, and the refund of a
 * fee adds a second debit. The entry's id contains the position, so the position must never change.
 */
export function lineNumberOf({ kind, fee }: Pick<Entry, 'kind' | 'fee'>): number {
  if (directionOf(kind) === 'debit') return 1
  return fee > 0n ? 3 : 2
}
