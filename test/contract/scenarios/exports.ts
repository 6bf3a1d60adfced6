import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { setFee } from '../../../src/modules/pricing/fees.ts'
import { absentId } from '../../rest/endpoints.ts'
import { payoutBody } from '../../support/app.ts'
import type { Transcript } from '../transcript.ts'
import { otherMerchant, recordCommonRefusals } from './refusals.ts'

/** A wallet with a deposit, a payout that is paid and one that fails. */
async function startBooks(transcript: Transcript) {
  const app = await transcript.start()
  await setFee(app.service, { assetCode: 'USDC', recipientCurrency: 'NGN', flat: '0.5' })
  const walletId = await app.wallet({ network: 'erc20', balance: '100' })
  for (const [status, narration] of [
    ['COMPLETED', '=HYPERLINK("https://example.com","Refund")'],
    ['FAILED', 'Rent, for "May"'],
  ] as const) {
    transcript.tick()
    const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, narration } })
    // It is made from the merchant's id, and stands without its name in most files.
    transcript.alias(body.data.transaction_id, `{{transaction of the payout that is ${status}}}`)
    transcript.tick()
    await settlePayout(app.context(), { payoutId: body.data.id, status })
  }
  transcript.tick()
  return { app, walletId }
}

/** The statement of a wallet as a file. */
async function exportStatement(transcript: Transcript): Promise<void> {
  const { app, walletId } = await startBooks(transcript)
  const path = `/api/wallets/${walletId}/statement`
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET ${path}${query}`)
  await say('200: until now', '')
  await say(
    '200: as lines of JSON, from a moment on and before another',
    '?format=ndjson&from=2030-01-01T00:00:02Z&to=2030-01-01T00:00:04Z',
  )
  await say('200: before there was anything', '?to=2030-01-01')
  await say('400: all that can be wrong', '?from=May&to=2030-02-30&format=pdf')
  await say('400: an end before the beginning', '?from=2030-01-02&to=2030-01-01')
  await transcript.exchange(app, '404: a wallet that does not exist', `GET /api/wallets/${absentId}/statement`)
  await transcript.exchange(app, '404: the wallet of another merchant', `GET ${path}`, {
    key: await otherMerchant(transcript, app),
  })
  await recordCommonRefusals(transcript, app, { request: `GET ${path}` })
}

async function recordJournal(transcript: Transcript, path: string): Promise<void> {
  const { app } = await startBooks(transcript)
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET ${path}${query}`)
  await say('200: until now', '')
  await say('200: as lines of JSON, from a moment on', '?format=ndjson&from=2030-01-01T00:00:02Z')
  await say('200: before there was anything', '?to=2030-01-01')
  await say('400: all that can be wrong', '?from=May&to=2030-02-30&format=camt053')
  await transcript.exchange(app, '200: another merchant has none of these', `GET ${path}`, {
    key: await otherMerchant(transcript, app),
  })
  await recordCommonRefusals(transcript, app, { request: `GET ${path}` })
}

/** The conversations with the endpoints that write files, by their names. */
export const exportScenarios = {
  'A.17-export-statement': exportStatement,
  'A.18-export-payouts': (transcript: Transcript) => recordJournal(transcript, '/api/exports/payouts'),
  'A.19-export-fees': (transcript: Transcript) => recordJournal(transcript, '/api/exports/fees'),
  'A.20-export-deposits': (transcript: Transcript) => recordJournal(transcript, '/api/exports/deposits'),
}
