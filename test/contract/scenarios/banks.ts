import { sandboxRail } from '../../../src/modules/rails/adapters/sandbox-rail.ts'
import { nodeRail } from '../../modules/deposits/support/node.ts'
import type { App } from '../../support/app.ts'
import type { Transcript } from '../transcript.ts'
import { recordCommonRefusals } from './refusals.ts'

/** An addition to the contract: the banks that a rail knows. */
export async function listBanks(transcript: Transcript): Promise<void> {
  const app = await transcript.start({ rails: [sandboxRail] })
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET /api/banks${query}`)

  await say('200: of Nigeria', '?currency=NGN')
  await say('200: of South Africa', '?currency=ZAR')
  await say('400: nothing given', '')
  await say('400: a currency without payouts', '?currency=USD')
  const without = await transcript.start()
  await transcript.exchange(without, '422: no rail can answer', 'GET /api/banks?currency=NGN')
  await recordUnavailable(transcript, 'GET /api/banks?currency=NGN')
  await recordCommonRefusals(transcript, app, { request: 'GET /api/banks?currency=NGN' })
}

/** An addition to the contract: the name of an account, by GET. */
export async function getBankAccountName(transcript: Transcript): Promise<void> {
  const app = await transcript.start({ rails: [sandboxRail] })
  const path = 'GET /api/banks/resolve'
  const say = (title: string, query: string) => transcript.exchange(app, title, `${path}${query}`)
  const usual = '?account_number=0690000032&bank_code=044'

  await say('200: an account', usual)
  await say('400: nothing given', '')
  await say('404: no such account', '?account_number=9999999910&bank_code=044')
  await say('404: no such bank', '?account_number=0690000032&bank_code=999')
  const without = await transcript.start()
  await transcript.exchange(without, '422: no rail can answer', `${path}${usual}`)
  await recordCommonRefusals(transcript, app, { request: `${path}${usual}` })
}

/** An addition to the contract: the name of an account, by POST. */
export async function resolveBankAccount(transcript: Transcript): Promise<void> {
  const app: App = await transcript.start({ rails: [sandboxRail] })
  const request = 'POST /api/banks/resolve'
  const say = (title: string, body: object) => transcript.exchange(app, title, request, { body })
  const usual = { account_number: '0690000032', bank_code: '044' }

  await say('200: an account', usual)
  await say('400: nothing given', {})
  await say('400: a misspelt field', { ...usual, accountNumber: '1' })
  await say('404: no such account', { ...usual, account_number: '9999999910' })
  const without = await transcript.start()
  await transcript.exchange(without, '422: no rail can answer', request, { body: usual })
  await recordCommonRefusals(transcript, app, { request, body: usual })
}

/** Nothing listens at the address of this rail. */
async function recordUnavailable(transcript: Transcript, request: string): Promise<void> {
  const app = await transcript.start({ rails: [nodeRail] })
  await transcript.exchange(app, '503: the bank does not answer', request)
}
