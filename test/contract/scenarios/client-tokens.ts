import { createKey } from '../../../src/modules/merchants/manage-keys.ts'
import type { Sent, Transcript } from '../transcript.ts'
import { absentId, otherMerchant, recordCommonRefusals } from './refusals.ts'

/** An addition to the contract. */
export async function createClientToken(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const request = 'POST /api/client-tokens'
  const body = { scopes: ['read'] }
  const say = (title: string, body: object, sent: Sent = {}) => {
    transcript.tick()
    return transcript.exchange(app, title, request, { body, ...sent })
  }
  const customerId = await app.customer()
  const headers = { 'idempotency-key': 'token-1' }
  const response = await say('201: as the merchant, for 15 minutes', body)
  await say('201: as one customer, for an hour', {
    customer_id: customerId,
    scopes: ['payouts', 'read', 'read'],
    expires_in: 3_600,
  })
  await say('201: with an idempotency key', body, { headers })
  await say('201: the same again, which is another token', body, { headers })
  await say('400: nothing given', {})
  await say('400: no scope', { scopes: [] })
  await say('400: all that can be wrong', { customer_id: 'me', scopes: ['read', 'everything'], expires_in: 59 })
  await say('400: for longer than a day', { ...body, expires_in: 86_401 })
  await say('400: an empty customer id', { ...body, customer_id: '' })
  await say('400: more than one customer may do', { customer_id: customerId, scopes: ['read', 'webhooks'] })
  await say('404: no such customer', { ...body, customer_id: absentId })
  const key = await otherMerchant(transcript, app)
  await say("404: another merchant's customer", { ...body, customer_id: customerId }, { key })
  const restricted = await createKey(app.service, app.merchant.id, { scopes: ['read', 'payouts'] })
  transcript.alias(restricted.apiKey, '{{reading and paying key}}')
  await say('403: more than the key may do', { scopes: ['read', 'wallets'] }, { key: restricted.apiKey })
  const { token } = response.body.data
  await say('403: by a token', body, { key: null, headers: { authorization: `Bearer ${token}` } })
  await recordCommonRefusals(transcript, app, { request, body })
}
