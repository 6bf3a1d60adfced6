import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Reader } from '../../database/query.ts'
import { depositsBySequences, payoutsBySequences } from './repository.ts'
import type { TransactionNumber } from './transaction-numbers.ts'
import type { Transaction } from './wallet-transaction.ts'
import { depositTransaction, payoutTransaction } from './wallet-transaction.ts'

export async function findTransactions(
  db: Reader,
  merchantId: string,
  numbers: readonly Pick<TransactionNumber, 'source' | 'sequence'>[],
): Promise<Transaction[]> {
  const sequencesOf = (source: TransactionNumber['source']) =>
    numbers.filter((number) => number.source === source).map(({ sequence }) => sequence)
  const [payoutSequences, depositSequences] = [sequencesOf('payout'), sequencesOf('deposit')]
  const [payouts, deposits] = await allOrFirstError([
    payoutSequences.length === 0 ? [] : payoutsBySequences(db, { merchantId, sequences: payoutSequences }),
    depositSequences.length === 0 ? [] : depositsBySequences(db, { merchantId, sequences: depositSequences }),
  ])
  const bySource = {
    payout: new Map(payouts.map((payout) => [payout.sequence, payoutTransaction(payout)])),
    deposit: new Map(deposits.map((deposit) => [deposit.sequence, depositTransaction(deposit)])),
  }
  return numbers.flatMap(({ source, sequence }) => bySource[source].get(sequence) ?? [])
}
