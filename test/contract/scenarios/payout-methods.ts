import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import type { App } from '../../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import type { Sent, Transcript } from '../transcript.ts'
import { absentId, otherMerchant, recordCommonRefusals } from './refusals.ts'

const banksPath = '/api/payout/methods/banks'
const walletsPath = '/api/payout/methods/wallets'

const everyOptional = {
  sort_code: '12-34-56',
  swift_code: 'ABNGNGLA',
  routing_number: '021000021',
  iban: 'GB82 WEST 1234 5698 7654 32',
}

type Say = (title: string, body: object, sent?: Sent) => ReturnType<App['rest']>

/** Contract 4.3. */
export async function listPayoutMethods(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET /api/payout/methods${query}`)
  const customerId = await app.customer()

  await say('200: none yet', '')
  await addMethods(transcript, app, [
    [banksPath, bankMethodBody],
    [banksPath, { ...bankMethodBody, ...everyOptional, currency: 'ZAR', customer_id: customerId }],
    [walletsPath, walletMethodBody],
    [walletsPath, { ...walletMethodBody, label: 'Cold', currency: 'USDT', customer_id: customerId }],
  ])
  await say('200: of both types and all owners, newest first', '')
  await say("200: the merchant's", '?customer_id=null')
  await say("200: a customer's", `?customer_id=${customerId}`)
  await say('200: of no customer of ours', `?customer_id=${absentId}`)
  await say('200: an empty filter is none', '?customer_id=&type=&currency=&limit=1')
  await say('200: banks', '?type=BANK')
  await say("200: the merchant's crypto addresses", '?type=WALLET&customer_id=null')
  await say('200: by currency', '?currency=ZAR')
  await say('200: type and currency that exclude each other', '?type=WALLET&currency=ZAR')
  await say('200: an unknown currency', '?currency=EUR')
  await say('200: the first page of three', '?page=1&limit=3')
  await say('200: the last page', '?page=2&limit=3')
  await say('200: beyond the last page', '?page=3&limit=3')
  await say('400: a customer id that is no UUID', '?customer_id=me')
  await say('400: an unknown type', '?type=CARD')
  await say('400: page and limit in other forms', '?page=one&limit=1e1')
  await say('400: parameters given twice', '?customer_id=null&customer_id=null&limit=5&limit=6')
  await recordCommonRefusals(transcript, app, { request: 'GET /api/payout/methods' })
}

/** Contract 4.4. */
export async function createBankPayoutMethod(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = sayer(transcript, app, `POST ${banksPath}`)
  const customerId = await app.customer()
  const headers = { 'idempotency-key': '"bank-1"' }

  await say("201: the merchant's", bankMethodBody)
  await say("201: a customer's, with everything", { ...bankMethodBody, ...everyOptional, customer_id: customerId })
  await say('201: empty strings are null', {
    ...bankMethodBody,
    currency: 'ZAR',
    customer_id: '',
    sort_code: '',
    swift_code: '',
    routing_number: '',
    iban: '',
  })
  await say('201: identifiers whose check digits are wrong', { ...bankMethodBody, account_number: '0690000033' })
  await say('201: a field that is not known', { ...bankMethodBody, nickname: 'Main' })
  await say('201: with an idempotency key', bankMethodBody, { headers })
  await say('201: the same again, replayed', bankMethodBody, { headers })
  await say('422: the key with another body', { ...bankMethodBody, bank_code: '058' }, { headers })
  await say('400: nothing given', {})
  await say('400: an unknown type and currency', { ...bankMethodBody, type: 'CARD', currency: 'USDC' })
  await recordBankFaults(say)
  await recordOwnerRefusals(transcript, app, { say, body: bankMethodBody, customerId })
  await recordCommonRefusals(transcript, app, { request: `POST ${banksPath}`, body: bankMethodBody })
}

/** Contract 4.5. */
export async function updateBankPayoutMethod(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const customerId = await app.customer()
  const [merchants = '', customers = '', wallet = ''] = await addMethods(transcript, app, [
    [banksPath, bankMethodBody],
    [banksPath, { ...bankMethodBody, ...everyOptional, customer_id: customerId }],
    [walletsPath, walletMethodBody],
  ])
  const say = sayer(transcript, app, `PUT ${banksPath}/${merchants}`)
  const sayOf = (id: string) => sayer(transcript, app, `PUT ${banksPath}/${id}`)

  await say('200: nothing', {})
  await say('200: one field', { bank_name: 'Guaranty Trust Bank' })
  await say('200: every field', {
    ...bankMethodBody,
    ...everyOptional,
    currency: 'ZAR',
    account_name: 'Ada N. Obi',
    bank_code: '250655',
  })
  await say('200: optional fields emptied', { sort_code: '', swift_code: null })
  await sayOf(customers)("200: a customer's", { customer_id: customerId, account_name: 'Chidi Obi' })
  await say('400: required fields emptied', { type: '', account_name: '', account_number: null, currency: '' })
  await say('400: a method can not change its type', { type: 'WALLET' })
  await recordBankFaults(say)
  await sayOf(absentId)('404: no such method', {})
  await say("404: another merchant's", {}, { key: await otherMerchant(transcript, app) })
  await sayOf('mine')('404: a malformed id', {})
  await sayOf(wallet)('404: a crypto address', {})
  await sayOf(customers)("404: a customer's without its customer", { account_name: 'Eve' })
  await say("404: the merchant's with a customer", { customer_id: customerId, account_name: 'Eve' })
  await perform(closeCustomer, app.context(), { customerId })
  await sayOf(customers)('409: a closed customer', { customer_id: customerId, account_name: 'Eve' })
  await recordCommonRefusals(transcript, app, { request: `PUT ${banksPath}/${merchants}`, body: {} })
}

/** An addition in the provider's form (ruling 126). */
export async function updateWalletPayoutMethod(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const customerId = await app.customer()
  const [merchants = '', customers = '', bank = ''] = await addMethods(transcript, app, [
    [walletsPath, walletMethodBody],
    [walletsPath, { ...walletMethodBody, label: 'Cold', customer_id: customerId }],
    [banksPath, bankMethodBody],
  ])
  const sayOf = (id: string) => sayer(transcript, app, `PUT ${walletsPath}/${id}`)
  const say = sayOf(merchants)
  const tron = 'TJRabPrwbZy45sbavfcjinPJC18kjpRTv8'

  await say('200: nothing', {})
  await say('200: one field', { label: 'Cold store' })
  await say('200: every field', {
    ...{ type: 'WALLET', currency: 'USDT', network: 'Trc20', wallet_address: tron, label: 'Desk' },
  })
  await say('200: an address with a wrong checksum', { wallet_address: tron.replace('TJ', 'Tj') })
  await say('200: a label emptied', { label: '' })
  await sayOf(customers)("200: a customer's", { customer_id: customerId, network: 'polygon' })
  await say('400: required fields emptied', { wallet_address: '', network: '', currency: null })
  await say('400: a method can not change its type', { type: 'BANK' })
  await say('400: an unsupported currency', { currency: 'DOGE' })
  await say('400: a network that the changed currency lacks', { currency: 'USDC' })
  await say('400: an address of another network', { wallet_address: walletMethodBody.wallet_address })
  await say('400: a misspelt field', { walletAddress: tron })
  await sayOf(absentId)('404: no such method', {})
  await say("404: another merchant's", {}, { key: await otherMerchant(transcript, app) })
  await sayOf('mine')('404: a malformed id', {})
  await sayOf(bank)('404: a bank account', {})
  await sayOf(customers)("404: a customer's without its customer", { label: 'Eve' })
  await say("404: the merchant's with a customer", { customer_id: customerId, label: 'Eve' })
  await perform(closeCustomer, app.context(), { customerId })
  await sayOf(customers)('409: a closed customer', { customer_id: customerId, label: 'Eve' })
  await recordCommonRefusals(transcript, app, { request: `PUT ${walletsPath}/${merchants}`, body: {} })
}

/** An addition in the provider's form (ruling 127). */
export async function validateAddress(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const path = '/api/payouts/validate-address'
  const say = (title: string, query: string) => transcript.exchange(app, title, `GET ${path}${query}`)
  const address = walletMethodBody.wallet_address

  await say('200: a valid address', `?currency=usdc&address=${address}`)
  await say('200: in capitals, on another network', '?currency=USDT&address=TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')
  await say('200: with a letter that is not hexadecimal', `?currency=usdt&address=${address.replace('5a', '5k')}`)
  await say('400: an address in no form of a network', '?currency=usdc&address=TJRabPrwbZy45sbavfcjinPJC18kjpRTv8')
  await say('400: an address with a space', '?currency=usdc&address=0x5aAe%20b605')
  await say('400: an unsupported currency', `?currency=ngn&address=${address}`)
  await say('400: nothing given', '')
  await say('400: parameters given twice', `?currency=usdc&currency=usdt&address=${address}`)
  await recordCommonRefusals(transcript, app, { request: `GET ${path}?currency=usdc&address=${address}` })
}

/** Contract 4.6. */
export async function createWalletPayoutMethod(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = sayer(transcript, app, `POST ${walletsPath}`)
  const customerId = await app.customer()
  const headers = { 'idempotency-key': 'wallet-1' }

  await say("201: the merchant's", walletMethodBody)
  await say("201: a customer's, with a label", { ...walletMethodBody, label: 'Cold store', customer_id: customerId })
  await say('201: on polygon', { ...walletMethodBody, network: 'polygon', label: '' })
  await say('201: on bep20, with an address that is not hexadecimal', {
    ...walletMethodBody,
    network: 'bep20',
    wallet_address: '0x9kz41923E23DcE32d1A346e96558dA89f89DD1aB',
  })
  await say('201: on a network in capitals, without a type', {
    ...walletMethodBody,
    type: undefined,
    network: 'POLYGON',
  })
  await say('201: USDT on trc20', {
    ...walletMethodBody,
    currency: 'USDT',
    network: 'trc20',
    wallet_address: 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL',
  })
  await say('201: with an idempotency key', walletMethodBody, { headers })
  await say('201: the same again, replayed', walletMethodBody, { headers })
  await say('422: the key with another body', { ...walletMethodBody, label: 'Other' }, { headers })
  await say('400: nothing given', {})
  await say('400: unknown values', { ...walletMethodBody, type: 'BANK', network: 'bitcoin', currency: 'NGN' })
  await say('400: everything empty', { type: '', wallet_address: '', network: '', currency: '', label: '' })
  await say('400: everything of another type', { type: 1, wallet_address: 1, network: 1, currency: 1, label: 1 })
  await say('400: a label of 101 characters', { ...walletMethodBody, label: 'x'.repeat(101) })
  await say('400: an address of another network', { ...walletMethodBody, network: 'solana' })
  await say('400: USDC on trc20', {
    ...walletMethodBody,
    network: 'trc20',
    wallet_address: 'TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL',
  })
  await say('400: an address with a space', { ...walletMethodBody, wallet_address: '0x5aAe b605' })
  await say('400: a misspelt field', { ...walletMethodBody, walletAddress: '0x' })
  await recordOwnerRefusals(transcript, app, { say, body: walletMethodBody, customerId })
  await recordCommonRefusals(transcript, app, { request: `POST ${walletsPath}`, body: walletMethodBody })
}

/** Contract 4.7. */
export async function deletePayoutMethod(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const customerId = await app.customer()
  const [bank = '', customers = '', wallet = '', kept = ''] = await addMethods(transcript, app, [
    [banksPath, bankMethodBody],
    [banksPath, { ...bankMethodBody, customer_id: customerId }],
    [walletsPath, walletMethodBody],
    [banksPath, bankMethodBody],
  ])
  const say = (title: string, id: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `DELETE /api/payout/methods/${id}`, sent)
  const ofCustomer = { body: { customer_id: customerId } }

  await say("404: a customer's without its customer", customers)
  await say("404: a customer's with another", customers, { body: { customer_id: absentId } })
  await say("404: the merchant's with a customer", bank, ofCustomer)
  await say("404: another merchant's", bank, { key: await otherMerchant(transcript, app) })
  await say("200: the merchant's, without a body", bank)
  await say("200: the merchant's crypto address, with an empty object", wallet, { body: {} })
  await say("200: a customer's", customers, ofCustomer)
  await say('404: deleted before', bank)
  await say('404: no such method', absentId)
  await say('404: a malformed id', 'mine')
  await say('400: a customer id that is no UUID', kept, { body: { customer_id: 'me' } })
  await say('400: a customer id of another type', kept, { body: { customer_id: [customerId] } })
  await say('400: a misspelt field', kept, { body: { customerID: customerId } })
  await recordCommonRefusals(transcript, app, { request: `DELETE /api/payout/methods/${kept}` })
}

function sayer(transcript: Transcript, app: App, request: string): Say {
  return (title, body, sent = {}) => {
    transcript.tick()
    return transcript.exchange(app, title, request, { body, ...sent })
  }
}

async function addMethods(transcript: Transcript, app: App, methods: [string, object][]): Promise<string[]> {
  const ids: string[] = []
  for (const [path, body] of methods) {
    transcript.tick()
    ids.push((await app.rest('POST', path, { body })).body.data.id)
  }
  return ids
}

async function recordBankFaults(say: Say): Promise<void> {
  await say('400: everything of another type', {
    type: 1,
    account_name: 1,
    account_number: 690000031,
    bank_name: [],
    currency: {},
    bank_code: false,
    customer_id: 0,
    sort_code: 1,
    swift_code: 1,
    routing_number: 1,
    iban: 1,
  })
  await say('400: identifiers with other characters', { ...bankMethodBody, account_number: '0690000031;', iban: 'ÄÖ' })
  await say('400: a name with a control character', { ...bankMethodBody, account_name: 'Ada\u0007Obi' })
  await say('400: a customer id that is no UUID', { ...bankMethodBody, customer_id: 'me' })
  await say('400: a misspelt field', { ...bankMethodBody, customerId: absentId })
}

async function recordOwnerRefusals(
  transcript: Transcript,
  app: App,
  { say, body, customerId }: { say: Say; body: object; customerId: string },
): Promise<void> {
  const owned = { ...body, customer_id: customerId }
  await say('404: no such customer', { ...body, customer_id: absentId })
  await say("404: another merchant's customer", owned, { key: await otherMerchant(transcript, app) })
  await perform(closeCustomer, app.context(), { customerId })
  await say('409: a closed customer', owned)
}
