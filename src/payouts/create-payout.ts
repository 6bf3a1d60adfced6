import { z } from 'zod'
import type { Context } from '../context.ts'
import { newRow } from '../context.ts'
import { findActiveCustomer } from '../customers/get-customer.ts'
import { Conflict } from '../database/database.ts'
import type { Tx } from '../database/query.ts'
import { nextInSequence } from '../database/sequence.ts'
import type { FieldFault } from '../errors.ts'
import { allInOrder, Refusal } from '../errors.ts'
import type { Memory } from '../idempotency/once.ts'
import { once } from '../idempotency/once.ts'
import { identifier, notOneOf, oneOf, optional, optionalText, parse, positiveAmount, text, uuid } from '../input.ts'
import { clearingAccountId } from '../ledger/account.ts'
import { postTransfer } from '../ledger/post-transfer.ts'
import type { Amount } from '../money/amount.ts'
import { oldestWalletWith } from '../wallets/repository.ts'
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
  const { merchantId } = context
  const { assetCode, amount } = request
  const ownerId = request.customerId ?? merchantId

  // What can be asked for at once is: on a server each wait is a round trip.
  return once(context, {
    request,
    memory: payoutMemory(context),
    find: (tx) =>
      allInOrder([
        findActiveCustomer(tx, context, request.customerId),
        quotePayout(tx, context, request),
        oldestWalletWith(tx, { merchantId, ownerId, currency: assetCode, balance: amount }),
      ]),
    operation: async (tx, idempotency, [, { total, ...priced }, likely]) => {
      const wallet = await findPayingWallet(tx, context, { ownerId, assetCode, total, likely })
      const [transfer, sequence] = await allInOrder([
        payFrom(tx, context, wallet.id, { assetCode, amount, fee: priced.fee ?? 0n }),
        nextInSequence(tx, merchantId, 'payouts'),
      ])
      return recordPayout(tx, context, {
        ...request,
        ...priced,
        sequence,
        walletId: wallet.id,
        transferId: transfer.id,
        balanceAfter: transfer.walletBalance,
        idempotencyKey: idempotency?.key ?? null,
        fingerprint: idempotency?.fingerprint ?? null,
      })
    },
  })
}

/** Moves amount and fee out of a wallet that was just seen to cover both. */
function payFrom(
  tx: Tx,
  context: Context,
  walletId: string,
  { assetCode, amount, fee }: { assetCode: string; amount: Amount; fee: Amount },
) {
  return postTransfer(tx, context, {
    kind: 'payout',
    assetCode,
    walletId,
    debits: [{ accountId: walletId, amount: amount + fee }],
    credits: [
      { accountId: clearingAccountId('payouts_in_transit', assetCode), amount },
      { accountId: clearingAccountId('fees', assetCode), amount: fee },
    ],
  }).catch((error) => {
    const isEmptied = error instanceof Refusal && error.code === 'INSUFFICIENT_FUNDS'
    throw isEmptied ? new Conflict('another request took the money first') : error
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
    | 'sequence'
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
  const payout: Payout = {
    ...newRow(context),
    ...details,
    transactionId: transactionId(context.merchantId, details.sequence),
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
