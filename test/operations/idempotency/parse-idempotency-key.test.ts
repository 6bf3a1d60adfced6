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

/** A key that names no wallet yet creates one; `null` if the key is rejected. */
const createWith = {
  rest: async (app: App, key: string) => {
    const { body } = await app.rest('POST', '/api/wallets', { body: walletBody, headers: { 'idempotency-key': key } })
    return body.data?.id ?? null
  },
  graphql: async (app: App, key: string) => {
    const input = { ...walletBody, network: 'ERC20', idempotencyKey: key }
    return (await app.graphql(createWallet, { input })).data.createWallet.wallet?.uuid ?? null
  },
}

describe.each(everyEngineAndWorkers)('ruling 22: an idempotency key on %s', (engine) => {
  test.each(['rest', 'graphql'] as const)(
    'used in %s has the same effect in both APIs, with or without quotes and spaces around it',
    async (first) => {
      const app = await startApp(engine)
      const walletId = await createWith[first](app, 'abc')
      for (const text of ['abc', '"abc"', ' abc', 'abc  ', '\tabc\t', ' "abc" ', '" abc "', '"abc\t"']) {
        for (const api of ['rest', 'graphql'] as const) {
          expect([api, text, await createWith[api](app, text)]).toEqual([api, text, walletId])
        }
      }
      for (const other of ['abc, abc', 'ABC']) expect(await createWith.rest(app, other)).not.toBe(walletId)
    },
  )

  test('of any text is either accepted by both APIs with the same result, or rejected by both', async () => {
    const app = await startApp(engine)
    const piece = fc.constantFrom('"', '\\', ' ', '\t', ',', 'a', 'é', '\u0001')
    // Sometimes of the maximum length. A header can't carry characters beyond Latin-1.
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: piece, maxLength: 6 }), fc.constant('x'.repeat(256))),
        async (text) => {
          const [restResult, graphqlResult] = [await createWith.rest(app, text), await createWith.graphql(app, text)]
          expect(graphqlResult).toBe(restResult)
          expect(restResult === null).toBe(parseIdempotencyKey('key', text).key === null)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('in two headers is rejected with 400, even if both are equal', async () => {
    const app = await startApp(engine)
    await app.server.listen({ host: '127.0.0.1', port: 0 })
    const { port } = app.server.server.address() as AddressInfo
    const statuses = []
    for (const keys of [['abc', 'abc'], ['abc', 'abd'], ['', 'abc'], ['abc']]) {
      statuses.push(await statusOf(port, app.merchant.apiKey, keys))
    }
    expect(statuses).toEqual([400, 400, 400, 201])
    expect(await createWith.rest(app, 'idempotency-key, a key like the header’s name'.replace('’', "'"))).not.toBeNull()
  })
})

test('parseIdempotencyKey removes spaces and one pair of quotes, and rejects an empty key', () => {
  const keyOf = (text: string) => parseIdempotencyKey('key', text).key
  expect(['abc', '"abc"', ' abc ', '" abc "'].map(keyOf)).toEqual(['abc', 'abc', 'abc', 'abc'])
  // Stored keys must keep their meaning, so other quotes stay.
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

/** Posts a wallet with one header for each key. It builds the request itself, because clients merge such headers. */
function statusOf(port: number, apiKey: string, keys: readonly string[]): Promise<number> {
  const headers = ['x-api-key', apiKey, 'content-type', 'application/json', 'host', `127.0.0.1:${port}`]
  for (const key of keys) headers.push('Idempotency-Key', key)
  return new Promise((resolve, reject) => {
    const postRequest = request({
      port,
      host: '127.0.0.1',
      path: '/api/wallets',
      method: 'POST',
      headers,
      agent: false,
    })
    postRequest.on('response', (response) => resolve(response.resume().statusCode ?? 0)).on('error', reject)
    postRequest.end(JSON.stringify(walletBody))
  })
}
