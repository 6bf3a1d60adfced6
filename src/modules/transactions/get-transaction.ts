import { z } from 'zod'
import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Context } from '../../operations/context.ts'
import { findPayoutByTransactionId, referenceIdRange } from '../payouts/get-payout.ts'
import { payouts } from '../payouts/list.ts'
import { payoutByReference } from '../payouts/repository.ts'
import { depositSequenceOfTransactionId } from '../payouts/transaction-id.ts'
import { depositByReference } from '../wallets/repository.ts'
import { findTransactions } from './find-transactions.ts'
import { depositSequenceById } from './repository.ts'
import type { Transaction } from './wallet-transaction.ts'

export const GetTransactionInput = z.object({ transactionId: z.string() })

type Found = { readonly sequence: number } | null

/**
 * Searches by transaction id or UUID (ruling 133).
 *
 * @throws DomainError RESOURCE_NOT_FOUND, also for a malformed id (ruling 5)
 */
export async function getTransaction(
  context: Context,
  { transactionId }: z.input<typeof GetTransactionInput>,
): Promise<Transaction> {
  const { db, merchantId } = context
  const id = parseUuid(transactionId.trim())
  const [payout, deposit] = await allOrFirstError<[Promise<Found> | Found, Promise<Found> | Found]>(
    id === null
      ? [findPayoutByTransactionId(db, { merchantId, transactionId }), depositOf(merchantId, transactionId)]
      : [payouts.byId(db, { merchantId, id }), depositSequenceById(db, { merchantId, transferId: id })],
  )
  const [transaction] = await findFound(context, payout, deposit)
  if (!transaction) throw notFound('Transaction')
  return transaction
}

/** Does not check whether a deposit with this sequence number exists. */
function depositOf(merchantId: string, transactionId: string): Found {
  const sequence = depositSequenceOfTransactionId(merchantId, transactionId.trim().toUpperCase())
  return sequence === null ? null : { sequence }
}

export const ListTransactionsByReferenceInput = z.object({ referenceId: z.string() })

/**
 * Lists the transactions with this `reference_id`, and the deposit that was credited with this reference (ruling 132).
 *
 * @throws DomainError RESOURCE_NOT_FOUND if no transaction matches
 */
export async function listTransactionsByReference(
  context: Context,
  { referenceId }: z.input<typeof ListTransactionsByReferenceInput>,
): Promise<readonly Transaction[]> {
  const { db, merchantId } = context
  // PostgreSQL rejects a query parameter with a NUL character.
  if (referenceId.includes('\0')) throw notFound('Transaction')
  const reference = referenceId.trim()
  const id = parseUuid(reference)
  const [payout, depositById, deposit] = await allOrFirstError([
    id === null ? null : payoutByReference(db, { merchantId, ...referenceIdRange(id) }),
    id === null ? null : depositSequenceById(db, { merchantId, transferId: id }),
    depositByReference(db, { merchantId, reference }),
  ])
  const transactions = await findFound(context, payout, depositById, deposit)
  if (transactions.length === 0) throw notFound('Transaction')
  return transactions
}

function findFound({ db, merchantId }: Context, payout: Found, ...deposits: Found[]): Promise<Transaction[]> {
  const payoutNumbers = payout === null ? [] : [{ source: 'payout', sequence: payout.sequence } as const]
  const sequences = new Set(deposits.flatMap((deposit) => deposit?.sequence ?? []))
  const depositNumbers = [...sequences].map((sequence) => ({ source: 'deposit', sequence }) as const)
  return findTransactions(db, merchantId, [...payoutNumbers, ...depositNumbers])
}
