import { closeCustomer } from '../../../src/customers/close-customer.ts'
import { payoutBody } from '../../support/app.ts'
import type { Sent, Transcript } from '../transcript.ts'
import { absentId, otherMerchant, recordCommonRefusals } from './refusals.ts'

const toSouthAfrica = { recipient_currency: 'ZAR', recipient_country: 'South Africa' }

/** Contract 4.8. */
export async function createPayout(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, body: object, sent: Sent = {}) => {
    transcript.tick()
    return transcript.exchange(app, title, 'POST /api/payouts/banks', { body, ...sent })
  }
  const customerId = await app.customer()
  await app.wallet({ balance: '1000' })
  await app.wallet({ assetCode: 'USDT', balance: '75.5', customerId })
  const headers = { 'idempotency-key': 'payout-1' }

  await say('201: from the merchant, without a fee', payoutBody)
  transcript.tick()
  await app.fee('0.5', '1')
  await say('201: from the merchant, with a fee', { ...payoutBody, narration: 'Invoice 7', transfer_type: 'swift' })
  await say('201: from a customer, in USDT to South Africa', {
    ...payoutBody,
    ...toSouthAfrica,
    currency: 'USDT',
    amount: '25.00000001',
    customer_id: customerId,
    payment_purpose: null,
    narration: null,
    transfer_type: null,
  })
  await say('201: with an idempotency key', payoutBody, { headers })
  await say('201: the same again, replayed', payoutBody, { headers })
  await say('422: the key with another body', { ...payoutBody, amount: '41' }, { headers })
  await say('422: not enough money', { ...payoutBody, amount: '1000' })
  await say('422: no wallet in that currency', { ...payoutBody, currency: 'USDT' })
  await recordPayoutFaults(say)
  await say('404: no such customer', { ...payoutBody, customer_id: absentId })
  await say(
    "404: another merchant's customer",
    { ...payoutBody, customer_id: customerId },
    { key: await otherMerchant(transcript, app) },
  )
  await closeCustomer(app.context(), { customerId })
  await say('409: a closed customer', { ...payoutBody, customer_id: customerId })
  const rateless = await transcript.start({ rates: [] })
  await transcript.exchange(rateless, '422: no rate', 'POST /api/payouts/banks', { body: payoutBody })
  await recordCommonRefusals(transcript, app, { request: 'POST /api/payouts/banks', body: payoutBody })
}

async function recordPayoutFaults(say: (title: string, body: object, sent?: Sent) => Promise<unknown>): Promise<void> {
  const wrong = { narration: 1, transfer_type: 'sepa', payment_purpose: 'FUN', customer_id: 'me' }
  await say('400: nothing given', {})
  await say('400: unknown values', {
    ...payoutBody,
    ...wrong,
    currency: 'ZAR',
    recipient_currency: 'USD',
    recipient_country: 'Ghana',
  })
  await say('400: an amount that is a number', { ...payoutBody, amount: 40 })
  await say('400: an amount with nine places', { ...payoutBody, amount: '0.000000001' })
  await say('400: an amount of zero', { ...payoutBody, amount: '0' })
  await say('400: currency and country that disagree', { ...payoutBody, recipient_country: 'South Africa' })
  await say('400: an account number with other characters', { ...payoutBody, account_number: '0690\u00a0000031#' })
  await say('400: a misspelt field', { ...payoutBody, 'Customer-ID': absentId })
  await say('400: an idempotency key that is not ASCII', payoutBody, { headers: { 'idempotency-key': 'clé' } })
}
