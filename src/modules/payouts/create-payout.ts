import { allOrFirstError } from '../../core/maybe-promise.ts'
import { ConflictError } from '../../database/database.ts'
import type { Tx } from '../../database/query.ts'
import type { NewRowFields } from '../../lists/sequence.ts'
import { lockSequence, newRowFields } from '../../lists/sequence.ts'
import type { Context, IdempotentResult } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import type { Idempotency, IdempotencyStore } from '../../operations/idempotency/run-once.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import { lockActiveCustomer } from '../customers/get-customer.ts'
import type { WalletEntry } from '../ledger/post-transfer.ts'
import { debitPayer, recordTransfer } from '../ledger/post-transfer.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { cachedRailRoutes } from '../rail-orders/repository.ts'
import type { RailRoutes } from '../rail-orders/select-rail.ts'
import { selectRail } from '../rail-orders/select-rail.ts'
import { enqueueRailOrder } from '../rail-orders/transition-order.ts'
import type { Recipient } from './find-recipient.ts'
import { findRecipient } from './find-recipient.ts'
import type { Payout } from './payout.ts'
import { defaultTransferType, initialPayoutState, payoutAsCreated } from './payout.ts'
import { withChecksum } from './payout-checksum.ts'
import type { PayoutRequest } from './payout-input.ts'
import { CreatePayoutInput, parsePayout } from './payout-input.ts'
import type { Quote } from './quote.ts'
import { findPayingWallet, payerOf, quoteRecipient } from './quote.ts'
import { insertPayout, payoutByIdempotencyKey } from './repository.ts'
import { transactionId } from './transaction-id.ts'

/**
 * Contract 4.8. One transaction debits the wallet with amount and fee and records the payout.
 *
 * Errors have this precedence: the customer (not found, closed), the payout method (not found, wrong currency), the
 * rate, an amount too small to pay out, the wallet (not found, none with this currency, insufficient funds).
 *
 * @param input `amount` is in units of `assetCode`, before the fee is deducted (ruling 110). If `customerId` is absent,
 *   the merchant is the owner of the wallet. If `walletId` is absent, the service selects a wallet of the owner (ruling
 *   38)
 * @returns the payout with the status `PROCESSING` and the wallet's balance after the debit
 */
export const createPayout = defineOperation(
  {
    name: 'createPayout',
    input: CreatePayoutInput,
    scope: 'payouts',
    actsAsCustomer: true,
    movesMoney: true,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED', 'RATE_UNAVAILABLE', 'WALLET_NOT_FOUND', 'INSUFFICIENT_FUNDS'],
  },
  async (context, input): Promise<IdempotentResult<Payout>> => {
    const request = parsePayout(input)
    return runOnce(context, payoutKeys(context), request, async (tx, idempotency) => {
      // All four steps of creating a payout start before the first step is awaited, so that PostgreSQL pipelines their
      // queries.
      const payer = lockActiveCustomer(tx, context, request.customerId)
      const pendingRecipient = findRecipient(tx, context, request)
      const pendingPrice = quoteRecipient(tx, context, request, pendingRecipient)
      const [, recipient, price, routes] = await allOrFirstError([
        payer,
        pendingRecipient,
        pendingPrice,
        cachedRailRoutes(tx, {}),
      ])
      return recordPayout(tx, context, { request, recipient, routes, price, idempotency })
    })
  },
)

type PayoutDraft = {
  readonly request: PayoutRequest
  readonly recipient: Recipient
  readonly routes: RailRoutes
  readonly price: Quote
  readonly idempotency: Idempotency | null
}

async function recordPayout(tx: Tx, context: Context, draft: PayoutDraft): Promise<Payout> {
  const { request, price } = draft
  const entry = await debitPayingWallet(tx, context, request, price)
  const row = await newRowFields(tx, context, 'payouts')
  const transferId = await recordPayoutTransfer(tx, context, { payoutId: row.id, request, price, entry })
  const payout = newPayout(draft, { row, entry, transferId, referenceId: context.newId() })
  const rail = selectRail(draft.routes, context, payout)
  await allOrFirstError([
    insertPayout(tx, withChecksum(payout)),
    rail === null ? null : enqueueRailOrder(tx, context, { rail, payout }),
  ])
  await recordEvent(tx, context, { type: 'payout.initiated', objectId: payout.id, at: payout.createdAt, version: 1 })
  return payout
}

/** @throws DomainError RESOURCE_NOT_FOUND (wallet), WALLET_NOT_FOUND, INSUFFICIENT_FUNDS */
async function debitPayingWallet(
  tx: Tx,
  context: Context,
  request: PayoutRequest,
  { total }: Quote,
): Promise<WalletEntry> {
  const payer = payerOf(context, request)
  const entry = await debitPayer(tx, context, { ...payer, amount: total })
  if (entry) return entry
  await findPayingWallet(tx, context, { ...payer, total })
  throw new ConflictError('another payout spent the money, and a credit arrived before the balance was read again')
}

function recordPayoutTransfer(
  tx: Tx,
  context: Context,
  { payoutId, request, price, entry }: { payoutId: string; request: PayoutRequest; price: Quote; entry: WalletEntry },
): Promise<string> {
  const transfer = {
    kind: 'payout',
    assetCode: request.assetCode,
    amount: price.netAmount,
    fee: price.fee ?? 0n,
    cause: { payoutId },
  } as const
  return recordTransfer(tx, context, transfer, entry)
}

type PayoutPosting = {
  readonly row: NewRowFields
  readonly entry: WalletEntry
  readonly transferId: string
  readonly referenceId: string
}

/** Object spread syntax (`...row`) would take ten times as long. */
function newPayout(
  { request, recipient, price, idempotency }: PayoutDraft,
  { row, entry, transferId, referenceId }: PayoutPosting,
): Payout {
  return {
    merchantId: row.merchantId,
    id: row.id,
    sequence: row.sequence,
    walletId: entry.walletId,
    customerId: request.customerId,
    payoutMethodId: request.payoutMethodId,
    transferId,
    transactionId: transactionId(row.merchantId, row.sequence),
    referenceId,
    idempotencyKey: idempotency?.key ?? null,
    fingerprint: idempotency?.fingerprint ?? null,
    assetCode: request.assetCode,
    amount: request.amount,
    fee: price.fee,
    feeDeductedFrom: price.feeDeductedFrom,
    balanceAfter: entry.position.balanceAfter,
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
    transferType: request.transferType ?? defaultTransferType,
    ...initialPayoutState,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  }
}

/** The idempotency key is stored in the payout's row, so a payout's idempotency key never expires. */
function payoutKeys({ merchantId }: Context): IdempotencyStore<Payout, Payout> {
  return {
    lock: (tx) => lockSequence(tx, merchantId, 'payouts'),
    find: (tx, key) => payoutByIdempotencyKey(tx, { merchantId, idempotencyKey: key }),
    toResult: payoutAsCreated,
    save: () => {},
  }
}
