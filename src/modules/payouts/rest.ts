import { amountPattern } from '../../core/money/amount.ts'
import { idField, notInContract } from '../../rest/input-fields.ts'
import { listRoute } from '../../rest/list-route.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get, postAction } from '../../rest/route.ts'
import { listOf } from '../../rest/shape.ts'
import { createPayout } from './create-payout.ts'
import { GetPayoutInput, getPayout } from './get-payout.ts'
import { getPayoutFees, PayoutFeesInput } from './get-payout-fees.ts'
import { payouts } from './list.ts'
import { payoutAssetCodes, payoutDescriptions, recipientCurrencies } from './payout.ts'
import { payoutFees } from './payout-fees-shape.ts'
import { BankPayoutInput } from './payout-input.ts'
import { payout } from './payout-shape.ts'

const identifierCharacters = 'letters, digits, spaces, dots, slashes, underscores and hyphens'

export const payoutEndpoints: RouteGroup = {
  name: 'Payouts',
  description: 'Money that leaves a stablecoin wallet for a bank account.',
  routes: [
    listRoute('/api/payouts', payouts, {
      name: 'listPayouts',
      title: 'List payouts',
      description: `Lists the payouts of the merchant and its customers, newest first. A filtered list has the newest 10,000 matches; use \`created_before\` for older ones. ${notInContract}`,
      timeDescriptions: {
        createdFrom: 'Only payouts created at this time or later.',
        createdBefore: 'Only payouts created before this time.',
      },
      example: { status: 'PROCESSING', limit: 2 },
      rows: listOf('The payouts of the page.', payout),
    }),
    get('/api/payouts/fees', {
      name: 'getPayoutFees',
      title: 'Get the fee of a payout',
      description: `Returns the price of a payout at present, without a payer: its fee, and the amount that arrives. Nothing is reserved. ${notInContract}`,
      input: PayoutFeesInput,
      operation: getPayoutFees,
      fields: {
        amount: { pattern: amountPattern.source, description: 'The amount to pay out, in units of `from_currency`.' },
        currencyType: {
          enum: ['FIAT', ''],
          description: 'The kind of payout; `FIAT` if absent. Payouts to crypto addresses are not offered.',
        },
        fromCurrency: { enum: [...payoutAssetCodes, ''], description: `${payoutDescriptions.assetCode} Required.` },
        toCurrency: {
          enum: [...recipientCurrencies, ''],
          description: `${payoutDescriptions.recipientCurrency} Required.`,
        },
        currency: { enum: [...payoutAssetCodes, ''], description: 'Another name of `from_currency`.' },
        recipientCurrency: { enum: [...recipientCurrencies, ''], description: 'Another name of `to_currency`.' },
      },
      example: { amount: '50', currencyType: 'FIAT', fromCurrency: 'USDC', toCurrency: 'NGN' },
      errors: ['RATE_UNAVAILABLE'],
      response: { data: payoutFees },
    }),
    get('/api/payouts/:payout_id', {
      name: 'getPayout',
      title: 'Get a payout',
      description: `Returns a payout of the merchant or of one of its customers. ${notInContract}`,
      input: GetPayoutInput,
      operation: getPayout,
      fields: { payoutId: idField('The id of the payout.') },
      example: { payoutId: '01980c60-1f2e-7d3c-8b4a-5a6978879605' },
      errors: ['RESOURCE_NOT_FOUND'],
      response: { data: payout },
    }),
    postAction('/api/payouts/banks', createPayout, {
      title: 'Pay out to a bank account',
      description:
        'Withdraws an amount of a stablecoin to a bank account. Amount and fee are debited before the response. The payout begins as `PROCESSING` and becomes `COMPLETED` or `FAILED`; a `COMPLETED` payout may become `RETURNED`. `FAILED` and `RETURNED` credit amount and fee to the wallet again. The owner’s oldest active wallet in the currency with sufficient funds pays.',
      input: BankPayoutInput,
      fields: {
        customerId: idField('The customer whose wallet pays; absent for the merchant’s own.'),
        assetCode: { name: 'currency', description: payoutDescriptions.assetCode },
        accountNumber: `${payoutDescriptions.accountNumber} It may have ${identifierCharacters}.`,
        bankName: payoutDescriptions.bankName,
        bankCode: `${payoutDescriptions.bankCode} It may have ${identifierCharacters}.`,
        amount: {
          pattern: amountPattern.source,
          acceptsNumber: true,
          description:
            'The amount to pay out, above zero, in units of `currency`. A fee is deducted from it or from the balance of the wallet. It is never rounded. A JSON number without an exponent is accepted too, with its exact digits.',
        },
        recipientName: payoutDescriptions.recipientName,
        recipientCurrency: payoutDescriptions.recipientCurrency,
        recipientCountry: `${payoutDescriptions.recipientCountry} It must match the currency.`,
        paymentPurpose: payoutDescriptions.paymentPurposeInput,
        narration: payoutDescriptions.narration,
        transferType: payoutDescriptions.transferTypeInput,
      },
      example: {
        assetCode: 'USDC',
        amount: '25.50',
        recipientName: 'Ada Obi',
        accountNumber: '0690000032',
        bankName: 'Access Bank',
        bankCode: '044',
        recipientCurrency: 'NGN',
        recipientCountry: 'Nigeria',
        paymentPurpose: 'GIFTS',
        narration: 'Happy birthday',
      },
      response: { data: payout },
    }),
  ],
}
