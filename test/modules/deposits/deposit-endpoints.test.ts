import { describe, expect, test } from 'vitest'
import { listWatchedAddresses } from '../../../src/modules/deposits/list-watched-addresses.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngineAndWorkers, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import { ask, hashOf, nodeRail, nodeSecret, postReport, refOf, sampleReport, signed } from './support/node.ts'

const addressesPath = '/rails/node/addresses'
const depositsPath = '/rails/node/deposits'

/** Lists every watched address after a cursor by pages of `limit`, and returns them with the last cursor. */
async function listWatched(app: App, after = '0', limit = 2) {
  const addresses: { ref: string; network: string; address: string; asset: string }[] = []
  for (let next = after; ; ) {
    const { body } = await ask(app, `${addressesPath}?after=${next}&limit=${limit}`)
    addresses.push(...body.data.addresses)
    if (body.data.addresses.length === 0) return { addresses, next }
    next = body.data.next
  }
}

describe.each(everyEngineAndWorkers)('the list of watched addresses on %s', (setup) => {
  test('contains each address of all merchants once, with new addresses at the end', async () => {
    const app = await startApp(setup, { rails: [nodeRail] })
    expect(await listWatched(app)).toEqual({ addresses: [], next: '0' })
    const wallets = [await app.wallet({ network: 'erc20' }), await app.wallet({ network: 'solana' })]
    await app.wallet({ assetCode: 'NGN' })
    const other = createContext(app.service, (await app.otherMerchant()).id)
    const otherWallet = await perform(createWallet, other, { currency: 'USDT', description: 'T', network: 'trc20' })

    const all = await listWatched(app)
    const refs = [...(await Promise.all(wallets.map((id) => refOf(app, id)))), otherWallet.addresses[0]?.id]
    expect(all.addresses.map(({ ref }) => ref).toSorted()).toEqual(refs.toSorted())
    expect(all.addresses.find(({ ref }) => ref === refs[2])).toEqual({
      ...{ ref: refs[2], network: 'trc20', asset: 'USDT' },
      address: otherWallet.addresses[0]?.address,
    })
    expect(await listWatched(app, all.next)).toEqual({ addresses: [], next: all.next })

    const later = await refOf(app, await app.wallet({ network: 'polygon' }))
    expect((await listWatched(app, all.next)).addresses).toMatchObject([
      { ref: later, network: 'polygon', asset: 'USDC' },
    ])
    expect((await listWatched(app)).addresses.map(({ ref }) => ref)).toEqual([
      ...all.addresses.map(({ ref }) => ref),
      later,
    ])
  })

  test('misses no address that is assigned during concurrent polls', async () => {
    const app = await startApp(setup, { rails: [nodeRail] })
    const opened = Promise.all(Array.from({ length: 12 }, () => app.wallet({ network: 'erc20' })))
    const polledRefs = new Set<string>()
    const poll = async () => {
      for (let [next, polls] = ['0', 0]; polls < 12; polls++) {
        const { body } = await ask(app, `${addressesPath}?after=${next}&limit=3`)
        for (const { ref } of body.data.addresses) polledRefs.add(ref)
        next = body.data.next
      }
    }
    await Promise.all([poll(), poll(), opened])
    const rest = await listWatched(app)
    expect(new Set(rest.addresses.map(({ ref }) => ref)).size).toBe(12)
    expect(rest.addresses).toHaveLength(12)
    expect(rest.next).toBe('12')
    expect([...polledRefs].every((ref) => rest.addresses.some((each) => each.ref === ref))).toBe(true)
  })

  test('rejects unknown cursors and invalid limits', async () => {
    const app = await startApp(setup, { rails: [nodeRail] })
    await app.wallet({ network: 'erc20' })
    const invalidFields = async (query: string) => {
      const { status, body } = await ask(app, `${addressesPath}?${query}`)
      return [status, ...body.error.details.fields.map(({ field }: { field: string }) => field)]
    }
    expect(await invalidFields('after=2')).toEqual([400, 'after'])
    expect(await invalidFields('after=-1&limit=101')).toEqual([400, 'after', 'limit'])
    expect(await invalidFields('after=1&after=1')).toEqual([400, 'after'])
  })
})

test.each<[after: unknown, message: string]>([
  ['2', 'must be at most 1, the number of the latest address. List all addresses again from 0'],
  ...['1x', 'x1', '01', '1000000000', ' 1', 1, ['1'], null].map((after): [unknown, string] => [
    after,
    'must be the `next` of an earlier list',
  ]),
])('listWatchedAddresses rejects the invalid cursor %j and explains why', async (after, message) => {
  const app = await startApp('sqlite', { rails: [nodeRail] })
  await app.wallet({ network: 'erc20' })
  const { details } = await domainErrorOf(() => listWatchedAddresses(app.service, { after }))
  expect(details.fields).toEqual([{ field: 'after', code: 'INVALID_PARAMETER', message }])
})

test.each([[undefined], [''], ['0']])(
  'listWatchedAddresses starts with the first address for the cursor %j',
  async (after) => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    await app.wallet({ network: 'erc20' })
    expect((await listWatchedAddresses(app.service, { after })).addresses).toMatchObject([{ network: 'erc20' }])
  },
)

test('neither the list of watched addresses nor the response to a deposit report reveals the owner of an address', async () => {
  const app = await startApp('sqlite', { rails: [nodeRail] })
  const walletId = await app.wallet({ network: 'erc20' })
  const { text } = await ask(app, addressesPath)
  expect(text).not.toContain(walletId)
  expect(text).not.toContain(app.merchant.id)
  expect((await postReport(app, sampleReport(await refOf(app, walletId)))).text).not.toMatch(
    new RegExp(`${walletId}|${app.merchant.id}`),
  )
})

describe('a rail’s signature', () => {
  const body = JSON.stringify(sampleReport('ref'))
  const get = (headers: Record<string, string>, path = addressesPath) => ['GET', path, { key: null, headers }] as const
  const post = (headers: Record<string, string>, payload = body) =>
    ['POST', depositsPath, { key: null, headers, payload }] as const
  const minutesAgo = (minutes: number) => ({ at: new Date(Date.now() - minutes * 60_000) })
  const json = { 'content-type': 'application/json' }
  const stranger = { secret: nodeSecret.replace(/.{6}$/, 'AAAAA=') }

  test.each([
    ['no signature', post(json), 'MISSING_TOKEN'],
    ['no signature of a GET', get({}), 'MISSING_TOKEN'],
    ['an API key instead', get({ 'x-api-key': 'pgw_sandbox_x' }), 'MISSING_TOKEN'],
    ['a signature by another secret', post(signed(body, stranger)), 'INVALID_TOKEN'],
    ['a signature of another body', post(signed(`${body} `)), 'INVALID_TOKEN'],
    ['a signature six minutes old', post(signed(body, minutesAgo(6))), 'INVALID_TOKEN'],
    ['a signature six minutes ahead', post(signed(body, minutesAgo(-6))), 'INVALID_TOKEN'],
    ['a signature of another path', get(signed(addressesPath), `${addressesPath}?after=0`), 'INVALID_TOKEN'],
    ['a signature of an empty path', get(signed('')), 'INVALID_TOKEN'],
    ['a signature under another id', post({ ...signed(body), 'webhook-id': 'msg_2' }), 'INVALID_TOKEN'],
  ] as const)(
    'is required, so a request with %s is rejected with 401 and changes nothing',
    async (_, [method, path, request], code) => {
      const app = await startApp('sqlite', { rails: [nodeRail] })
      const before = await readStoredRows(app)
      const response = await app.rest(method, path, request)
      expect([response.status, response.body.error.code]).toEqual([401, code])
      expect(await readStoredRows(app)).toEqual(before)
    },
  )

  test('is accepted if the header also contains invalid signatures, as during a rotation of secrets', async () => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const good = signed(addressesPath)
    const signatures = `v1,AAAA v1a,BBBB ${good['webhook-signature']}`
    expect((await app.rest(...get({ ...good, 'webhook-signature': signatures }))).status).toBe(200)
  })

  test('gives access only to its own rail, and only with the allowed HTTP methods', async () => {
    const app = await startApp('sqlite', {
      rails: [nodeRail, { ...nodeRail, name: 'silent', reports: undefined } as never],
    })
    for (const name of ['other', 'silent', 'Node', '%2e']) {
      const path = `/rails/${name}/addresses`
      expect((await app.rest('GET', path, { key: null, headers: signed(path) })).status).toBe(404)
      const posted = { key: null, headers: signed(body), payload: body }
      expect((await app.rest('POST', `/rails/${name}/deposits`, posted)).status).toBe(404)
    }
    const { status, headers } = await app.rest('POST', addressesPath, { key: null })
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD'])
    expect((await app.rest('GET', depositsPath, { key: null })).status).toBe(405)
  })

  test('that is invalid counts against the rate limit of the client address', async () => {
    const app = await startApp('sqlite', { rails: [nodeRail], rateLimit: 2, clock: () => Date.now() })
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await app.rest(...post(json))).status)
    expect(statuses).toEqual([401, 401, 429, 429])
    expect((await ask(app, addressesPath)).status).toBe(200)
  })
})

describe('a POST of deposit reports', () => {
  test('accepts up to a hundred reports and returns one result for each report', async () => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const ref = await refOf(app, await app.wallet({ network: 'erc20' }))
    const reportWith = (log_index: number, changes = {}) => sampleReport(ref, { log_index, ...changes })
    const { status, body } = await postReport(app, {
      deposits: [
        reportWith(0),
        reportWith(1, { amount: '0' }),
        'nonsense',
        reportWith(0, { confirmations: 64 }),
        reportWith(2, { network: 'Erc20' }),
      ],
    })
    expect([status, body]).toMatchObject([
      200,
      {
        status: 'success',
        data: {
          deposits: [
            { status: 'success', data: { log_index: 0, state: 'DETECTED' } },
            {
              status: 'failed',
              error: {
                ...{
                  code: 'INVALID_INPUT',
                  message: 'amount must be above zero.',
                },
                details: { fields: [{ field: 'amount', code: 'INVALID_FORMAT' }] },
              },
            },
            { status: 'failed', error: { details: { fields: [{ field: 'body' }] } } },
            { status: 'success', data: { log_index: 0, state: 'CONFIRMED' } },
            { status: 'success', data: { log_index: 2, network: 'erc20' } },
          ],
        },
      },
    ])
    for (const deposits of [[], {}, null, Array.from({ length: 101 }, (_, i) => reportWith(i))]) {
      const rejected = await postReport(app, { deposits })
      expect([rejected.status, rejected.body.error.details.fields[0].field]).toEqual([400, 'deposits'])
    }
  })

  test.each([
    ['{', 400, 'MALFORMED_JSON'],
    ['', 400, 'INVALID_INPUT'],
    ['[]', 400, 'INVALID_INPUT'],
    ['null', 400, 'INVALID_INPUT'],
    ['{"ref":"a","ref":"b"}', 400, 'INVALID_INPUT'],
    [' '.repeat(256 * 1024 + 1), 413, 'PAYLOAD_TOO_LARGE'],
  ])('is rejected if its body is malformed or too large: case %#', async (payload, status, code) => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const response = await app.rest('POST', depositsPath, { key: null, payload, headers: signed(payload) })
    expect([response.status, response.body.error.code]).toEqual([status, code])
  })

  test('is rejected if its content type is not JSON', async () => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const headers = { ...signed('a=b'), 'content-type': 'application/x-www-form-urlencoded' }
    expect((await app.rest('POST', depositsPath, { key: null, payload: 'a=b', headers })).status).toBe(415)
  })
})

test('a reported transaction hash must have the format of its network', async () => {
  const app = await startApp('sqlite', { rails: [nodeRail] })
  const tron = await refOf(app, await app.wallet({ network: 'trc20', assetCode: 'USDT' }))
  const solana = await refOf(app, await app.wallet({ network: 'solana' }))
  const signature = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'
  const hash = hashOf('one').slice(2)
  const reportedHash = async (ref: string, network: string, asset: string, tx_hash: string) =>
    (await postReport(app, sampleReport(ref, { network, asset, tx_hash }))).body.data?.tx_hash ?? null
  expect(await reportedHash(tron, 'trc20', 'USDT', hash.toUpperCase())).toBe(hash)
  expect(await reportedHash(tron, 'trc20', 'USDT', `0x${hash}`)).toBe(null)
  expect(await reportedHash(solana, 'solana', 'USDC', signature)).toBe(signature)
  expect(await reportedHash(solana, 'solana', 'USDC', signature.slice(2))).toBe(null)
  expect(await reportedHash(solana, 'solana', 'USDC', signature.toLowerCase())).toBe(null)
})
