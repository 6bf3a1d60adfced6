import { amountPattern } from '../../core/money/amount.ts'
import { idField, notInContract } from '../../rest/input-fields.ts'
import { listRoute } from '../../rest/list-route.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get, postAction } from '../../rest/route.ts'
import { listOf } from '../../rest/shape.ts'
import { createPayout } from './create-payout.ts'
import { GetPayoutInput, getPayout } from './get-payout.ts'
import { payouts } from './list.ts'
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
      description: `Lists the payouts of the merchant and of its customers as they are now, newest first. With a filter the list has the newest 10,000 that match; \`created_before\` reaches those before. ${notInContract}`,
      timeDescriptions: {
        createdFrom: 'Only payouts made at this time or later.',
        createdBefore: 'Only payouts made before this time.',
      },
      example: { status: 'PROCESSING', limit: 2 },
      rows: listOf('The payouts of the page.', payout),
    }),
    get('/api/payouts/:payout_id', {
      name: 'getPayout',
      title: 'Get a payout',
      description: `Gives one payout of the merchant or of its customers as it is now: \`status\` says what became of it. ${notInContract}`,
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
        'Withdraws an amount of a stablecoin to a bank account. Amount and fee leave the wallet together with the answer: the payout is `PROCESSING` then, and becomes `COMPLETED` or `FAILED`, and after `COMPLETED` possibly `RETURNED`; `FAILED` and `RETURNED` put amount and fee back. It is paid by the oldest active wallet of the owner in that currency that covers both.',
      input: BankPayoutInput,
      fields: {
        customerId: idField('The customer whose wallet pays; without it, the merchant’s own pays.'),
        assetCode: { name: 'currency', description: 'The stablecoin that pays.' },
        accountNumber: `The number of the account: ${identifierCharacters}.`,
        bankName: 'What the bank is called.',
        bankCode: `The code of the bank in its country: ${identifierCharacters}.`,
        amount: {
          pattern: amountPattern.source,
          acceptsNumber: true,
          description:
            'What is paid out, above zero, in units of `currency`; a fee is deducted from it or from the balance, as it was set. It is never rounded. A JSON number is taken too, digit by digit, but not one with an exponent.',
        },
        recipientName: 'Who gets it.',
        recipientCurrency: 'The currency that arrives.',
        recipientCountry: 'The country of the bank, which must be that of the currency.',
        paymentPurpose: 'What it is for; `OTHER` when it is left out.',
        narration: 'What the recipient reads.',
        transferType:
          'Answered as it is sent, and as `ach` where it is not. It is for payouts in USD: money to Nigeria and South Africa takes the local rail whatever it says.',
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
