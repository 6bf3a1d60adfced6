import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseIdempotencyKey } from '../../../src/core/input.ts'
import type { App } from '../../support/app.ts'
import { everyEngineAndWorkers, startApp } from '../../support/app.ts'

const walletBody = { currency: 'USDC', description: 'Main', network: 'erc20' }
const createWallet = `mutation($input: CreateWalletInput!) { createWallet(input: $input) {
  ... on CreateWalletPayload { wallet { uuid } } ... on InvalidInputError { fields { field message } } } }`

/** The wallet that a key names, made by the first who says it; `null` where the key is refused. */
const makers = {
  rest: async (app: App, key: string) => {
    const { body } = await app.rest('POST', '/api/wallets', { body: walletBody, headers: { 'idempotency-key': key } })
    return body.data?.id ?? null
  },
  graphql: async (app: App, key: string) => {
    const input = { ...walletBody, network: 'ERC20', idempotencyKey: key }
    return (await app.graphql(createWallet, { input })).data.createWallet.wallet?.uuid ?? null
  },
}

// Ruling 22: both doors take the same text for the same key.
describe.each(everyEngineAndWorkers)('ruling 22: an idempotency key on %s', (engine) => {
  test.each(['rest', 'graphql'] as const)('is the same however it is written, first at %s', async (first) => {
    const app = await startApp(engine)
    const made = await makers[first](app, 'abc')
    for (const text of ['abc', '"abc"', ' abc', 'abc  ', '\tabc\t', ' "abc" ', '" abc "', '"abc\t"']) {
      for (const door of ['rest', 'graphql'] as const) {
        expect([door, text, await makers[door](app, text)]).toEqual([door, text, made])
      }
    }
    for (const other of ['abc, abc', 'ABC']) expect(await makers.rest(app, other)).not.toBe(made)
  })

  test('is refused by both doors or by none, and names the same thing at both', async () => {
    const app = await startApp(engine)
    const piece = fc.constantFrom('"', '\\', ' ', '\t', ',', 'a', 'é', '\u0001')
    // As long as may be now and then; a header can't carry what is beyond Latin-1.
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: piece, maxLength: 6 }), fc.constant('x'.repeat(256))),
        async (text) => {
          const [atRest, atGraphql] = [await makers.rest(app, text), await makers.graphql(app, text)]
          expect(atGraphql).toBe(atRest)
          expect(atRest === null).toBe(parseIdempotencyKey('key', text).key === null)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('that is sent twice is 400 and makes nothing, also where both are the same', async () => {
    const app = await startApp(engine)
    await app.server.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.server.address() as AddressInfo
    const statuses = []
    for (const keys of [['abc', 'abc'], ['abc', 'abd'], ['', 'abc'], ['abc']]) {
      statuses.push(await statusOf(port, app.merchant.apiKey, keys))
    }
    expect(statuses).toEqual([400, 400, 400, 201])
    expect(await makers.rest(app, 'idempotency-key, a key like the header’s name'.replace('’', "'"))).not.toBeNull()
  })
})

test('is what is left without spaces and one pair of quotes, and is not empty', () => {
  const keyOf = (text: string) => parseIdempotencyKey('key', text).key
  expect(['abc', '"abc"', ' abc ', '" abc "'].map(keyOf)).toEqual(['abc', 'abc', 'abc', 'abc'])
  // As they were read before: a key that is stored must not come to mean another.
  expect(['"abc', 'abc"', 'a"b', '"a"b"', '""a""', '"a\\"b"'].map(keyOf)).toEqual([
    '"abc',
    'abc"',
    'a"b',
    'a"b',
    '"a"',
    'a\\"b',
  ])
  expect(['', ' ', '""', '" "', '\n', 'a\nb', 'é', 'x'.repeat(256), `a${' '.repeat(200_000)}b`].map(keyOf)).toEqual(
    Array(9).fill(null),
  )
  expect(keyOf(`"${'x'.repeat(255)}"`)).toBe('x'.repeat(255))
})

/** Posts a wallet with the header sent once for each key, as only a client of its own does. */
function statusOf(port: number, apiKey: string, keys: readonly string[]): Promise<number> {
  const headers = ['x-api-key', apiKey, 'content-type', 'application/json', 'host', `127.0.0.1:${port}`]
  for (const key of keys) headers.push('Idempotency-Key', key)
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path: '/api/wallets', method: 'POST', headers, agent: false })
    sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0)).on('error', reject)
    sent.end(JSON.stringify(walletBody))
  })
}
