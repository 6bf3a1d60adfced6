import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import type { App } from '../../support/app.ts'
import { payoutBody } from '../../support/app.ts'
import type { Sent, Transcript } from '../transcript.ts'
import { absentId, otherMerchant, recordCommonRefusals } from './refusals.ts'

/** An addition to the contract: payouts and deposits in one list. */
export async function listTransactions(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET /api/transactions${query}`)

  await say('200: none yet', '')
  const { customerId } = await fiveTransactions(transcript, app)
  await say('200: newest first, the merchant’s and its customers’', '')
  await say('200: for a customer', `?customer_id=${customerId}`)
  await say('200: for the merchant', '?customer_id=null&limit=1')
  await say('200: in a status', '?status=COMPLETED')
  await say('200: in the status of new payouts, by its old name', '?status=PENDING')
  await say('200: of a type', '?transaction_type=DEPOSIT')
  await say('200: of a direction, in an asset', '?transaction_mode=DEBIT&currency=usdt')
  await say('200: of a type that does not occur', '?transaction_type=INTERNAL TRANSFER'.replace(' ', '%20'))
  await say('200: of two days', '?start_date=2029-12-31&end_date=2030-01-01&limit=1')
  await say('200: of a time', '?start_date=2030-01-01T00:00:02.000Z&end_date=2030-01-01T00:00:04.000Z')
  await say(
    '200: unknown values match nothing',
    `?customer_id=${absentId}&currency=XAU&transaction_id=NONE&search=NONE`,
  )
  await say('200: empty filters are none', '?customer_id=&status=&currency=&start_date=&end_date=&search=&limit=1')
  await say('200: the second page', '?page=2&limit=2')
  await say('200: beyond the last page', '?page=9')
  await say(
    '400: everything out of range',
    '?page=-1&limit=0&status=DONE&customer_id=me&start_date=x&end_date=2030-02-30&transaction_type=SWAP&transaction_mode=BOTH',
  )
  await say('400: a parameter given twice', '?status=FAILED&status=FAILED')
  const key = await otherMerchant(transcript, app)
  await transcript.exchange(app, '200: another merchant has none of these', 'GET /api/transactions', { key })
  await recordCommonRefusals(transcript, app, { request: 'GET /api/transactions' })
}

/** An addition to the contract: one payout or deposit. */
export async function getTransaction(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const { settledId, failedId, deposit } = await fiveTransactions(transcript, app)
  const say = (title: string, id: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `GET /api/customers/transactions/by_txid/${id}`, sent)

  await say('200: a payout by its UUID', settledId)
  const { body } = await say('200: another one, for a customer', failedId)
  const transactionId: string = body.data.transaction_id
  transcript.alias(transactionId, '{{transaction of the payout}}')
  await say('200: by its transaction id', transactionId)
  await say('200: a deposit by its UUID', deposit.transferId)
  await say('404: no such transaction', absentId)
  await say('404: an unknown transaction id', 'AAAAAAAAAA')
  await say("404: another merchant's transaction", settledId, { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: `GET /api/customers/transactions/by_txid/${settledId}` })
}

/** An addition to the contract: payouts and deposits by reference. */
export async function listTransactionsByReference(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const { referenceId, deposit } = await fiveTransactions(transcript, app)
  const path = 'GET /api/customers/transactions/by_ref_id'
  const say = (title: string, reference: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `${path}/${reference}`, sent)

  await say('200: a payout', referenceId)
  await say('200: a deposit', deposit.transferId)
  await say('200: a deposit, by the reference under which it was credited', 'bank%207')
  await say('404: no such reference', absentId)
  await say("404: another merchant's reference", referenceId, { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: `${path}/${referenceId}` })
}

/** An addition to the contract: payouts and deposits of one customer. */
export async function listCustomerTransactions(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const { customerId } = await fiveTransactions(transcript, app)
  const path = 'GET /api/customers/transactions/by_customer_id'
  const say = (title: string, query: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `${path}/${query}`, sent)

  await say('200: newest first', customerId)
  await say(
    '200: with filters',
    `${customerId}?status=FAILED&transaction_type=PAYOUT&currency=USDT&end_date=2030-01-01`,
  )
  await say('200: the second page', `${customerId}?page=2&limit=1`)
  await say('400: everything out of range', `${customerId}?page=0&limit=101&status=x&start_date=yesterday`)
  await say('404: no such customer', absentId)
  await say('404: a malformed id', 'me')
  await say("404: another merchant's customer", customerId, { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: `${path}/${customerId}` })
}

async function fiveTransactions({ tick }: Transcript, app: App) {
  const customerId = await app.customer()
  const walletId = await app.wallet()
  await app.wallet({ assetCode: 'USDT', balance: '1000', customerId })
  tick()
  const deposit = await depositToWallet(app.context(), { walletId, amount: '1000', reference: 'bank 7' })
  tick()
  await depositToWallet(app.context(), { walletId, amount: '1', reference: 'bank 8' })
  const pay = async (changes: object) => {
    tick()
    const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, ...changes } })
    return body.data
  }
  const { id: settledId, reference_id: referenceId } = await pay({})
  const { id: failedId } = await pay({ customer_id: customerId, currency: 'USDT' })
  await pay({ amount: '7.5' })
  tick()
  await settlePayout(app.context(), { payoutId: settledId, status: 'COMPLETED' })
  await settlePayout(app.context(), { payoutId: failedId, status: 'FAILED' })
  await reverseDeposit(app.context(), { reference: 'bank 8', reason: 'a mistake' })
  return { customerId, settledId, failedId, referenceId, deposit }
}
