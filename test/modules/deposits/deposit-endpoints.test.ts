import { describe, expect, test } from 'vitest'
import { listWatchedAddresses } from '../../../src/modules/deposits/list-watched-addresses.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngineAndWorkers, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import { ask, hashOf, nodeRail, nodeSecret, refOf, report, sampleReport, signed } from './support/node.ts'

const addressesPath = '/rails/node/addresses'
const depositsPath = '/rails/node/deposits'

/** Every address that there is to watch after a place, by pages of `limit`, and the place after them. */
async function watched(app: App, after = '0', limit = 2) {
  const found: { ref: string; network: string; address: string; asset: string }[] = []
  for (let next = after; ; ) {
    const { body } = await ask(app, `${addressesPath}?after=${next}&limit=${limit}`)
    found.push(...body.data.addresses)
    if (body.data.addresses.length === 0) return { found, next }
    next = body.data.next
  }
}

describe.each(everyEngineAndWorkers)('the addresses to watch on %s', (setup) => {
  test('are those of all merchants, each once, and new ones come after those that are known', async () => {
    const app = await startApp(setup, { rails: [nodeRail] })
    expect(await watched(app)).toEqual({ found: [], next: '0' })
    const wallets = [await app.wallet({ network: 'erc20' }), await app.wallet({ network: 'solana' })]
    await app.wallet({ assetCode: 'NGN' })
    const other = createContext(app.service, (await app.otherMerchant()).id)
    const theirs = await perform(createWallet, other, { currency: 'USDT', description: 'T', network: 'trc20' })

    const all = await watched(app)
    const refs = [...(await Promise.all(wallets.map((id) => refOf(app, id)))), theirs.addresses[0]?.id]
    expect(all.found.map(({ ref }) => ref).toSorted()).toEqual(refs.toSorted())
    expect(all.found.find(({ ref }) => ref === refs[2])).toEqual({
      ...{ ref: refs[2], network: 'trc20', asset: 'USDT' },
      address: theirs.addresses[0]?.address,
    })
    expect(await watched(app, all.next)).toEqual({ found: [], next: all.next })

    const later = await refOf(app, await app.wallet({ network: 'polygon' }))
    expect((await watched(app, all.next)).found).toMatchObject([{ ref: later, network: 'polygon', asset: 'USDC' }])
    expect((await watched(app)).found.map(({ ref }) => ref)).toEqual([...all.found.map(({ ref }) => ref), later])
  })

  test('miss none that are given out while several ask', async () => {
    const app = await startApp(setup, { rails: [nodeRail] })
    const opened = Promise.all(Array.from({ length: 12 }, () => app.wallet({ network: 'erc20' })))
    const seen = new Set<string>()
    const poll = async () => {
      for (let [next, turns] = ['0', 0]; turns < 12; turns++) {
        const { body } = await ask(app, `${addressesPath}?after=${next}&limit=3`)
        for (const { ref } of body.data.addresses) seen.add(ref)
        next = body.data.next
      }
    }
    await Promise.all([poll(), poll(), opened])
    const rest = await watched(app)
    expect(new Set(rest.found.map(({ ref }) => ref)).size).toBe(12)
    expect(rest.found).toHaveLength(12)
    expect(rest.next).toBe('12')
    expect([...seen].every((ref) => rest.found.some((each) => each.ref === ref))).toBe(true)
  })

  test('are refused after what there is not, and by sizes that are none', async () => {
    const app = await startApp(setup, { rails: [nodeRail] })
    await app.wallet({ network: 'erc20' })
    const refused = async (query: string) => {
      const { status, body } = await ask(app, `${addressesPath}?${query}`)
      return [status, ...body.error.details.fields.map(({ field }: { field: string }) => field)]
    }
    expect(await refused('after=2')).toEqual([400, 'after'])
    expect(await refused('after=-1&limit=101')).toEqual([400, 'after', 'limit'])
    expect(await refused('after=1&after=1')).toEqual([400, 'after'])
  })
})

test.each<[after: unknown, message: string]>([
  ['2', 'must be at most 1, the number of the latest address. List all addresses again from 0'],
  ...['1x', 'x1', '01', '1000000000', ' 1', 1, ['1'], null].map((after): [unknown, string] => [
    after,
    'must be the `next` of an earlier list',
  ]),
])('the addresses to watch are not listed after %j, and the refusal says why', async (after, message) => {
  const app = await startApp('sqlite', { rails: [nodeRail] })
  await app.wallet({ network: 'erc20' })
  const { details } = await domainErrorOf(() => listWatchedAddresses(app.service, { after }))
  expect(details.fields).toEqual([{ field: 'after', code: 'INVALID_PARAMETER', message }])
})

test.each([[undefined], [''], ['0']])('the addresses to watch are listed from the first after %j', async (after) => {
  const app = await startApp('sqlite', { rails: [nodeRail] })
  await app.wallet({ network: 'erc20' })
  expect((await listWatchedAddresses(app.service, { after })).addresses).toMatchObject([{ network: 'erc20' }])
})

test('no list says whose an address is', async () => {
  const app = await startApp('sqlite', { rails: [nodeRail] })
  const walletId = await app.wallet({ network: 'erc20' })
  const { text } = await ask(app, addressesPath)
  expect(text).not.toContain(walletId)
  expect(text).not.toContain(app.merchant.id)
  expect((await report(app, sampleReport(await refOf(app, walletId)))).text).not.toMatch(
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
    ['none', post(json), 'MISSING_TOKEN'],
    ['none of a GET', get({}), 'MISSING_TOKEN'],
    ['an API key in its place', get({ 'x-api-key': 'pgw_sandbox_x' }), 'MISSING_TOKEN'],
    ['another secret’s', post(signed(body, stranger)), 'INVALID_TOKEN'],
    ['one of another body', post(signed(`${body} `)), 'INVALID_TOKEN'],
    ['one of six minutes ago', post(signed(body, minutesAgo(6))), 'INVALID_TOKEN'],
    ['one of six minutes ahead', post(signed(body, minutesAgo(-6))), 'INVALID_TOKEN'],
    ['one of another path', get(signed(addressesPath), `${addressesPath}?after=0`), 'INVALID_TOKEN'],
    ['one of nothing', get(signed('')), 'INVALID_TOKEN'],
    ['one under another id', post({ ...signed(body), 'webhook-id': 'msg_2' }), 'INVALID_TOKEN'],
  ] as const)('is required: %s is 401, before anything is read', async (_, [method, path, request], code) => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const before = await readStoredRows(app)
    const answer = await app.rest(method, path, request)
    expect([answer.status, answer.body.error.code]).toEqual([401, code])
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('may stand among others, as in a rotation', async () => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const good = signed(addressesPath)
    const signatures = `v1,AAAA v1a,BBBB ${good['webhook-signature']}`
    expect((await app.rest(...get({ ...good, 'webhook-signature': signatures }))).status).toBe(200)
  })

  test('opens its own rail only, and no other method', async () => {
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

  test('that is wrong is counted by the address that it comes from', async () => {
    const app = await startApp('sqlite', { rails: [nodeRail], rateLimit: 2, clock: () => Date.now() })
    const statuses = []
    for (let i = 0; i < 4; i++) statuses.push((await app.rest(...post(json))).status)
    expect(statuses).toEqual([401, 401, 429, 429])
    expect((await ask(app, addressesPath)).status).toBe(200)
  })
})

describe('a post', () => {
  test('has up to a hundred reports, each answered for itself', async () => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const ref = await refOf(app, await app.wallet({ network: 'erc20' }))
    const dull = (log_index: number, changes = {}) => sampleReport(ref, { log_index, ...changes })
    const { status, body } = await report(app, {
      deposits: [
        dull(0),
        dull(1, { amount: '0' }),
        'nonsense',
        dull(0, { confirmations: 64 }),
        dull(2, { network: 'Erc20' }),
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
            // Of one transfer in their order.
            { status: 'success', data: { log_index: 0, state: 'CONFIRMED' } },
            { status: 'success', data: { log_index: 2, network: 'erc20' } },
          ],
        },
      },
    ])
    for (const deposits of [[], {}, null, Array.from({ length: 101 }, (_, i) => dull(i))]) {
      const refused = await report(app, { deposits })
      expect([refused.status, refused.body.error.details.fields[0].field]).toEqual([400, 'deposits'])
    }
  })

  test.each([
    ['{', 400, 'MALFORMED_JSON'],
    ['', 400, 'INVALID_INPUT'],
    ['[]', 400, 'INVALID_INPUT'],
    ['null', 400, 'INVALID_INPUT'],
    ['{"ref":"a","ref":"b"}', 400, 'INVALID_INPUT'],
    [' '.repeat(256 * 1024 + 1), 413, 'PAYLOAD_TOO_LARGE'],
  ])('that is %j is refused', async (payload, status, code) => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const answer = await app.rest('POST', depositsPath, { key: null, payload, headers: signed(payload) })
    expect([answer.status, answer.body.error.code]).toEqual([status, code])
  })

  test('in another form than JSON is refused', async () => {
    const app = await startApp('sqlite', { rails: [nodeRail] })
    const headers = { ...signed('a=b'), 'content-type': 'application/x-www-form-urlencoded' }
    expect((await app.rest('POST', depositsPath, { key: null, payload: 'a=b', headers })).status).toBe(415)
  })
})

test('a hash is of the network’s own form', async () => {
  const app = await startApp('sqlite', { rails: [nodeRail] })
  const tron = await refOf(app, await app.wallet({ network: 'trc20', assetCode: 'USDT' }))
  const solana = await refOf(app, await app.wallet({ network: 'solana' }))
  const signature = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'
  const hash = hashOf('one').slice(2)
  const seen = async (ref: string, network: string, asset: string, tx_hash: string) =>
    (await report(app, sampleReport(ref, { network, asset, tx_hash }))).body.data?.tx_hash ?? null
  expect(await seen(tron, 'trc20', 'USDT', hash.toUpperCase())).toBe(hash)
  expect(await seen(tron, 'trc20', 'USDT', `0x${hash}`)).toBe(null)
  expect(await seen(solana, 'solana', 'USDC', signature)).toBe(signature)
  expect(await seen(solana, 'solana', 'USDC', signature.slice(2))).toBe(null)
  expect(await seen(solana, 'solana', 'USDC', signature.toLowerCase())).toBe(null)
})
