import { z } from 'zod'
import { DomainError, notFound } from '../../core/errors.ts'
import { parseInput, positiveAmount, text, uuid } from '../../core/input.ts'
import type { Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { stampSequence, takeSequenceNumber } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { postTransfer } from '../ledger/post-transfer.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { depositByReference, insertDeposit, reversalByReference, walletById } from './repository.ts'

export const DepositInput = z.object({ walletId: uuid(), amount: positiveAmount(), reference: text() })

export type Deposit = RowOf<'deposits'>

/**
 * Credits a wallet once per reference. If a deposit has the same reference, wallet and amount, returns that deposit,
 * unless the deposit was reversed.
 *
 * @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND (wallet), DEPOSIT_REFERENCE_REUSED,
 *   BALANCE_LIMIT_EXCEEDED
 */
export async function depositToWallet(context: Context, input: z.input<typeof DepositInput>): Promise<Deposit> {
  const request = parseInput(DepositInput, input)
  return context.db.write((tx) => addDeposit(tx, context, request))
}

export async function addDeposit(
  tx: Tx,
  context: Context,
  { walletId, amount, reference }: z.output<typeof DepositInput>,
): Promise<Deposit> {
  const { merchantId } = context
  const wallet = await walletById(tx, { merchantId, id: walletId })
  if (!wallet) throw notFound('Wallet')
  const earlier = await depositByReference(tx, { merchantId, reference })
  if (earlier) {
    if (await reversalByReference(tx, { merchantId, reference }))
      throw referenceReusedError('a deposit that was reversed')
    return requireSameDeposit(earlier, { walletId, amount })
  }

  // The list of transactions contains payouts and deposits, so a deposit must not have an earlier time than the latest
  // payout. Payouts and deposits lock the transaction list before the wallet, to avoid deadlocks.
  const { latestTime } = await stampTransactions(tx, context, BigInt(context.now()))
  const transfer = await postTransfer(tx, withFixedTime(context, latestTime), {
    kind: 'deposit',
    assetCode: wallet.currency,
    walletId,
    amount,
    fee: 0n,
    cause: { reference },
  })
  const { createdAt, walletBalance: balanceAfter } = transfer
  const { latest: payoutsBefore } = await stampTransactions(tx, context, BigInt(Date.parse(createdAt)))
  const sequence = await takeSequenceNumber(tx, merchantId, 'deposits')
  const deposit = {
    ...{ merchantId, reference, walletId, transferId: transfer.id, amount, balanceAfter, createdAt },
    ...{ sequence, transactionNumber: payoutsBefore + sequence },
    ...{ customerId: wallet.customerId, assetCode: wallet.currency },
  }
  await insertDeposit(tx, deposit)
  await recordEvent(tx, context, {
    type: 'wallet.transaction.inbound',
    objectId: transfer.id,
    at: createdAt,
    version: 1,
  })
  return deposit
}

/** Each deposit stores the number of older payouts, so payouts need no position in the list of transactions. */
function stampTransactions(tx: Tx, { merchantId }: Context, time: bigint) {
  return stampSequence(tx, { merchantId, name: 'payouts', time })
}

function withFixedTime(context: Context, time: bigint): Context {
  const now = Number(time) as ReturnType<Context['now']>
  return { ...context, now: () => now }
}

function requireSameDeposit(earlier: Deposit, { walletId, amount }: Pick<Deposit, 'walletId' | 'amount'>): Deposit {
  if (earlier.walletId === walletId && earlier.amount === amount) return earlier
  throw referenceReusedError('another deposit')
}

function referenceReusedError(by: string): DomainError {
  return new DomainError('DEPOSIT_REFERENCE_REUSED', `This reference was used before for ${by}.`)
}
