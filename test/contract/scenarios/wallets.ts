import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { App } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import type { Sent, Transcript } from '../transcript.ts'
import { absentId, otherMerchant, recordCommonRefusals } from './refusals.ts'

const usdc = { currency: 'USDC', network: 'erc20', description: 'Savings' }

/** Contract 4.9. */
export async function createWallet(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, body: object, sent: Sent = {}) => {
    transcript.tick()
    return transcript.exchange(app, title, 'POST /api/wallets', { body, ...sent })
  }
  const customerId = await app.customer()
  const headers = { 'idempotency-key': 'wallet-1' }

  await say("201: the merchant's stablecoin wallet", usdc)
  await say("201: a customer's stablecoin wallet", { ...usdc, customer_id: customerId })
  await say('201: on polygon', { ...usdc, network: 'polygon' })
  await say('201: on bep20', { ...usdc, currency: 'USDT', network: 'bep20' })
  await say('201: on trc20', { ...usdc, currency: 'USDT', network: 'trc20', customer_id: null })
  await say('201: on solana', { ...usdc, network: 'solana' })
  await say("201: the merchant's fiat wallet", { currency: 'ZAR', description: 'Rand' })
  await say("201: a customer's fiat wallet", {
    currency: 'NGN',
    description: 'Naira',
    network: null,
    customer_id: customerId,
  })
  await say('201: with an idempotency key', usdc, { headers })
  await say('201: the same again, replayed', usdc, { headers })
  await say('422: the key with another body', { ...usdc, description: 'Other' }, { headers })
  await recordWalletFaults(say)
  await say('404: no such customer', { ...usdc, customer_id: absentId })
  await say(
    "404: another merchant's customer",
    { ...usdc, customer_id: customerId },
    { key: await otherMerchant(transcript, app) },
  )
  await perform(closeCustomer, app.context(), { customerId })
  await say('409: a closed customer', { ...usdc, customer_id: customerId })
  const live = await transcript.start({ mode: 'live' })
  await transcript.exchange(live, '422: live, and no address to give', 'POST /api/wallets', { body: usdc })
  await recordCommonRefusals(transcript, app, { request: 'POST /api/wallets', body: usdc })
}

async function recordWalletFaults(say: (title: string, body: object, sent?: Sent) => Promise<unknown>): Promise<void> {
  await say('400: nothing given', {})
  await say('400: everything of another type', { currency: 1, description: true, customer_id: {}, network: 7 })
  await say('400: everything empty', { currency: '', description: '  ', customer_id: '', network: '' })
  await say('400: an unsupported currency', { ...usdc, currency: 'DOGE' })
  await say('400: a stablecoin without network', { currency: 'USDC', description: 'Savings' })
  await say('400: a network that is not supported', { ...usdc, network: 'ERC-20' })
  await say('400: USDC on trc20', { ...usdc, network: 'trc20' })
  await say('400: fiat with a network', { currency: 'ZAR', description: 'Rand', network: 'erc20' })
  await say('400: a description of 256 characters', { ...usdc, description: 'é'.repeat(256) })
  await say('400: a description with a bidi override', { ...usdc, description: 'Sav\u202eings' })
  await say('400: a customer id that is no UUID', { ...usdc, customer_id: 'me' })
  await say('400: a misspelt field', { ...usdc, customerId: absentId })
  await say('400: an idempotency key that is too long', usdc, { headers: { 'idempotency-key': 'k'.repeat(256) } })
}

/** Contract 4.10. */
export async function listCustomerWallets(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const customerId = await app.customer()
  const path = `GET /api/wallets/${customerId}/customer`
  const say = (title: string, query: string) => transcript.exchange(app, title, `${path}${query}`)

  await say('200: none yet', '')
  await threeWallets(transcript, app, customerId)
  await say('200: newest first; a stablecoin has one address object, fiat null', '')
  await say('200: by type of asset', '?asset_type=STABLECOIN')
  await say('200: by currency', '?currency=ZAR')
  await say('200: by everything', '?status=active&asset_type=STABLECOIN&currency=USDT')
  await say('200: filters that exclude each other', '?asset_type=FIAT&currency=USDC')
  await say('200: unknown values match nothing', '?status=frozen&asset_type=GOLD&currency=XAU')
  await say('200: empty filters are none', '?status=&asset_type=&currency=&limit=1')
  await say('200: the second page', '?page=2&limit=2')
  await say('200: beyond the last page', '?page=9')
  await say('400: page and limit out of range', '?page=-1&limit=0')
  await say('400: a parameter given twice', '?currency=ZAR&currency=ZAR')
  await say('400: a filter with a control character', '?currency=%00')

  const elsewhere = async (title: string, id: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `GET /api/wallets/${id}/customer`, sent)
  await elsewhere('404: no such customer', absentId)
  await elsewhere("404: another merchant's customer", customerId, { key: await otherMerchant(transcript, app) })
  await elsewhere('404: a malformed id', 'me')
  await recordCommonRefusals(transcript, app, { request: path })
}

/** An addition to the contract: the merchant's own wallets. */
export async function listWallets(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, query: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `GET /api/wallets${query}`, sent)

  await say('200: none yet', '')
  await threeWallets(transcript, app)
  const customerId = await app.customer()
  transcript.tick()
  await app.wallet({ network: 'erc20', customerId })
  await say('200: newest first, those of customers too', '')
  await say("200: a customer's only", `?customer_id=${customerId}`)
  await say("200: the merchant's own only", '?customer_id=null')
  await say('200: an unknown customer has none', `?customer_id=${absentId}`)
  await say('400: a customer that is no UUID', '?customer_id=me')
  await say('200: by type of asset', '?asset_type=FIAT')
  await say('200: by currency', '?currency=USDC')
  await say('200: unknown values match nothing', '?status=frozen&asset_type=GOLD&currency=XAU')
  await say('200: the second page', '?page=2&limit=2')
  await say('400: page and limit out of range', '?page=-1&limit=0')
  await say('400: a parameter given twice', '?currency=ZAR&currency=ZAR')
  await say('200: another merchant has none of these', '', { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: 'GET /api/wallets' })
}

/** Contract 4.11. */
export async function getWallet(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const customerId = await app.customer()
  const { usdcId, zarId } = await threeWallets(transcript, app, customerId)
  const merchants = await app.wallet({ network: 'erc20' })
  const say = (title: string, id: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `GET /api/wallets/${id}`, sent)

  await say("200: a customer's stablecoin wallet with money in it", usdcId)
  await say("200: a customer's fiat wallet", zarId)
  await say("200: the merchant's wallet", merchants)
  await say('404: no such wallet', absentId)
  await say("404: another merchant's wallet", usdcId, { key: await otherMerchant(transcript, app) })
  await say('404: a malformed id', 'mine')
  await recordCommonRefusals(transcript, app, { request: `GET /api/wallets/${usdcId}` })
}

async function threeWallets({ tick }: Transcript, app: App, customerId?: string) {
  const owner = customerId === undefined ? {} : { customerId }
  tick()
  const usdcId = await app.wallet({ network: 'erc20', ...owner })
  tick()
  const zarId = await app.wallet({ assetCode: 'ZAR', ...owner })
  tick()
  await app.wallet({ assetCode: 'USDT', network: 'erc20', ...owner })
  tick()
  await depositToWallet(app.context(), { walletId: usdcId, amount: '12.34567891', reference: 'first' })
  return { usdcId, zarId }
}
