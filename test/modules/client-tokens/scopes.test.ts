// Tests what an API key or a client token with scopes may do, for all REST routes and all root fields of GraphQL.
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
import { storeSeal } from '../../../src/modules/hash-chain/sealer.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { requireAllowed } from '../../../src/operations/access/api-caller.ts'
import { customerScopes, scopes } from '../../../src/operations/access/scopes.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { OperationName } from '../../../src/operations/operation-name.ts'
import type { Route } from '../../../src/rest/route.ts'
import { sandboxSchema as schema } from '../../../src/server/graphql/schema.ts'
import { operations } from '../../../src/server/operations.ts'
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

/** A request for each endpoint; a client token that it creates has one scope. */
const requestsFor = (scope: string) =>
  routes.map((route) => ({ route, path: route.path.replace(/:\w+/g, absentId), body: bodyOf(route, scope) }))

function bodyOf({ method, example, names }: Route, scope: string): object | undefined {
  if (method === 'GET') return undefined
  const given = Object.entries(example).map(([name, value]) => [names[name] ?? name, value])
  return { ...Object.fromEntries(given), ...('scopes' in example && { scopes: [scope] }) }
}

const roots = ['Query', 'Mutation', 'Subscription'] as const

/** A GraphQL document for each field of a root type. */
function documentsOf(root: (typeof roots)[number], scope: string) {
  const { [root]: type } = schema.getTypeMap()
  return Object.values(isObjectType(type) ? type.getFields() : {}).map(({ name, type, args }) => {
    const required = args.filter(({ type }) => isNonNullType(type))
    const declared = required.map(({ name, type }) => `$${name}: ${type}`).join(', ')
    const given = required.map(({ name }) => `${name}: $${name}`).join(', ')
    const selection = everythingOf(schema, getNamedType(type).name, 0)
    const query = `${root.toLowerCase()}${declared && `(${declared})`} { ${name}${given && `(${given})`} ${selection} }`
    const variables = Object.fromEntries(required.map(({ name, type }) => [name, anyOf(type, scope)]))
    return { name, query, variables }
  })
}

const ofScalar: Readonly<Record<string, unknown>> = { Int: 1, ID: absentId, Amount: '1' }

/** A value that is valid for an input type. */
function anyOf(type: GraphQLInputType, scope: string): unknown {
  const inner = getNullableType(type)
  if (isListType(inner)) return [anyOf(inner.ofType, scope)]
  if (isEnumType(inner)) return inner.name === 'Scope' ? scope.toUpperCase() : inner.getValues()[0]?.name
  if (!isInputObjectType(inner)) return ofScalar[String(inner)] ?? 'x'
  const fields = Object.values(inner.getFields())
  const given = inner.isOneOf ? fields.slice(0, 1) : fields.filter(({ type }) => isNonNullType(type))
  return Object.fromEntries(given.map(({ name, type }) => [name, anyOf(type, scope)]))
}

/** The missing scope in the message of an INSUFFICIENT_SCOPE error; `null` for any other result. */
function missing(code: string | undefined, message: string): string | null {
  return code === 'INSUFFICIENT_SCOPE'
    ? (/^This (?:API key|token) lacks the scope (\w+); it has /.exec(message)?.[1] ?? message)
    : null
}

/** Returns the requests that are rejected for a credential with one scope, each with the missing scope in its error. */
async function refusedTo(app: App, scope: string, by: object) {
  const refused: Record<string, string> = {}
  let tried = 0
  const note = (what: string, status: number, lacking: string | null) => {
    tried++
    expect([what, status === 403]).toEqual([what, lacking !== null])
    if (lacking !== null) refused[what] = lacking
  }
  for (const { route, path, body } of requestsFor(scope)) {
    const response = await app.rest(route.method, path, { ...by, ...(body && { body }) })
    note(`${route.method} ${route.path}`, response.status, missing(response.body.error?.code, response.body.message))
  }
  // With the scope `read`, subscriptions would be accepted and never end.
  for (const root of roots.filter((root) => root !== 'Subscription' || scope !== 'read')) {
    for (const { name, query, variables } of documentsOf(root, scope)) {
      const { status, errors } = await app.graphql(query, variables, by)
      const [fault] = errors as { message: string; extensions: { code: string } }[]
      expect([name, fault?.extensions.code]).not.toEqual([name, 'INVALID_DOCUMENT'])
      note(`${root}.${name}`, status, missing(fault?.extensions.code, fault?.message ?? ''))
    }
  }
  return { refused, tried }
}

/** The requests that must be rejected for a credential with one scope: all that require another scope. */
function expectedFor(scope: string): Record<string, string> {
  const needed = [
    ...routes.map(({ method, path, writeOperation: performs }) => [
      `${method} ${path}`,
      performs?.declaration.scope ?? 'read',
    ]),
    ...roots.flatMap((root) =>
      documentsOf(root, scope).map(({ name }) => [
        `${root}.${name}`,
        root === 'Mutation' ? operations[name as OperationName].declaration.scope : 'read',
      ]),
    ),
  ]
  return Object.fromEntries(needed.filter(([, each]) => each !== 'anyApiKey' && each !== scope))
}

test.each([
  [null, 'API key'],
  ['token', 'token'],
])(
  'an operation that no scope allows rejects a credential with scopes and explains why (token id: %s)',
  (tokenId, named) => {
    const caller = { keyId: 'key', tokenId, scopes: ['read' as const], customerId: null }
    expect(() => requireAllowed(caller, storeSeal.declaration)).toThrow(
      `No scope allows storeSeal, and this ${named} has scopes: use an API key without scopes.`,
    )
  },
)

test('an operation that no scope allows accepts an API key that is not restricted to scopes', () => {
  const caller = { keyId: 'key', tokenId: null, scopes: null, customerId: null }
  expect(() => requireAllowed(caller, storeSeal.declaration)).not.toThrow()
})

test.each(everyEngine)(
  'on %s, every read by a caller without the scope `read` fails with INSUFFICIENT_SCOPE',
  async (engine) => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    for (const tokenId of [null, 'token']) {
      const caller = { keyId: 'key', tokenId, scopes: ['payouts', 'wallets'] as const, customerId: null }
      const context = createContext(app.service, app.merchant.id, null, 0, caller)
      const lacking = `This ${tokenId ?? 'API key'} lacks the scope read; it has payouts, wallets.`
      // The context checks the scope, so no read has to check it.
      for (const read of [() => getWallet(context, { walletId }), () => context.db.snapshot(async () => 'read')])
        expect(await domainErrorOf(async () => read())).toMatchObject({ code: 'INSUFFICIENT_SCOPE', message: lacking })
    }
  },
)

describe.each(everyEngineAndWorkers)('scopes on %s', (setup) => {
  test.each(scopes)(
    'allow a credential with only the scope %s the operations of that scope; other operations report the missing scope',
    async (scope) => {
      const app = await startApp(setup)
      const { apiKey } = await newKey(app, { scopes: [scope] })
      const { refused, tried } = await refusedTo(app, scope, { key: apiKey })
      expect(refused).toEqual(expectedFor(scope))
      expect(tried).toBeGreaterThan(60)
      // A client token of the merchant may do the same, but cannot create client tokens.
      const token = await tokenFor(app, null, [scope])
      const { refused: toToken } = await refusedTo(app, scope, bearerOptions(token))
      const noTokens = 'A client token cannot create tokens: use an API key.'
      const making = { 'POST /api/client-tokens': noTokens, 'Mutation.createClientToken': noTokens }
      expect(toToken).toEqual({ ...refused, ...making })
    },
  )

  test('of a customer’s token do not allow operations for the whole merchant, such as createCustomer', async () => {
    const app = await startApp(setup)
    const customerId = await app.customer()
    for (const scope of customerScopes) {
      const { refused } = await refusedTo(app, scope, bearerOptions(await tokenFor(app, customerId, [scope])))
      const expected = expectedFor(scope)
      // Operations of the merchant have their own error, whichever scope they require.
      const ofMerchant = Object.entries(refused).filter(([, why]) =>
        why.startsWith('A token that acts as one customer cannot'),
      )
      expect(Object.keys(refused)).toEqual(expect.arrayContaining(Object.keys(expected)))
      expect(ofMerchant.map(([what]) => what.split('.').at(-1))).toEqual(
        expect.arrayContaining(['createCustomer', 'closeCustomer', 'advanceClock', 'resolveAttention']),
      )
    }
  })

  test('without `read` allow a mutation to return the object that it creates, but no other data', async () => {
    const app = await startApp(setup)
    const customerId = await app.customer()
    await app.wallet({ balance: '100', customerId })
    const paying = await newKey(app, { scopes: ['payouts'] })
    const token = await tokenFor(app, customerId, ['payouts'])
    const reading = await newKey(app, { scopes: ['read'] })
    const before = await readStoredRows(app)
    const body = { ...payoutBody, amount: '1', customer_id: customerId }
    expect((await app.rest('POST', '/api/payouts/banks', { key: reading.apiKey, body })).status).toBe(403)
    expect(await readStoredRows(app)).toEqual(before)

    for (const by of [{ key: paying.apiKey }, bearerOptions(token)]) {
      const made = await app.rest('POST', '/api/payouts/banks', { ...by, body })
      expect([made.status, made.body.data.amount]).toEqual([200, '1.00000000'])
      expect((await app.rest('GET', `/api/payouts/${made.body.data.id}`, by)).status).toBe(403)
      const query = `mutation($input: CreatePayoutInput!) { createPayout(input: $input) {
        ... on CreatePayoutPayload { payout { uuid amount SELECTED } } } }`
      const pay = (selected: string, idempotencyKey: string) =>
        app.graphql(query.replace('SELECTED', selected), { input: { ...payoutInput, customerId, idempotencyKey } }, by)
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
