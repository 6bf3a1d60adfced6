import type { Amount } from '../../core/money/amount.ts'
import type { Context } from '../../operations/context.ts'
import { findLastBefore } from './period.ts'
import { entryAtOrBefore } from './repository.ts'

type WalletContext = Pick<Context, 'db' | 'merchantId'>
type WalletBalance = { readonly balance: Amount; readonly sequence: number }

/** `sequence` is the sequence of the last entry that the balance includes, or 0 before the first entry. */
export async function findBalanceBefore(
  { db, merchantId }: WalletContext,
  { walletId, time, maxSequence = Number.POSITIVE_INFINITY }: { walletId: string; time: string; maxSequence?: number },
): Promise<WalletBalance> {
  const last = await findLastBefore(time, async (sequence) => {
    const entry = await entryAtOrBefore(db, { merchantId, walletId, sequence: Math.min(sequence, maxSequence) })
    return entry && { ...entry, sequence: entry.sequence ?? 0 }
  })
  return { balance: last?.balanceAfter ?? 0n, sequence: last?.sequence ?? 0 }
}

/**
 * Returns the balances in the order of `times`. A day without entries costs one query.
 *
 * @param times in ascending order
 */
export async function findBalancesBefore(
  context: WalletContext,
  walletId: string,
  times: readonly string[],
): Promise<readonly Amount[]> {
  const balances: Amount[] = []
  let maxSequence = Number.POSITIVE_INFINITY
  for (const time of times.toReversed()) {
    const { balance, sequence } = await findBalanceBefore(context, { walletId, time, maxSequence })
    maxSequence = sequence
    balances.push(balance)
  }
  return balances.reverse()
}
