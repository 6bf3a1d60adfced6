import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { CheckOptions, ContractCheck } from '../../../src/cli/contract/check-contract.ts'
import { checkContract } from '../../../src/cli/contract/check-contract.ts'
import type { ContractClient } from '../../../src/cli/contract/contract-client.ts'
import { createContractClient } from '../../../src/cli/contract/contract-client.ts'
import { sandboxRail } from '../../../src/modules/rails/adapters/sandbox-rail.ts'
import type { App, Engine, RestMethod } from '../../support/app.ts'
import { bankMethodBody, everyEngine, payoutBody, startApp, walletMethodBody } from '../../support/app.ts'
import { cli, createEmptyInstallation } from '../../support/process.ts'

const readOnly: CheckOptions = { canWrite: false, payoutAmount: null }

/** Starts a service whose merchant has objects of every kind. */
async function startMerchant(engine: Engine): Promise<App> {
  const app = await startApp(engine, { rails: [sandboxRail] })
  const customerId = await app.customer()
  await app.customer({ customerType: 'business', businessName: 'Kola Foods', firstName: null, lastName: null })
  await app.wallet({ customerId, network: 'erc20' })
  await app.wallet({ balance: '100' })
  for (const [kind, body] of Object.entries({ banks: bankMethodBody, wallets: walletMethodBody })) {
    await app.rest('POST', `/api/payout/methods/${kind}`, { body })
    await app.rest('POST', `/api/payout/methods/${kind}`, { body: { ...body, customer_id: customerId } })
  }
  await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
  return app
}

type Response = { readonly status: number; readonly body: string }

/** How a server differs from this service: changes the text of a response to a request. */
type Variant = (request: { readonly method: string; readonly path: string }, response: Response) => Response

/** Sends the requests of the check to the service, and changes its responses. */
const clientOf =
  (app: App, variant: Variant = (_, response) => response): ContractClient =>
  async ({ method, path, body, key }) => {
    const sent = { ...(body && { body }), ...(key !== undefined && { key }) }
    const { status, text } = await app.rest(method as RestMethod, path, sent)
    const response = variant({ method, path }, { status, body: text })
    return { status: response.status, body: JSON.parse(response.body) }
  }

/** Replaces a text in the responses to a path. */
const replacing =
  (path: string, from: string | RegExp, to: string): Variant =>
  (request, response) =>
    request.path.startsWith(path) ? { ...response, body: response.body.replaceAll(from, to) } : response

describe.each(everyEngine)('`contract check` on %s', (engine) => {
  test('`contract check` finds no difference between this service and the contract', async () => {
    const app = await startMerchant(engine)

    const check = await checkContract(clientOf(app), { canWrite: true, payoutAmount: '1' })

    expect(check).toMatchObject({ holds: true, differences: [] })
    expect(check.requests.filter(({ outcome }) => outcome !== 'holds')).toEqual([])
    expect(check.requests).toHaveLength(38)
  })

  test('`contract check` without --write and --pay changes nothing', async () => {
    const app = await startMerchant(engine)
    const latest = async () => (await app.rest('GET', '/api/events?limit=100')).body.data.at(-1)
    const [methods, before] = [await app.rest('GET', '/api/payout/methods'), await latest()]
    const requests: string[] = []
    const client = clientOf(app)

    await checkContract((request) => {
      requests.push(request.method)
      return client(request)
    }, readOnly)

    expect(new Set(requests)).toEqual(new Set(['GET']))
    expect(await latest()).toEqual(before)
    expect((await app.rest('GET', '/api/payout/methods')).text).toBe(methods.text)
  })
})

test('`contract check` reports every request that it skips because the merchant has no objects', async () => {
  const app = await startApp('sqlite')

  const { holds, requests } = await checkContract(clientOf(app), readOnly)

  expect(holds).toBe(true)
  expect(requests.filter(({ outcome }) => outcome === 'skipped').map(({ skipped }) => skipped)).toEqual([
    'the merchant has no customer',
    'the merchant has no customer',
    'the merchant has no customer',
    'no customer has a wallet',
    'the merchant has no transaction',
    'the merchant has no transaction',
    'the merchant has no customer',
    'the server has no bank that answers',
    'no bank is known',
  ])
})

describe('`contract check` reports a difference if', () => {
  const variants: readonly [difference: string, variant: Variant, found: object][] = [
    [
      'a member is missing',
      replacing('/api/customers', /"phone":"[^"]*",/g, ''),
      { path: 'data[].phone', expected: 'string', actual: 'no such member' },
    ],
    [
      'a member is unknown',
      replacing('/api/asset-codes', '"code":', '"symbol":"x","code":'),
      { path: 'data[].symbol', expected: 'no such member', actual: 'string "x"' },
    ],
    [
      'members have another order',
      replacing('/api/customers', /("email":"[^"]*"),("phone":"[^"]*")/g, '$2,$1'),
      {
        path: 'data[]',
        expected: expect.stringContaining('email, phone'),
        actual: expect.stringContaining('phone, email'),
      },
    ],
    [
      'an amount is a number',
      replacing('/api/wallets/', /"balance":"([\d.]+)"/g, '"balance":$1'),
      { path: 'data[].balance', expected: 'a decimal of eight places', actual: 'number 0' },
    ],
    [
      'an amount has two places',
      replacing('/api/wallets/', /"balance":"(\d+\.\d\d)\d*"/g, '"balance":"$1"'),
      { path: 'data[].balance', expected: 'a decimal of eight places', actual: 'string "0.00"' },
    ],
    [
      'a time has no milliseconds',
      replacing('/api/payout/methods', /(\d\d:\d\d:\d\d)\.\d{3}Z/g, '$1Z'),
      { path: 'data[].created_at', expected: 'a time in UTC with milliseconds' },
    ],
    [
      'the type of an asset is in lower case',
      replacing('/api/asset-codes', '"FIAT"', '"fiat"'),
      { path: 'data[].asset_type', expected: expect.stringContaining('FIAT'), actual: 'string "fiat"' },
    ],
    [
      'the kind of a payout method is unknown',
      replacing('/api/payout/methods', '"type":"BANK"', '"type":"CARD"'),
      { path: 'data[].type', expected: 'one of BANK, WALLET', actual: 'string "CARD"' },
    ],
    [
      'addresses are an array where the contract has one object',
      replacing('/api/wallets/', /"addresses":(\{[^}]*\})/g, '"addresses":[$1]'),
      { path: 'data[].addresses', expected: 'object or null', actual: expect.stringMatching(/^array/) },
    ],
    [
      'a list has no pagination',
      replacing('/api/customers?', /,"pagination":\{[^}]*\}/g, ''),
      { path: 'pagination', expected: 'object', actual: 'no such member' },
    ],
    [
      'the status member of an error has another value',
      replacing('/api/customers/', '"status":"failed"', '"status":"error"'),
      { path: 'status', expected: 'one of failed', actual: 'string "error"' },
    ],
    [
      'an unknown id gets another status',
      ({ path }, response) =>
        path.startsWith('/api/customers/') && response.status === 404 ? { ...response, status: 400 } : response,
      { path: 'HTTP status', expected: '404', actual: expect.stringMatching(/^400 /) },
    ],
    [
      'a transaction lacks the member of its bank account',
      replacing('/api/transactions', /,"bank_account":("[^"]*"|null)/g, ''),
      { path: 'data[].bank_account', expected: expect.stringContaining('string'), actual: 'no such member' },
    ],
    [
      'the type of a transaction is in lower case',
      replacing('/api/customers/transactions/by_txid/', '"PAYOUT"', '"payout"'),
      { path: 'data.transaction_type', actual: 'string "payout"' },
    ],
    [
      'the transactions with a reference are an object instead of an array',
      replacing('/api/customers/transactions/by_ref_id/', /"data":\[(.*)\]/g, '"data":$1'),
      { path: 'data', expected: 'array' },
    ],
    [
      'the pagination of a customer’s transactions has no total',
      replacing('/api/customers/transactions/by_customer_id/', /"total":\d+,/g, ''),
      { path: 'pagination.total', expected: 'integer', actual: 'no such member' },
    ],
    [
      'the exchange rate of a fee is a string',
      replacing('/api/payouts/fees', /"exchangeRate":([\d.]+)/g, '"exchangeRate":"$1"'),
      { path: 'data.exchangeRate', expected: 'number', actual: 'string "1500"' },
    ],
    [
      'banks have members in camel case',
      replacing('/api/banks?', '"bank_code"', '"bankCode"'),
      { path: 'data[].bank_code', expected: 'string', actual: 'no such member' },
    ],
    [
      'the addresses in the list of all wallets are an object instead of an array',
      replacing('/api/wallets', /"addresses":\[(\{[^\]]*\})\]/g, '"addresses":$1'),
      { path: 'data[].addresses', expected: 'array' },
    ],
    [
      'the message of a field error has another member name',
      replacing('/api/payouts/validate-address', '"msg":', '"text":'),
      { path: 'errors[].msg', expected: 'string', actual: 'no such member' },
    ],
    [
      'an invalid address is accepted',
      ({ path }, response) =>
        path.endsWith('address=nowhere') ? { status: 200, body: '{"status":"success"}' } : response,
      { path: 'HTTP status', expected: '400', actual: expect.stringMatching(/^200 /) },
    ],
  ]

  test.each(variants)('%s', async (_, variant, expected) => {
    const app = await startMerchant('sqlite')

    const { holds, differences } = await checkContract(clientOf(app, variant), readOnly)

    expect(holds).toBe(false)
    expect(differences).toContainEqual(expect.objectContaining(expected))
    expect(new Set(differences.map(({ path }) => path.split('.').at(-1))).size).toBeLessThan(4)
  })
})

test('`contract check --write` reports a created customer if a member of the address has a name that is not in the contract', async () => {
  const app = await startMerchant('sqlite')
  const client = clientOf(app, (request, response) =>
    request.method === 'POST' && request.path === '/api/business-customers'
      ? { ...response, body: response.body.replace('"street1":', '"street":') }
      : response,
  )

  const { differences } = await checkContract(client, { canWrite: true, payoutAmount: null })

  expect(new Set(differences.map(({ check, path }) => `${check} ${path}`))).toEqual(
    new Set(['POST /api/business-customers data.address.street1', 'POST /api/business-customers data.address.street']),
  )
})

/** Starts the service on a port, and a file with the key of its merchant. */
async function serveMerchant() {
  const app = await startMerchant('sqlite')
  const url = await app.server.listen({ port: 0, host: '127.0.0.1' })
  const place = await createEmptyInstallation()
  const keyFile = join(place.folder, 'key')
  writeFileSync(keyFile, `${app.merchant.apiKey}\n`)
  return { app, url, place, keyFile }
}

test('the command `contract check` compares the server at a URL with the contract, and needs no database', async () => {
  const { url, place, keyFile } = await serveMerchant()

  const { code, json, stderr } = await cli(place, 'contract', 'check', `${url}/api/`, '--key-file', keyFile, '--json')

  expect([code, stderr]).toEqual([0, ''])
  expect(json()).toMatchObject({ holds: true, differences: [] })
})

test('the command `contract check` exits with code 1 and prints each difference', async () => {
  const { url, place, keyFile } = await serveMerchant()
  writeFileSync(keyFile, 'pgw_sandbox_0000000000000000_wrong')

  const { code, stdout } = await cli(place, 'contract', 'check', url, '--key-file', keyFile)

  expect(code).toBe(1)
  expect(stdout).toContain('HTTP status')
  expect(stdout).toContain('INVALID_TOKEN')
})

test.each([
  [['ftp://example.com'], 'must be the URL of a server'],
  [['http://user@example.com'], 'must be the URL of a server'],
  [['http://127.0.0.1:9', '--pay=-1'], '--pay must be a positive decimal number'],
])('the command `contract check` rejects %j', async (words, message) => {
  const { place, keyFile } = await serveMerchant()

  const { code, stderr } = await cli(place, 'contract', 'check', ...words, '--key-file', keyFile)

  expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
})

test('`contract check` sends one request at a time, and after a 429 waits for the time in Retry-After', async () => {
  const { app, url } = await serveMerchant()
  let [open, maxOpen, rejected] = [0, 0, 0]
  const proxy = createServer(async (request, response) => {
    maxOpen = Math.max(maxOpen, ++open)
    response.on('close', () => open--)
    if (rejected === 0) {
      rejected++
      response.writeHead(429, { 'retry-after': '1' }).end()
      return
    }
    const upstream = await fetch(`${url}${request.url}`, {
      headers: { 'x-api-key': String(request.headers['x-api-key'] ?? '') },
    })
    response.writeHead(upstream.status).end(await upstream.text())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void proxy.close())
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`

  const check: ContractCheck = await checkContract(createContractClient(proxyUrl, app.merchant.apiKey), readOnly)

  expect(check.differences).toEqual([])
  expect([rejected, maxOpen]).toEqual([1, 1])
})
