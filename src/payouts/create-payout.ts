import type { Context, Done } from '../context.ts'
import { lockActiveCustomer } from '../customers/get-customer.ts'
import { Conflict } from '../database/database.ts'
import type { Tx } from '../database/query.ts'
import { allInOrder, Refusal } from '../errors.ts'
import type { Idempotency, Memory } from '../idempotency/once.ts'
import { once } from '../idempotency/once.ts'
import { postTransfer } from '../ledger/post-transfer.ts'
import type { NewRow } from '../lists/sequence.ts'
import { newRow } from '../lists/sequence.ts'
import type { Amount } from '../money/amount.ts'
import { withChecksum } from './contents.ts'
import type { Recipient } from './find-recipient.ts'
import { findRecipient } from './find-recipient.ts'
import type { Payout } from './payout.ts'
import { railOf, untouched } from './payout.ts'
import type { PayoutInput, PayoutRequest } from './payout-input.ts'
import { parsePayout } from './payout-input.ts'
import type { PayoutTerms } from './quote.ts'
import { findPayoutTerms } from './quote.ts'
import { insertPayout, payoutByIdempotencyKey } from './repository.ts'
import { transactionId } from './transaction-id.ts'

/**
 * Withdraws `amount` of a stablecoin to a bank account (contract 4.8).
 *
 * Amount and fee leave the paying wallet in the transaction that records the payout, so neither exists without the
 * other.
 *
 * @param input `amount` in units of `assetCode`, net of the fee; without `customerId` the merchant's wallet pays, and
 *   without `walletId` the one that ruling 38 chooses
 * @returns the payout, `PROCESSING`, with the wallet's balance after the debit
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND (customer),
 *   CUSTOMER_CLOSED, RESOURCE_NOT_FOUND (payout method), INVALID_INPUT (its currency), RATE_UNAVAILABLE, INVALID_INPUT
 *   (an amount of which nothing would arrive), RESOURCE_NOT_FOUND (wallet), WALLET_NOT_FOUND, INSUFFICIENT_FUNDS
 */
export async function createPayout(context: Context, input: PayoutInput): Promise<Done<Payout>> {
  const request = parsePayout(input)
  return once(context, payoutMemory(context), request, async (tx, idempotency) => {
    const payer = lockActiveCustomer(tx, context, request.customerId)
    const recipient = findRecipient(tx, context, request)
    const terms = await findPayoutTerms(tx, context, request, { payer, recipient })
    return recordPayout(tx, context, { request, recipient: await recipient, terms, idempotency })
  })
}

type Decided = {
  readonly request: PayoutRequest
  readonly recipient: Recipient
  readonly terms: PayoutTerms
  readonly idempotency: Idempotency | null
}

async function recordPayout(tx: Tx, context: Context, decided: Decided): Promise<Payout> {
  const { request, terms } = decided
  const id = context.newId()
  // The number first: whoever waits for it holds no wallet that another might need who has it.
  const [row, transfer] = await allInOrder([
    newRow(tx, context, 'payouts', id),
    payFrom(tx, context, {
      payoutId: id,
      walletId: terms.wallet.id,
      assetCode: request.assetCode,
      amount: request.amount,
      fee: terms.price.fee ?? 0n,
    }),
  ])
  const payout = newPayout(decided, { row, transfer, referenceId: context.newId() })
  await insertPayout(tx, withChecksum(payout))
  return payout
}

/** Moves amount and fee out of a wallet that was just seen to cover both. */
function payFrom(
  tx: Tx,
  context: Context,
  {
    payoutId,
    walletId,
    assetCode,
    amount,
    fee,
  }: { payoutId: string; walletId: string; assetCode: string; amount: Amount; fee: Amount },
) {
  return postTransfer(tx, context, {
    kind: 'payout',
    assetCode,
    walletId,
    amount,
    fee,
    cause: { payoutId },
  }).catch((error) => {
    const isEmptied = error instanceof Refusal && error.code === 'INSUFFICIENT_FUNDS'
    throw isEmptied ? new Conflict('another request took the money first') : error
  })
}

type Recorded = {
  readonly row: NewRow
  readonly transfer: { readonly id: string; readonly walletBalance: Amount }
  readonly referenceId: string
}

/** Field by field: an object of so many that others are spread into takes ten times as long to make. */
function newPayout(
  { request, recipient, terms: { price, wallet }, idempotency }: Decided,
  { row, transfer, referenceId }: Recorded,
): Payout {
  return {
    merchantId: row.merchantId,
    id: row.id,
    sequence: row.sequence,
    walletId: wallet.id,
    customerId: request.customerId,
    payoutMethodId: request.payoutMethodId,
    transferId: transfer.id,
    transactionId: transactionId(row.merchantId, row.sequence),
    referenceId,
    idempotencyKey: idempotency?.key ?? null,
    fingerprint: idempotency?.fingerprint ?? null,
    assetCode: request.assetCode,
    amount: request.amount,
    fee: price.fee,
    balanceAfter: transfer.walletBalance,
    exchangeRate: price.exchangeRate,
    amountFiat: price.amountFiat,
    recipientName: recipient.recipientName,
    recipientCurrency: recipient.recipientCurrency,
    recipientCountry: recipient.recipientCountry,
    bankName: recipient.bankName,
    bankCode: recipient.bankCode,
    accountNumber: recipient.accountNumber,
    paymentPurpose: request.paymentPurpose,
    narration: request.narration,
    transferType: railOf(request.transferType, recipient.recipientCurrency),
    ...untouched,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** The key of a payout is a column of the payout itself, so it is remembered for ever and can't be lost apart from it. */
function payoutMemory({ merchantId }: Context): Memory<Payout> {
  return {
    recall: async (tx, key) => {
      const payout = await payoutByIdempotencyKey(tx, { merchantId, idempotencyKey: key })
      return payout && { fingerprint: payout.fingerprint, result: asCreated(payout) }
    },
    keep: async () => {},
  }
}

/** The payout as its creation answered it, whatever has become of it since: a replay gives the same answer. */
function asCreated(payout: Payout): Payout {
  return { ...payout, ...untouched, updatedAt: payout.createdAt }
}
