// What an API key or a client token with scopes may do, over all REST routes and all fields of the schema.
import type { GraphQLInputType } from 'graphql'
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { requireAllowed } from '../../../src/operations/access/api-caller.ts'
import { customerScopes, scopeOfOperation, scopes } from '../../../src/operations/access/scopes.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { Route } from '../../../src/rest/route.ts'
import { sandboxSchema as schema } from '../../../src/server/graphql/schema.ts'
import { routes } from '../../../src/server/rest/routes.ts'
import { everythingOf } from '../../graphql/support/selection.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { readStoredRows } from '../../support/stored.ts'
import { bearerOptions, newKey, tokenFor } from './support/tokens.ts'

const bankAccount = {
  ...{ accountNumber: '0690000032', bankName: 'Access Bank', bankCode: '044', recipientName: 'Ada Obi' },
  ...{ recipientCurrency: 'NGN', recipientCountry: 'NIGERIA' },
}
const payoutInput = { assetCode: 'USDC', amount: '1', recipient: { bankAccount }, paymentPurpose: 'GIFTS' }

const absentId = '00000000-0000-7000-8000-000000000000'

const requestsFor = (scope: string) =>
  routes.map((route) => ({ route, path: route.path.replace(/:\w+/g, absentId), body: bodyOf(route, scope) }))

function bodyOf({ method, example, names }: Route, scope: string): object | undefined {
  if (method === 'GET') return undefined
  const fields = Object.entries(example).map(([name, value]) => [names[name] ?? name, value])
  return { ...Object.fromEntries(fields), ...('scopes' in example && { scopes: [scope] }) }
}

const roots = ['Query', 'Mutation', 'Subscription'] as const

function documentsOf(root: (typeof roots)[number], scope: string) {
  const { [root]: type } = schema.getTypeMap()
  return Object.values(isObjectType(type) ? type.getFields() : {}).map(({ name, type, args }) => {
    const required = args.filter(({ type }) => isNonNullType(type))
    const declared = required.map(({ name, type }) => `$${name}: ${type}`).join(', ')
    const passed = required.map(({ name }) => `${name}: $${name}`).join(', ')
    const selection = everythingOf(schema, getNamedType(type).name, 0)
    const query = `${root.toLowerCase()}${declared && `(${declared})`} { ${name}${passed && `(${passed})`} ${selection} }`
    const variables = Object.fromEntries(required.map(({ name, type }) => [name, validValueOf(type, scope)]))
    return { name, query, variables }
  })
}

const ofScalar: Readonly<Record<string, unknown>> = { Int: 1, ID: absentId, Amount: '1' }

function validValueOf(type: GraphQLInputType, scope: string): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [validValueOf(inner.ofType, scope)]
  if (isEnumType(inner)) return inner.name === 'Scope' ? scope.toUpperCase() : inner.getValues()[0]?.name
  if (!isInputObjectType(inner)) return ofScalar[String(inner)] ?? 'x'
  const fields = Object.values(inner.getFields())
  const chosen = inner.isOneOf ? fields.slice(0, 1) : fields.filter(({ type }) => isNonNullType(type))
  return Object.fromEntries(chosen.map(({ name, type }) => [name, validValueOf(type, scope)]))
}

/** The missing scope named in an error message; `null` for any other response. */
function missingScope(code: string | undefined, message: string): string | null {
  return code === 'INSUFFICIENT_SCOPE'
    ? (/^This (?:API key|token) lacks the scope (\w+); it has /.exec(message)?.[1] ?? message)
    : null
}

/**
 * Tries every route and field with one scope. Returns the rejected ones with the scope that each lacks, and the number
 * of attempts.
 */
async function tryEverything(app: App, scope: string, caller: object) {
  const rejected: Record<string, string> = {}
  let attempts = 0
  const record = (name: string, status: number, lackedScope: string | null) => {
    attempts++
    expect([name, status === 403]).toEqual([name, lackedScope !== null])
    if (lackedScope !== null) rejected[name] = lackedScope
  }
  for (const { route, path, body } of requestsFor(scope)) {
    const response = await app.rest(route.method, path, { ...caller, ...(body && { body }) })
    record(
      `${route.method} ${route.path}`,
      response.status,
      missingScope(response.body.error?.code, response.body.message),
    )
  }
  // A permitted stream would not end by itself.
  for (const root of roots.filter((root) => root !== 'Subscription' || scope !== 'read')) {
    for (const { name, query, variables } of documentsOf(root, scope)) {
      const { status, errors } = await app.graphql(query, variables, caller)
      const [error] = errors as { message: string; extensions: { code: string } }[]
      expect([name, error?.extensions.code]).not.toEqual([name, 'INVALID_DOCUMENT'])
      record(`${root}.${name}`, status, missingScope(error?.extensions.code, error?.message ?? ''))
    }
  }
  return { rejected, attempts }
}

/** The routes and fields that need another scope than `scope`, with the scope that each needs. */
function expectedRejections(scope: string): Record<string, string> {
  const needed = [
    ...routes.map(({ method, path, writeOperation: performs }) => [
      `${method} ${path}`,
      performs && scopeOfOperation(performs.name),
    ]),
    ...roots.flatMap((root) =>
      documentsOf(root, scope).map(({ name }) => [
        `${root}.${name}`,
        root === 'Mutation' ? scopeOfOperation(name) : null,
      ]),
    ),
  ].map(([name, needed]) => [name, needed === null ? 'read' : needed])
  return Object.fromEntries(needed.filter(([, each]) => each !== undefined && each !== scope))
}

// An operation that a module adds without a scope is closed to credentials with scopes.
test.each([
  [null, 'API key'],
  ['token', 'token'],
])('an operation without a scope is rejected for a credential with scopes (token: %s)', (tokenId, named) => {
  const caller = { keyId: 'key', tokenId, scopes: ['read' as const], customerId: null }
  expect(() => requireAllowed(caller, 'createNoun')).toThrow(
    `This ${named} has scopes, and no scope allows createNoun: use an API key without scopes.`,
  )
})

test('an operation without a scope is open to an API key without scopes', () => {
  const caller = { keyId: 'key', tokenId: null, scopes: null, customerId: null }
  expect(() => requireAllowed(caller, 'createNoun')).not.toThrow()
})

test.each(everyEngine)('on %s, no operation reads for a caller without the scope read', async (engine) => {
  const app = await startApp(engine)
  const walletId = await app.wallet()
  for (const tokenId of [null, 'token']) {
    const caller = { keyId: 'key', tokenId, scopes: ['payouts', 'wallets'] as const, customerId: null }
    const context = createContext(app.service, app.merchant.id, null, 0, caller)
    const expectedMessage = `This ${tokenId ?? 'API key'} lacks the scope read; it has payouts, wallets.`
    for (const readAny of [() => getWallet(context, { walletId }), () => context.db.snapshot(async () => 'read')])
      expect(await domainErrorOf(async () => readAny())).toMatchObject({
        code: 'INSUFFICIENT_SCOPE',
        message: expectedMessage,
      })
  }
})

describe.each(everyEngineAndWorkers)('scopes on %s', (setup) => {
  test.each(scopes)(
    'the scope %s permits its own operations only, and every other error names the missing scope',
    async (scope) => {
      const app = await startApp(setup)
      const { apiKey } = await newKey(app, { scopes: [scope] })
      const { rejected, attempts } = await tryEverything(app, scope, { key: apiKey })
      expect(rejected).toEqual(expectedRejections(scope))
      expect(attempts).toBeGreaterThan(60)
      // A client token of the merchant permits the same, except creating tokens.
      const token = await tokenFor(app, null, [scope])
      const { rejected: rejectedForToken } = await tryEverything(app, scope, bearerOptions(token))
      const noTokenCreation = 'A token makes no tokens: this needs an API key.'
      const tokenCreation = {
        'POST /api/client-tokens': noTokenCreation,
        'Mutation.createClientToken': noTokenCreation,
      }
      expect(rejectedForToken).toEqual({ ...rejected, ...tokenCreation })
    },
  )

  test('a customer’s client token has its scopes, except for merchant-only operations', async () => {
    const app = await startApp(setup)
    const customerId = await app.customer()
    for (const scope of customerScopes) {
      const { rejected } = await tryEverything(app, scope, bearerOptions(await tokenFor(app, customerId, [scope])))
      const expected = expectedRejections(scope)
      const ofMerchant = Object.entries(rejected).filter(([, why]) => why.startsWith('This is not for a token'))
      expect(Object.keys(rejected)).toEqual(expect.arrayContaining(Object.keys(expected)))
      expect(ofMerchant.map(([name]) => name.split('.').at(-1))).toEqual(
        expect.arrayContaining(['createCustomer', 'closeCustomer', 'advanceClock', 'resolveAttention']),
      )
    }
  })

  test('a rejected request changes nothing, and a creation without the scope read returns only what it created', async () => {
    const app = await startApp(setup)
    const customerId = await app.customer()
    await app.wallet({ balance: '100', customerId })
    const payingKey = await newKey(app, { scopes: ['payouts'] })
    const token = await tokenFor(app, customerId, ['payouts'])
    const readingKey = await newKey(app, { scopes: ['read'] })
    const before = await readStoredRows(app)
    const body = { ...payoutBody, amount: '1', customer_id: customerId }
    expect((await app.rest('POST', '/api/payouts/banks', { key: readingKey.apiKey, body })).status).toBe(403)
    expect(await readStoredRows(app)).toEqual(before)

    for (const caller of [{ key: payingKey.apiKey }, bearerOptions(token)]) {
      const created = await app.rest('POST', '/api/payouts/banks', { ...caller, body })
      expect([created.status, created.body.data.amount]).toEqual([200, '1.00000000'])
      expect((await app.rest('GET', `/api/payouts/${created.body.data.id}`, caller)).status).toBe(403)
      const query = `mutation($input: CreatePayoutInput!) { createPayout(input: $input) {
        ... on CreatePayoutPayload { payout { uuid amount SELECTED } } } }`
      const pay = (selected: string, idempotencyKey: string) =>
        app.graphql(
          query.replace('SELECTED', selected),
          { input: { ...payoutInput, customerId, idempotencyKey } },
          caller,
        )
      const key = app.service.newId()
      const { data, errors } = await pay('', key)
      expect([errors, data.createPayout.payout.amount]).toEqual([[], '1.00000000'])
      const replay = await pay('', key)
      expect([replay.errors, replay.data]).toEqual([[], data])
      for (const selected of ['wallet { balance }', 'customer { email }', 'events { status }', 'timeline { state }']) {
        const { data, errors } = await pay(selected, app.service.newId())
        expect([selected, errors[0]?.extensions.code]).toEqual([selected, 'INSUFFICIENT_SCOPE'])
        expect(data?.createPayout?.payout?.wallet ?? null).toBeNull()
      }
    }
    await app.expectBooksToBalance()
  })
})
