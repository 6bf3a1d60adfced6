import { z } from 'zod'
import type { Context } from '../context.ts'
import { newRow } from '../context.ts'
import { findActiveCustomer } from '../customers/get-customer.ts'
import type { Tx } from '../database/query.ts'
import { nextInSequence } from '../database/sequence.ts'
import type { FieldFault } from '../errors.ts'
import type { Memory } from '../idempotency/once.ts'
import { once } from '../idempotency/once.ts'
import { identifier, notOneOf, oneOf, optional, optionalText, parse, positiveAmount, text, uuid } from '../input.ts'
import { clearingAccountId } from '../ledger/account.ts'
import { postTransfer } from '../ledger/post-transfer.ts'
import type { Payout } from './payout.ts'
import {
  corridors,
  paymentPurposes,
  payoutAssetCodes,
  recipientCountries,
  recipientCurrencies,
  transferTypes,
} from './payout.ts'
import { findPayingWallet, quotePayout } from './quote.ts'
import { insertPayout, payoutByIdempotencyKey } from './repository.ts'
import { transactionId } from './transaction-id.ts'

export const CreatePayoutInput = z.object({
  customerId: optional(uuid()),
  assetCode: oneOf(payoutAssetCodes),
  accountNumber: identifier(),
  bankName: text(),
  bankCode: identifier(),
  amount: positiveAmount(),
  recipientName: text(),
  recipientCurrency: oneOf(recipientCurrencies),
  recipientCountry: oneOf(recipientCountries),
  // The contract's field list requires it and its sample omits it: absent means OTHER (ruling 40).
  paymentPurpose: optional(oneOf(paymentPurposes)).transform((purpose) => purpose ?? 'OTHER'),
  narration: optionalText(),
  // Required for USD only, which is not payable yet (ruling 41).
  transferType: optional(oneOf(transferTypes)),
})

type Request = z.output<typeof CreatePayoutInput>

/**
 * Withdraws `amount` of a stablecoin to a bank account (contract 4.8).
 *
 * Amount and fee leave the paying wallet in the transaction that records the payout, so neither exists without the
 * other.
 *
 * @param input `amount` in units of `assetCode`, net of the fee; without `customerId` the merchant's wallet pays
 * @returns the payout, `PROCESSING`, with the wallet's balance after the debit
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND (customer),
 *   CUSTOMER_CLOSED, RATE_UNAVAILABLE, WALLET_NOT_FOUND, INSUFFICIENT_FUNDS
 */
export async function createPayout(context: Context, input: z.input<typeof CreatePayoutInput>): Promise<Payout> {
  const request = parse(CreatePayoutInput, input, corridorFault(input))

  return once(context, {
    request,
    memory: payoutMemory(context),
    operation: async (tx, idempotency) => {
      await findActiveCustomer(tx, context, request.customerId)
      const ownerId = request.customerId ?? context.merchantId
      const quote = await quotePayout(tx, context, request)
      const wallet = await findPayingWallet(tx, context, { ownerId, assetCode: request.assetCode, total: quote.total })

      const { total, ...priced } = quote
      const transfer = await postTransfer(tx, context, {
        kind: 'payout',
        assetCode: request.assetCode,
        walletId: wallet.id,
        debits: [{ accountId: wallet.id, amount: total }],
        credits: [
          { accountId: clearingAccountId('payouts_in_transit', request.assetCode), amount: request.amount },
          { accountId: clearingAccountId('fees', request.assetCode), amount: quote.fee ?? 0n },
        ],
      })
      return recordPayout(tx, context, {
        ...request,
        ...priced,
        walletId: wallet.id,
        transferId: transfer.id,
        balanceAfter: transfer.walletBalance,
        idempotencyKey: idempotency?.key ?? null,
        fingerprint: idempotency?.fingerprint ?? null,
      })
    },
  })
}

/** Currency and country of the recipient must agree (ruling 39). */
function corridorFault({ recipientCurrency, recipientCountry }: z.input<typeof CreatePayoutInput>): FieldFault[] {
  const corridor = corridors.find((each) => each.recipientCurrency === recipientCurrency)
  const isKnownCountry = recipientCountries.some((country) => country === recipientCountry)
  if (!corridor || !isKnownCountry || corridor.recipientCountry === recipientCountry) return []
  const { message, ...fault } = notOneOf('recipientCountry', [corridor.recipientCountry])
  return [{ ...fault, message: `${message} for a recipient paid in ${corridor.recipientCurrency}` }]
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
  return {
    ...payout,
    status: 'PROCESSING',
    updatedAt: payout.createdAt,
    receiverWalletId: null,
    cryptoTransactionId: null,
    network: null,
    address: null,
    fiatReferenceId: null,
  }
}

type Recorded = Request &
  Pick<
    Payout,
    | 'walletId'
    | 'transferId'
    | 'balanceAfter'
    | 'idempotencyKey'
    | 'fingerprint'
    | 'exchangeRate'
    | 'amountFiat'
    | 'fee'
  >

async function recordPayout(tx: Tx, context: Context, details: Recorded): Promise<Payout> {
  const sequence = await nextInSequence(tx, context.merchantId, 'payouts')
  const payout: Payout = {
    ...newRow(context),
    ...details,
    sequence,
    transactionId: transactionId(context.merchantId, sequence),
    referenceId: context.newId(),
    status: 'PROCESSING',
    transferType: details.transferType ?? localTransferType(details.recipientCurrency),
    receiverWalletId: null,
    cryptoTransactionId: null,
    network: null,
    address: null,
    fiatReferenceId: null,
  }
  await insertPayout(tx, payout)
  return payout
}

function localTransferType(currency: Request['recipientCurrency']): string {
  return corridors.find(({ recipientCurrency }) => recipientCurrency === currency)?.localTransferType ?? ''
}
