import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Amount } from '../../core/money/amount.ts'
import { findLastBefore } from '../../lists/time-search.ts'
import type { Context } from '../../operations/context.ts'
import { entriesAt, entryAtOrBefore } from './repository.ts'

/** `sequence` is the sequence of the last entry that the balance includes, or 0 before the first entry. */
type WalletBalance = { readonly balance: Amount; readonly sequence: number }

/**
 * Returns the balance of a wallet before each time, in the order of `times`. The times of a wallet's entries never
 * decrease.
 */
export async function findBalancesBefore(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  walletId: string,
  times: readonly string[],
): Promise<readonly WalletBalance[]> {
  const entries = await findLastBefore(times, async (sequences) => {
    const rows = await entriesAt(db, { merchantId, walletId, sequences })
    const entryBySequence = new Map(rows.map((row) => [row.sequence, row]))
    return allOrFirstError(
      sequences.map(
        (sequence) => entryBySequence.get(sequence) ?? entryAtOrBefore(db, { merchantId, walletId, sequence }),
      ),
    )
  })
  return entries.map((entry) => ({ balance: entry?.balanceAfter ?? 0n, sequence: entry?.sequence ?? 0 }))
}
