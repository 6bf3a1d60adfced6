import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import type { App } from '../../support/app.ts'
import { payoutBody } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
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

  await say('200: from the merchant, without a fee', payoutBody)
  transcript.tick()
  await app.fee('0.5', '1')
  await say('200: from the merchant, with a fee', { ...payoutBody, narration: 'Invoice 7', transfer_type: 'swift' })
  await say('200: from a customer, in USDT to South Africa', {
    ...payoutBody,
    ...toSouthAfrica,
    currency: 'USDT',
    amount: '25.00000001',
    customer_id: customerId,
    payment_purpose: null,
    narration: null,
    transfer_type: null,
  })
  await say('200: with an idempotency key', payoutBody, { headers })
  await say('200: the same again, replayed', payoutBody, { headers })
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
  await perform(closeCustomer, app.context(), { customerId })
  await say('409: a closed customer', { ...payoutBody, customer_id: customerId })
  const rateless = await transcript.start({ rates: [] })
  await transcript.exchange(rateless, '422: no rate', 'POST /api/payouts/banks', { body: payoutBody })
  await recordCommonRefusals(transcript, app, { request: 'POST /api/payouts/banks', body: payoutBody })
}

/** An addition to the contract: the outcomes of payouts. */
export async function listPayouts(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET /api/payouts${query}`)

  await say('200: none yet', '')
  const { customerId } = await threePayouts(transcript, app)
  await say('200: newest first, the merchant’s and its customers’, each as it is now', '')
  await say('200: for a customer', `?customer_id=${customerId}`)
  await say('200: for the merchant', '?customer_id=null')
  await say('200: in a status', '?status=COMPLETED')
  await say('200: of a stablecoin', '?currency=USDT&limit=1')
  await say('200: of a time', '?created_from=2030-01-01T00:00:01.000Z&created_before=2030-01-01T00:00:03.000Z')
  await say('200: unknown values match nothing', `?customer_id=${absentId}&currency=XAU`)
  await say('200: empty filters are none', '?customer_id=&status=&currency=&created_from=&created_before=&limit=1')
  await say('200: the second page', '?page=2&limit=2')
  await say('200: beyond the last page', '?page=9&status=PROCESSING')
  await say('400: everything out of range', '?page=-1&limit=0&status=DONE&customer_id=me&created_from=x')
  await say('400: a parameter given twice', '?status=FAILED&status=FAILED')
  const key = await otherMerchant(transcript, app)
  await transcript.exchange(app, '200: another merchant has none of these', 'GET /api/payouts', { key })
  await recordCommonRefusals(transcript, app, { request: 'GET /api/payouts' })
}

/** An addition to the contract: one payout. */
export async function getPayout(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const { settledId, failedId } = await threePayouts(transcript, app)
  const say = (title: string, id: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `GET /api/payouts/${id}`, sent)

  await say('200: completed', settledId)
  await say('200: failed, for a customer', failedId)
  await say('404: no such payout', absentId)
  await say("404: another merchant's payout", settledId, { key: await otherMerchant(transcript, app) })
  await say('404: a malformed id', 'mine')
  await recordCommonRefusals(transcript, app, { request: `GET /api/payouts/${settledId}` })
}

/** An addition to the contract: the price of a payout. */
export async function getPayoutFees(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const path = 'GET /api/payouts/fees'
  const say = (title: string, query: string) => transcript.exchange(app, title, `${path}${query}`)
  const usual = '?amount=50&currency_type=FIAT&from_currency=USDC&to_currency=NGN'

  await say('200: without a fee', usual)
  await app.fee('0.1')
  await say('200: with a fee on top', usual)
  transcript.tick()
  await app.fee('0.1', '1', 'AMOUNT')
  await say('200: with a fee out of the amount', usual)
  await say('200: by the other names, without the kind', '?amount=12.5&currency=USDT&recipient_currency=ZAR')
  await say('400: nothing given', '')
  await say('400: unknown values', '?amount=-1&currency_type=STABLECOIN&from_currency=NGN&to_currency=USD')
  await say('400: an amount that does not cover the fee', usual.replace('50', '0.05'))
  const rateless = await transcript.start({ rates: [] })
  await transcript.exchange(rateless, '422: no rate', `${path}${usual}`)
  await recordCommonRefusals(transcript, app, { request: `${path}${usual}` })
}

async function threePayouts({ tick }: Transcript, app: App) {
  const customerId = await app.customer()
  await app.wallet({ balance: '1000' })
  await app.wallet({ assetCode: 'USDT', balance: '1000', customerId })
  const pay = async (changes: object) => {
    tick()
    const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, ...changes } })
    return body.data.id as string
  }
  const settledId = await pay({})
  const failedId = await pay({ customer_id: customerId, currency: 'USDT' })
  await pay({ amount: '7.5' })
  tick()
  await settlePayout(app.context(), { payoutId: settledId, status: 'COMPLETED' })
  await settlePayout(app.context(), { payoutId: failedId, status: 'FAILED' })
  return { customerId, settledId, failedId }
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
  await say('400: an amount that is a negative number', { ...payoutBody, amount: -40 })
  await say('400: an amount with nine places', { ...payoutBody, amount: '0.000000001' })
  await say('400: an amount of zero', { ...payoutBody, amount: '0' })
  await say('400: currency and country that disagree', { ...payoutBody, recipient_country: 'South Africa' })
  await say('400: an account number with other characters', { ...payoutBody, account_number: '0690\u00a0000031#' })
  await say('400: a misspelt field', { ...payoutBody, 'Customer-ID': absentId })
  await say('400: an idempotency key that is not ASCII', payoutBody, { headers: { 'idempotency-key': 'clé' } })
}
