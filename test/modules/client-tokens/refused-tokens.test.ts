import { generateKeyPairSync, hkdfSync } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { hashSecret } from '../../../src/modules/merchants/api-key.ts'
import type { TokenClaims } from '../../../src/modules/merchants/client-token.ts'
import { signClientToken } from '../../../src/modules/merchants/client-token.ts'
import { revokeKey } from '../../../src/modules/merchants/manage-keys.ts'
import { apiKeyById } from '../../../src/modules/merchants/repository.ts'
import type { App, Setup } from '../../support/app.ts'
import { everyEngineAndWorkers, startApp, testSecrets } from '../../support/app.ts'
import { bearerOptions, newKey, tokenFor } from './support/tokens.ts'

const startsAt = Date.UTC(2030, 0, 1)
const issuedAt = startsAt / 1_000

async function startAt(setup: Setup) {
  let now = startsAt
  const app = await startApp(setup, { clock: () => now })
  const forward = (seconds: number) => {
    now += seconds * 1_000
  }
  return { app, forward }
}

/** The stored key, with which its tokens are signed. */
async function signingKeyOf({ db }: App, apiKey: string) {
  const id = apiKey.split('_')[2] as string
  const key = await apiKeyById(db, { id })
  if (!key) throw new Error(`there is no key ${id}`)
  return key
}

type Changes = Partial<TokenClaims> & { readonly apiKey?: string }

/** A token that is as it should be but for what is changed. */
async function signed(app: App, { apiKey = app.merchant.apiKey, ...changes }: Changes = {}): Promise<string> {
  const claims = { id: 'test', customerId: null, scopes: ['read'] as const, issuedAt, expiresAt: issuedAt + 900 }
  return signClientToken(testSecrets, await signingKeyOf(app, apiKey), { ...claims, ...changes })
}

/** One whose signature has certain characters. */
async function signedWith(app: App, characters: RegExp): Promise<string> {
  for (let id = 0; ; id++) {
    const token = await signed(app, { id: `test ${id}` })
    if (characters.test(token.split('.')[2] ?? '')) return token
  }
}

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

type Header = { readonly alg: string; readonly kid?: string; readonly typ?: string }

/** One that is signed by the right secret, whatever else it says. */
async function signedAs(app: App, header: Header, claims: object): Promise<string> {
  const { id, secretHash } = await signingKeyOf(app, app.merchant.apiKey)
  const salt = testSecrets.derive('client tokens')
  const secret = hkdfSync('sha256', Buffer.from(secretHash, 'hex'), salt, `client token of ${id}`, 32)
  return new SignJWT({ jti: 'test', scope: 'read', iat: issuedAt, exp: issuedAt + 900, ...claims })
    .setProtectedHeader({ kid: id, typ: 'JWT', ...header })
    .sign(
      header.alg === 'RS256' ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey : new Uint8Array(secret),
    )
}

/** A token with one of its three parts made of another. */
function changed(token: string, place: 0 | 1 | 2, change: (part: string) => string): string {
  return token
    .split('.')
    .map((part, i) => (i === place ? change(part) : part))
    .join('.')
}

const asJson = (change: object) => (part: string) => {
  const said = JSON.parse(Buffer.from(part, 'base64url').toString())
  return Buffer.from(JSON.stringify({ ...said, ...change })).toString('base64url')
}

const flipped = (part: string) => `${part.startsWith('A') ? 'B' : 'A'}${part.slice(1)}`
const hs256 = { alg: 'HS256' }
const wrong: Record<string, (app: App) => Promise<string>> = {
  'another payload': async (app) => changed(await signed(app), 1, asJson({ scope: 'read payouts' })),
  'another customer': async (app) => changed(await tokenFor(app, await app.customer()), 1, asJson({ sub: undefined })),
  'another signature': async (app) => changed(await signed(app), 2, flipped),
  'a padded signature': async (app) => changed(await signed(app), 2, (part) => `${part}=`),
  'a signature in the other alphabet of base64': async (app) =>
    changed(await signedWith(app, /[-_]/), 2, (part) => part.replaceAll('-', '+').replaceAll('_', '/')),
  'a signature with a blank in it': async (app) =>
    changed(await signed(app), 2, (part) => `${part.slice(0, 9)} ${part.slice(9)}`),
  'no signature': async (app) => changed(await signed(app), 2, () => ''),
  'another header': async (app) => changed(await signed(app), 0, asJson({ cty: 'x' })),
  'two parts': async (app) => (await signed(app)).split('.').slice(0, 2).join('.'),
  'no algorithm': async (app) => changed(changed(await signed(app), 0, asJson({ alg: 'none' })), 2, () => ''),
  'no algorithm, and a signature': async (app) => changed(await signed(app), 0, asJson({ alg: 'none' })),
  HS384: (app) => signedAs(app, { alg: 'HS384' }, {}),
  HS512: (app) => signedAs(app, { alg: 'HS512' }, {}),
  RS256: (app) => signedAs(app, { alg: 'RS256' }, {}),
  'another type': (app) => signedAs(app, { ...hs256, typ: 'at+jwt' }, {}),
  'another key of the merchant': async (app) => {
    const { id } = await newKey(app, { scopes: ['read'] })
    return changed(await signed(app), 0, asJson({ kid: id }))
  },
  'a key that is not there': async (app) => changed(await signed(app), 0, asJson({ kid: '0123456789abcdef' })),
  // Signed with the public stand-in hash that tokens of unknown keys are verified with.
  'a key that is not there, whose hash can be read here': () => {
    const secretHash = hashSecret('no key has this secret, because it is not hexadecimal')
    const claims = { id: 'test', customerId: null, scopes: ['read'] as const, issuedAt, expiresAt: issuedAt + 900 }
    return signClientToken(testSecrets, { id: '0000000000000000', secretHash }, claims)
  },
  'no key': async (app) => changed(await signed(app), 0, asJson({ kid: undefined })),
  'a key in a list': async (app) => {
    const { id } = await signingKeyOf(app, app.merchant.apiKey)
    return changed(await signed(app), 0, asJson({ kid: [id] }))
  },
  'a key that is no text': async (app) => changed(await signed(app), 0, asJson({ kid: { id: true } })),
  'a key with a NUL': async (app) => changed(await signed(app), 0, asJson({ kid: '\u0000' })),
  'a key that is no id': async (app) => changed(await signed(app), 0, asJson({ kid: "' or 1=1" })),
  'a time of more than a day': (app) => signed(app, { expiresAt: issuedAt + 86_401 }),
  'a time that is over': (app) => signed(app, { issuedAt: issuedAt - 900, expiresAt: issuedAt }),
  'a beginning more than a minute from now': (app) =>
    signed(app, { issuedAt: issuedAt + 61, expiresAt: issuedAt + 900 }),
  'no time': (app) => signedAs(app, hs256, { exp: undefined }),
  'no beginning': (app) => signedAs(app, hs256, { iat: undefined }),
  'no id': (app) => signedAs(app, hs256, { jti: undefined }),
  'no scope': (app) => signedAs(app, hs256, { scope: undefined }),
  'an empty scope': (app) => signedAs(app, hs256, { scope: '' }),
  'an unknown scope': (app) => signedAs(app, hs256, { scope: 'read everything' }),
  'a customer that is no id': (app) => signedAs(app, hs256, { sub: 'me' }),
  'more scope than its key': async (app) => {
    const { apiKey } = await newKey(app, { scopes: ['read', 'wallets'] })
    return signed(app, { apiKey, scopes: ['read', 'payouts'] })
  },
  'a revoked key': async (app) => {
    const { id, apiKey } = await newKey(app, { scopes: ['read'] })
    const token = await tokenFor(app, null, ['read'], { key: apiKey })
    expect((await app.rest('GET', '/api/wallets', bearerOptions(token))).status).toBe(200)
    await revokeKey(app.service, id)
    return token
  },
}

/** What both doors answer to who bears a token. */
async function answersTo(app: App, token: string) {
  const rest = await app.rest('GET', '/api/wallets', bearerOptions(token))
  const graphql = await app.graphql('{ wallets { totalCount } }', {}, bearerOptions(token))
  return [rest.status, rest.body.error?.code, graphql.status, graphql.errors[0]?.extensions.code]
}

const admitted = [200, undefined, 200, undefined]
const refused = [401, 'INVALID_TOKEN', 401, 'INVALID_TOKEN']

describe.each(everyEngineAndWorkers)('a token on %s', (setup) => {
  test('is taken as it was made', async () => {
    const { app } = await startAt(setup)
    expect(await answersTo(app, await signed(app))).toEqual(admitted)
    expect(await answersTo(app, await signedAs(app, hs256, {}))).toEqual(admitted)
    const byClockAhead = { issuedAt: issuedAt + 60, expiresAt: issuedAt + 60 + 86_400 }
    expect(await answersTo(app, await signed(app, byClockAhead))).toEqual(admitted)
    expect(await answersTo(app, await tokenFor(app, await app.customer()))).toEqual(admitted)
  })

  test('is refused by both doors as a wrong key is, whatever is wrong with it', async () => {
    const { app } = await startAt(setup)
    for (const [what, make] of Object.entries(wrong)) {
      const token = await make(app)
      expect([what, await answersTo(app, token)]).toEqual([what, refused])
      expect([what, await answersTo(app, token)]).toEqual([what, refused])
    }
  })

  test('has one spelling: of the 64 last characters that its signature could have, its own alone is taken', async () => {
    const { app } = await startAt(setup)
    const token = await signed(app)
    const taken: string[] = []
    for (const last of base64url) {
      const spelt = changed(token, 2, (part) => part.slice(0, -1) + last)
      const answers = await answersTo(app, spelt)
      if (answers[0] === 200) taken.push(spelt)
      else expect([last, answers]).toEqual([last, refused])
    }
    expect(taken).toEqual([token])
  })

  test('ends with its time, and with that of its key', async () => {
    const { app, forward } = await startAt(setup)
    const minute = await tokenFor(app, null, ['read'], { expiresIn: 60 })
    const expiresAt = new Date(startsAt + 120_000).toISOString()
    const { apiKey } = await newKey(app, { scopes: ['read'], expiresAt })
    const ofKey = await tokenFor(app, null, ['read'], { key: apiKey, expiresIn: 3_600 })
    forward(59)
    expect(await answersTo(app, minute)).toEqual(admitted)
    forward(1)
    expect(await answersTo(app, minute)).toEqual(refused)
    forward(59)
    expect(await answersTo(app, ofKey)).toEqual(admitted)
    forward(1)
    expect(await answersTo(app, ofKey)).toEqual(refused)
    expect((await app.rest('GET', '/api/wallets', { key: apiKey })).status).toBe(401)
  })

  test('of another merchant’s customer is not made, nor one that may more than its key, nor one by a token', async () => {
    const { app } = await startAt(setup)
    const other = await app.otherMerchant()
    const customerId = await app.customer()
    const restricted = await newKey(app, { scopes: ['read', 'wallets'] })
    const token = await tokenFor(app, null, ['read', 'customers'])
    const ofCustomer = await tokenFor(app, customerId)
    type Case = [status: number, code: string, body: { customer_id?: string; scopes: string[] }, by: object]
    const cases: Case[] = [
      [404, 'RESOURCE_NOT_FOUND', { customer_id: customerId, scopes: ['read'] }, { key: other.apiKey }],
      [403, 'INSUFFICIENT_SCOPE', { scopes: ['read', 'payouts'] }, { key: restricted.apiKey }],
      [403, 'INSUFFICIENT_SCOPE', { scopes: ['read'] }, bearerOptions(token)],
      [403, 'INSUFFICIENT_SCOPE', { customer_id: customerId, scopes: ['read'] }, bearerOptions(ofCustomer)],
    ]
    for (const [status, code, body, by] of cases) {
      const rest = await app.rest('POST', '/api/client-tokens', { ...by, body })
      expect([rest.status, rest.body.error.code]).toEqual([status, code])
      const input = { customerId: body.customer_id, scopes: body.scopes.map((scope) => scope.toUpperCase()) }
      const { data, errors } = await app.graphql(
        'mutation($input: CreateClientTokenInput!) { createClientToken(input: $input) { ... on UserError { code } } }',
        { input },
        by,
      )
      expect(errors[0]?.extensions.code ?? data.createClientToken.code).toBe(code)
    }
  })
})
