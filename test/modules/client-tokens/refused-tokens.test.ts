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
  let nowMs = startsAt
  const app = await startApp(setup, { clock: () => nowMs })
  const advanceSeconds = (seconds: number) => {
    nowMs += seconds * 1_000
  }
  return { app, advanceSeconds }
}

async function signingKeyOf({ db }: App, apiKey: string) {
  const id = apiKey.split('_')[2] as string
  const key = await apiKeyById(db, { id })
  if (!key) throw new Error(`there is no key ${id}`)
  return key
}

type TokenChanges = Partial<TokenClaims> & { readonly apiKey?: string }

/** Signs a token that is valid except for `changes`. */
async function signedToken(app: App, { apiKey = app.merchant.apiKey, ...changes }: TokenChanges = {}): Promise<string> {
  const claims = { id: 'test', customerId: null, scopes: ['read'] as const, issuedAt, expiresAt: issuedAt + 900 }
  return signClientToken(testSecrets, await signingKeyOf(app, apiKey), { ...claims, ...changes })
}

async function tokenWithSignature(app: App, characters: RegExp): Promise<string> {
  for (let id = 0; ; id++) {
    const token = await signedToken(app, { id: `test ${id}` })
    if (characters.test(token.split('.')[2] ?? '')) return token
  }
}

const base64url = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

type Header = { readonly alg: string; readonly kid?: string; readonly typ?: string }

/** Signs any header and claims with the right secret. */
async function signToken(app: App, header: Header, claims: object): Promise<string> {
  const { id, secretHash } = await signingKeyOf(app, app.merchant.apiKey)
  const salt = testSecrets.derive('client tokens')
  const secret = hkdfSync('sha256', Buffer.from(secretHash, 'hex'), salt, `client token of ${id}`, 32)
  return new SignJWT({ jti: 'test', scope: 'read', iat: issuedAt, exp: issuedAt + 900, ...claims })
    .setProtectedHeader({ kid: id, typ: 'JWT', ...header })
    .sign(
      header.alg === 'RS256' ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey : new Uint8Array(secret),
    )
}

function changePart(token: string, index: 0 | 1 | 2, change: (part: string) => string): string {
  return token
    .split('.')
    .map((part, i) => (i === index ? change(part) : part))
    .join('.')
}

const mergeJson = (change: object) => (part: string) => {
  const decoded = JSON.parse(Buffer.from(part, 'base64url').toString())
  return Buffer.from(JSON.stringify({ ...decoded, ...change })).toString('base64url')
}

const flipFirst = (part: string) => `${part.startsWith('A') ? 'B' : 'A'}${part.slice(1)}`
const hs256 = { alg: 'HS256' }
const invalidTokens: Record<string, (app: App) => Promise<string>> = {
  'another payload': async (app) => changePart(await signedToken(app), 1, mergeJson({ scope: 'read payouts' })),
  'another customer': async (app) =>
    changePart(await tokenFor(app, await app.customer()), 1, mergeJson({ sub: undefined })),
  'another signature': async (app) => changePart(await signedToken(app), 2, flipFirst),
  'a padded signature': async (app) => changePart(await signedToken(app), 2, (part) => `${part}=`),
  'a signature in standard base64': async (app) =>
    changePart(await tokenWithSignature(app, /[-_]/), 2, (part) => part.replaceAll('-', '+').replaceAll('_', '/')),
  'a signature with a space': async (app) =>
    changePart(await signedToken(app), 2, (part) => `${part.slice(0, 9)} ${part.slice(9)}`),
  'no signature': async (app) => changePart(await signedToken(app), 2, () => ''),
  'another header': async (app) => changePart(await signedToken(app), 0, mergeJson({ cty: 'x' })),
  'two parts': async (app) => (await signedToken(app)).split('.').slice(0, 2).join('.'),
  'no algorithm': async (app) =>
    changePart(changePart(await signedToken(app), 0, mergeJson({ alg: 'none' })), 2, () => ''),
  'no algorithm, and a signature': async (app) => changePart(await signedToken(app), 0, mergeJson({ alg: 'none' })),
  HS384: (app) => signToken(app, { alg: 'HS384' }, {}),
  HS512: (app) => signToken(app, { alg: 'HS512' }, {}),
  RS256: (app) => signToken(app, { alg: 'RS256' }, {}),
  'another token type': (app) => signToken(app, { ...hs256, typ: 'at+jwt' }, {}),
  'another key of the merchant': async (app) => {
    const { id } = await newKey(app, { scopes: ['read'] })
    return changePart(await signedToken(app), 0, mergeJson({ kid: id }))
  },
  'an unknown key': async (app) => changePart(await signedToken(app), 0, mergeJson({ kid: '0123456789abcdef' })),
  // Signed with the public stand-in hash that the server uses for unknown keys.
  'an unknown key with the stand-in hash': () => {
    const secretHash = hashSecret('no key has this secret, because it is not hexadecimal')
    const claims = { id: 'test', customerId: null, scopes: ['read'] as const, issuedAt, expiresAt: issuedAt + 900 }
    return signClientToken(testSecrets, { id: '0000000000000000', secretHash }, claims)
  },
  'no key': async (app) => changePart(await signedToken(app), 0, mergeJson({ kid: undefined })),
  'a key in a list': async (app) => {
    const { id } = await signingKeyOf(app, app.merchant.apiKey)
    return changePart(await signedToken(app), 0, mergeJson({ kid: [id] }))
  },
  'a key that is no string': async (app) => changePart(await signedToken(app), 0, mergeJson({ kid: { id: true } })),
  'a key with a NUL': async (app) => changePart(await signedToken(app), 0, mergeJson({ kid: '\u0000' })),
  'a key that is no id': async (app) => changePart(await signedToken(app), 0, mergeJson({ kid: "' or 1=1" })),
  'a lifetime above one day': (app) => signedToken(app, { expiresAt: issuedAt + 86_401 }),
  'an expired token': (app) => signedToken(app, { issuedAt: issuedAt - 900, expiresAt: issuedAt }),
  'an issue time more than a minute ahead': (app) =>
    signedToken(app, { issuedAt: issuedAt + 61, expiresAt: issuedAt + 900 }),
  'no expiry': (app) => signToken(app, hs256, { exp: undefined }),
  'no issue time': (app) => signToken(app, hs256, { iat: undefined }),
  'no id': (app) => signToken(app, hs256, { jti: undefined }),
  'no scope': (app) => signToken(app, hs256, { scope: undefined }),
  'an empty scope': (app) => signToken(app, hs256, { scope: '' }),
  'an unknown scope': (app) => signToken(app, hs256, { scope: 'read everything' }),
  'a customer that is no UUID': (app) => signToken(app, hs256, { sub: 'me' }),
  'a scope that its key lacks': async (app) => {
    const { apiKey } = await newKey(app, { scopes: ['read', 'wallets'] })
    return signedToken(app, { apiKey, scopes: ['read', 'payouts'] })
  },
  'a revoked key': async (app) => {
    const { id, apiKey } = await newKey(app, { scopes: ['read'] })
    const token = await tokenFor(app, null, ['read'], { key: apiKey })
    expect((await app.rest('GET', '/api/wallets', bearerOptions(token))).status).toBe(200)
    await revokeKey(app.service, id)
    return token
  },
}

/** Sends a REST and a GraphQL request with the token. Returns both statuses and error codes. */
async function responsesTo(app: App, token: string) {
  const rest = await app.rest('GET', '/api/wallets', bearerOptions(token))
  const graphql = await app.graphql('{ wallets { totalCount } }', {}, bearerOptions(token))
  return [rest.status, rest.body.error?.code, graphql.status, graphql.errors[0]?.extensions.code]
}

const accepted = [200, undefined, 200, undefined]
const rejected = [401, 'INVALID_TOKEN', 401, 'INVALID_TOKEN']

describe.each(everyEngineAndWorkers)('a client token on %s', (setup) => {
  test('is accepted with valid claims, even if its issue time is up to a minute ahead (clock skew)', async () => {
    const { app } = await startAt(setup)
    expect(await responsesTo(app, await signedToken(app))).toEqual(accepted)
    expect(await responsesTo(app, await signToken(app, hs256, {}))).toEqual(accepted)
    const withClockSkew = { issuedAt: issuedAt + 60, expiresAt: issuedAt + 60 + 86_400 }
    expect(await responsesTo(app, await signedToken(app, withClockSkew))).toEqual(accepted)
    expect(await responsesTo(app, await tokenFor(app, await app.customer()))).toEqual(accepted)
  })

  test('is rejected with INVALID_TOKEN by REST and GraphQL if its header, claims or signature are invalid', async () => {
    const { app } = await startAt(setup)
    for (const [defect, createToken] of Object.entries(invalidTokens)) {
      const token = await createToken(app)
      expect([defect, await responsesTo(app, token)]).toEqual([defect, rejected])
      expect([defect, await responsesTo(app, token)]).toEqual([defect, rejected])
    }
  })

  test('is rejected if the last character of its signature is replaced by any other character', async () => {
    const { app } = await startAt(setup)
    const token = await signedToken(app)
    const acceptedTokens: string[] = []
    for (const last of base64url) {
      const variant = changePart(token, 2, (part) => part.slice(0, -1) + last)
      const responses = await responsesTo(app, variant)
      if (responses[0] === 200) acceptedTokens.push(variant)
      else expect([last, responses]).toEqual([last, rejected])
    }
    expect(acceptedTokens).toEqual([token])
  })

  test('expires at its own expiry time or the expiry time of its API key, whichever is earlier', async () => {
    const { app, advanceSeconds } = await startAt(setup)
    const minuteToken = await tokenFor(app, null, ['read'], { expiresIn: 60 })
    const expiresAt = new Date(startsAt + 120_000).toISOString()
    const { apiKey } = await newKey(app, { scopes: ['read'], expiresAt })
    const keyLimitedToken = await tokenFor(app, null, ['read'], { key: apiKey, expiresIn: 3_600 })
    advanceSeconds(59)
    expect(await responsesTo(app, minuteToken)).toEqual(accepted)
    advanceSeconds(1)
    expect(await responsesTo(app, minuteToken)).toEqual(rejected)
    advanceSeconds(59)
    expect(await responsesTo(app, keyLimitedToken)).toEqual(accepted)
    advanceSeconds(1)
    expect(await responsesTo(app, keyLimitedToken)).toEqual(rejected)
    expect((await app.rest('GET', '/api/wallets', { key: apiKey })).status).toBe(401)
  })

  test('cannot be created for another merchant’s customer, with scopes that the key lacks, or by another token', async () => {
    const { app } = await startAt(setup)
    const other = await app.otherMerchant()
    const customerId = await app.customer()
    const restricted = await newKey(app, { scopes: ['read', 'wallets'] })
    const token = await tokenFor(app, null, ['read', 'customers'])
    const customerToken = await tokenFor(app, customerId)
    type Case = [status: number, code: string, body: { customer_id?: string; scopes: string[] }, caller: object]
    const cases: Case[] = [
      [404, 'RESOURCE_NOT_FOUND', { customer_id: customerId, scopes: ['read'] }, { key: other.apiKey }],
      [403, 'INSUFFICIENT_SCOPE', { scopes: ['read', 'payouts'] }, { key: restricted.apiKey }],
      [403, 'INSUFFICIENT_SCOPE', { scopes: ['read'] }, bearerOptions(token)],
      [403, 'INSUFFICIENT_SCOPE', { customer_id: customerId, scopes: ['read'] }, bearerOptions(customerToken)],
    ]
    for (const [status, code, body, caller] of cases) {
      const rest = await app.rest('POST', '/api/client-tokens', { ...caller, body })
      expect([rest.status, rest.body.error.code]).toEqual([status, code])
      const input = { customerId: body.customer_id, scopes: body.scopes.map((scope) => scope.toUpperCase()) }
      const { data, errors } = await app.graphql(
        'mutation($input: CreateClientTokenInput!) { createClientToken(input: $input) { ... on UserError { code } } }',
        { input },
        caller,
      )
      expect(errors[0]?.extensions.code ?? data.createClientToken.code).toBe(code)
    }
  })
})
