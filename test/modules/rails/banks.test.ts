import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createWallClock } from '../../../src/core/ids-and-clock.ts'
import { createHttpRail } from '../../../src/modules/rails/adapters/http-rail.ts'
import type { Rail } from '../../../src/modules/rails/adapters/rail.ts'
import { sandboxRail } from '../../../src/modules/rails/adapters/sandbox-rail.ts'
import { createRailBankDirectory } from '../../../src/modules/rails/banks/rail-bank-directory.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { bearerOptions, tokenFor } from '../client-tokens/support/tokens.ts'
import { exampleBanks, placeForBank } from './support/example-bank.ts'

const account = { accountNumber: '0690000032', bankCode: '044' }
const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`

type Answer = { readonly status: number; readonly body?: unknown; readonly isSlow?: true }

/** Starts an HTTP rail whose bank gives one response to everything, and counts the requests. */
async function startBank(bankResponse: Answer) {
  const requests: { method: string; url: string; id: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { method = '', url = '', headers } = request
    requests.push({ method, url, id: String(headers['webhook-id']), body })
    if (!bankResponse.isSlow) response.writeHead(bankResponse.status).end(JSON.stringify(bankResponse.body ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const limits = { connectMs: 2_000, wholeMs: bankResponse.isSlow ? 100 : 5_000 }
  const rail = createHttpRail({
    ...{ name: 'bank', url: `http://127.0.0.1:${port}/v1`, secrets: [secret], wallClock: createWallClock(), limits },
  })
  return { rail, requests }
}

const asRail = (name: string, calls: Partial<Rail>): Rail => ({ ...sandboxRail, name, ...calls })

describe('the bank directory', () => {
  test('queries the rails of banks before the sandbox rail, and caches the list of banks', async () => {
    const list = [
      { bank_code: '2', bank_name: 'Zed' },
      { bank_code: '1', bank_name: 'Alpha' },
    ]
    const { rail, requests } = await startBank({ status: 200, body: { banks: list } })
    const directory = createRailBankDirectory([sandboxRail, rail])
    const lists = await Promise.all([directory.listBanks('NGN'), directory.listBanks('NGN')])
    lists.push(await directory.listBanks('NGN'))
    for (const banks of lists) {
      expect(banks).toEqual([
        { bankCode: '1', bankName: 'Alpha' },
        { bankCode: '2', bankName: 'Zed' },
      ])
    }
    expect(requests).toEqual([{ method: 'GET', url: '/v1/banks/NGN', id: 'banks_NGN', body: '' }])
  })

  test.each([401, 404, 405, 501])(
    'skips a rail that responds with status %i, and does not query it again soon',
    async (status) => {
      const { rail, requests } = await startBank({ status })
      const directory = createRailBankDirectory([rail, sandboxRail])
      for (let i = 0; i < 2; i++) {
        expect(await directory.listBanks('ZAR')).toHaveLength(2)
        expect(await directory.resolveAccount(account)).toEqual({ ...account, accountName: 'ADA OBI' })
      }
      expect(requests.map(({ url }) => url)).toEqual(['/v1/banks/ZAR', '/v1/banks/resolve'])
      const alone = createRailBankDirectory([rail])
      expect(await domainErrorOf(() => alone.listBanks('NGN'))).toMatchObject({ code: 'BANK_LOOKUP_UNAVAILABLE' })
      expect(await domainErrorOf(() => alone.resolveAccount(account))).toMatchObject({
        code: 'BANK_LOOKUP_UNAVAILABLE',
      })
    },
  )

  test('sends the account in a signed body, and rejects a response for a different account', async () => {
    const body = { account_number: '0690000032', bank_code: '044', account_name: 'ADA OBI' }
    const { rail, requests } = await startBank({ status: 200, body })
    const directory = createRailBankDirectory([rail])
    expect(await directory.resolveAccount(account)).toEqual({ ...account, accountName: 'ADA OBI' })
    expect(requests).toMatchObject([
      { method: 'POST', url: '/v1/banks/resolve', body: '{"account_number":"0690000032","bank_code":"044"}' },
    ])
    expect(requests[0]?.id).toMatch(/^resolve_[0-9a-f]{32}$/)
    const other = directory.resolveAccount({ ...account, accountNumber: '0690000099' })
    expect(await domainErrorOf(() => other)).toMatchObject({ code: 'UNAVAILABLE' })
  })

  test.each<[string, Answer]>([
    ['does not respond in time', { status: 200, isSlow: true }],
    ['responds with 500', { status: 500 }],
    ['responds with another body', { status: 200, body: { banks: 'none' } }],
  ])(
    'fails with UNAVAILABLE if the only rail %s, and queries the rail again for the next call',
    async (_, response) => {
      const { rail, requests } = await startBank(response)
      const directory = createRailBankDirectory([rail])
      for (let i = 0; i < 2; i++) {
        expect(await domainErrorOf(() => directory.listBanks('NGN'))).toMatchObject({ code: 'UNAVAILABLE' })
        expect(await domainErrorOf(() => directory.resolveAccount(account))).toMatchObject({ code: 'UNAVAILABLE' })
      }
      expect(requests).toHaveLength(4)
    },
  )

  test('reports an account as not found only if no rail failed', async () => {
    const missing = asRail('one', { resolve: async () => 'NOT_FOUND' })
    const failing = asRail('two', { resolve: () => Promise.reject(new Error('down')) })
    const code = async (...rails: Rail[]) =>
      (await domainErrorOf(() => createRailBankDirectory(rails).resolveAccount(account))).code
    expect(await code(missing)).toBe('RESOURCE_NOT_FOUND')
    expect(await code(missing, failing)).toBe('UNAVAILABLE')
    expect(await code(failing, missing)).toBe('UNAVAILABLE')
    const { rail } = await startBank({ status: 422 })
    expect(await code(rail)).toBe('RESOURCE_NOT_FOUND')
  })

  test('runs at most sixteen account lookups concurrently', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const slow = asRail('slow', { resolve: () => held.then(() => 'NOT_FOUND' as const) })
    const directory = createRailBankDirectory([slow])
    const asked = Array.from({ length: 17 }, () => domainErrorOf(() => directory.resolveAccount(account)))
    expect(await asked[16]).toMatchObject({ code: 'UNAVAILABLE' })
    release()
    for (const error of await Promise.all(asked.slice(0, 16))) expect(error.code).toBe('RESOURCE_NOT_FOUND')
    expect(await domainErrorOf(() => directory.resolveAccount(account))).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  })
})

describe.each(everyEngine)('the endpoints of banks on %s', (engine) => {
  test('allow a merchant all requests, and a customer’s token only the list of banks (ruling 137)', async () => {
    const app = await startApp(engine, { rails: [sandboxRail] })
    const options = bearerOptions(await tokenFor(app, await app.customer()))
    const query = '?account_number=0690000032&bank_code=044'
    const body = { account_number: '0690000032', bank_code: '044' }
    const [byGet, byPost] = [
      await app.rest('GET', `/api/banks/resolve${query}`),
      await app.rest('POST', '/api/banks/resolve', { body, headers: { 'idempotency-key': 'not read' } }),
    ]
    expect([byGet.status, byGet.text === byPost.text]).toEqual([200, true])
    expect(byGet.body.data).toEqual({
      destination_institution_code: '044',
      account_number: '0690000032',
      account_name: 'ADA OBI',
    })
    expect((await app.rest('GET', '/api/banks?currency=ngn', options)).status).toBe(200)
    expect((await app.rest('GET', `/api/banks/resolve${query}`, options)).status).toBe(403)
    expect((await app.rest('POST', '/api/banks/resolve', { ...options, body })).status).toBe(403)
  })
})

test.each(Object.keys(exampleBanks) as (keyof typeof exampleBanks)[])(
  'the example rail server in %s lists banks and resolves accounts',
  async (language) => {
    const bank = await placeForBank(language)
    await bank.start()
    const directory = createRailBankDirectory([createHttpRail({ ...bank.at, wallClock: createWallClock() })])
    expect(await directory.listBanks('NGN')).toContainEqual({ bankCode: '044', bankName: 'Access Bank' })
    expect(await directory.resolveAccount(account)).toEqual({ ...account, accountName: 'ADA OBI' })
    const unknown = directory.resolveAccount({ ...account, bankCode: '999' })
    expect(await domainErrorOf(() => unknown)).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
  },
)
