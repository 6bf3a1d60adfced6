import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { payoutBody } from '../../support/app.ts'
import type { Sent, Transcript } from '../transcript.ts'
import { otherMerchant, recordCommonRefusals } from './refusals.ts'

/** An addition to the contract: events. */
export async function listEvents(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, query: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `GET /api/events${query}`, sent)
  const tick = transcript.tick

  await say('200: nothing yet', '')
  const customerId = await app.customer()
  tick()
  await app.wallet({ network: 'erc20', balance: '100', customerId })
  tick()
  const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, customer_id: customerId } })
  for (const status of ['COMPLETED', 'RETURNED'] as const) {
    tick()
    await settlePayout(app.context(), { payoutId: body.data.id, status })
  }
  await say('200: from the first', '')
  await say('200: after the third, one at most', '?after=3&limit=1')
  await say('200: some types', '?types=payout.completed,payout.returned')
  await say('200: nothing new', '?after=6')
  await say('200: nothing within the time that it waits', '?after=6&wait=1')
  await say('400: after what was never there', '?after=7')
  await say('400: all that can be wrong', '?after=-1&types=payout.paid&limit=101&wait=31')
  await say('400: a parameter given twice', '?after=1&after=1')
  await say('200: another merchant has none of these', '', { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: 'GET /api/events' })
}
