// The selection of a mutation is checked before it runs. These tests cover every field of the schema that needs
// a scope or takes arguments.
import type { GraphQLArgument, GraphQLField, GraphQLInputType, GraphQLOutputType } from 'graphql'
import {
  buildSchema,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
  Kind,
  parse,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { unavailable } from '../../src/core/errors.ts'
import type { Database } from '../../src/database/database.ts'
import { limits } from '../../src/graphql/documents/limits.ts'
import { lazyPrecheck } from '../../src/graphql/documents/precheck.ts'
import type { FieldSource } from '../../src/graphql/schema/field-source.ts'
import { scopeByFieldSource } from '../../src/graphql/schema/field-source.ts'
import type { Caller } from '../../src/operations/access/api-caller.ts'
import { systemCaller } from '../../src/operations/access/api-caller.ts'
import { scopes } from '../../src/operations/access/scopes.ts'
import { sandboxSchema as schema } from '../../src/server/graphql/schema.ts'
import { newKey } from '../modules/client-tokens/support/tokens.ts'
import type { App } from '../support/app.ts'
import { everyEngine, everyExecutor, startApp } from '../support/app.ts'
import { readStoredRows } from '../support/stored.ts'
import { createServerVariant } from './support/ask.ts'
import { mutations } from './support/mutations.ts'
import { everythingOf } from './support/selection.ts'
import { startWorlds } from './support/world.ts'

/** A field below a mutation's payload, and the path to it, with the parent type of each step. */
type Reached = { readonly steps: readonly Step[]; readonly field: GraphQLField<unknown, unknown> }
type Step = { readonly on: string; readonly name: string; readonly isList: boolean }

const mutationFields = schema.getMutationType()?.getFields() ?? {}

/** Every field that can be selected below a mutation, once per parent type, by the shortest path. */
function reachedBy(mutation: string): Reached[] {
  const reached: Reached[] = []
  const seen = new Set<string>()
  const root: GraphQLOutputType | undefined = mutationFields[mutation]?.type
  let level = root ? [{ type: getNamedType(root), steps: [] as readonly Step[] }] : []
  // The limit of a document's depth.
  while (level.length > 0 && (level[0]?.steps.length ?? 0) < limits.depth - 2) {
    const next: typeof level = []
    for (const { type, steps } of level) {
      const objects = isUnionType(type) || isInterfaceType(type) ? schema.getPossibleTypes(type) : [type]
      for (const object of objects) {
        if (!isObjectType(object) || seen.has(object.name)) continue
        seen.add(object.name)
        for (const field of Object.values(object.getFields())) {
          const isList = field.args.some(({ name }) => name === 'first')
          const stepsToField = [...steps, { on: object.name, name: field.name, isList }]
          reached.push({ steps: stepsToField, field })
          next.push({ type: getNamedType(field.type), steps: stepsToField })
        }
      }
    }
    level = next
  }
  return reached
}

function scopeOf({ extensions }: GraphQLField<unknown, unknown>) {
  const { fieldSource } = extensions as { fieldSource?: FieldSource }
  return fieldSource === undefined ? 'read' : scopeByFieldSource[fieldSource.kind]
}

/** A document that selects one field below a mutation, with a fragment for each type of the path. */
function documentOf(mutation: string, { steps, field }: Reached, argument?: GraphQLArgument): string {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`
  const led = getNamedType(field.type)
  const leaf = isLeafType(led) ? '' : ` ${everythingOf(schema, led.name, 0)}`
  const selection = steps.reduceRight((inner, { on, name, isList }, place) => {
    const isLast = place === steps.length - 1
    const given = isLast && argument ? `(${argument.name}: $given)` : isList ? '(first: 1)' : ''
    return `{ __typename ... on ${on} { ${name}${given}${isLast ? leaf : ` ${inner}`} } }`
  }, '')
  const declared = argument ? `, $given: ${argument.type}` : ''
  return `mutation($input: ${type}Input!${declared}) { ${mutation}(input: $input) ${selection || '{ __typename }'} }`
}

/** Values that are invalid for an argument's type; `isFilter` marks filters, which accept any text. */
function wrongValues(type: GraphQLInputType, isFilter = false): unknown[] {
  const inner = getNullableType(type)
  if (isListType(inner)) return wrongValues(inner.ofType, isFilter).map((value) => [value])
  if (isInputObjectType(inner)) {
    return Object.values(inner.getFields()).flatMap(({ name, type }) =>
      wrongValues(type, true).map((value) => ({ [name]: value })),
    )
  }
  if (inner.name === 'Int') return [-1, 101]
  return isFilter && inner.name === 'String' ? [] : ['no such thing', btoa('abcdefghijkl:1')]
}

async function ask(server: App['server'], key: string, query: string, variables: object) {
  const response = await server.inject({
    method: 'POST',
    url: '/graphql',
    headers: { 'x-api-key': key },
    payload: { query, variables },
  })
  return { status: response.statusCode, ...JSON.parse(response.body) }
}

test("every field in a mutation's result declares its column or resolver, and is nullable if it reads the database", () => {
  const fields = Object.keys(mutationFields).flatMap(reachedBy)
  expect(fields.length).toBeGreaterThan(500)
  const named = (isWanted: (field: Reached['field']) => boolean) => [
    ...new Set(
      fields.filter(({ field }) => isWanted(field)).map(({ steps }) => `${steps.at(-1)?.on}.${steps.at(-1)?.name}`),
    ),
  ]
  expect(named(({ extensions }) => extensions.fieldSource === undefined)).toEqual([])
  expect(named((field) => scopeOf(field) !== null && isNonNullType(field.type))).toEqual([])
  expect(named((field) => scopeOf(field) !== null).length).toBeGreaterThan(15)
})

/** The paths of the errors that the check of an operation reports to a caller with all scopes. */
function faultsOf(query: string, variables: Readonly<Record<string, unknown>> = {}) {
  return errorsOf(query, variables).map(({ path }) => path?.join('.'))
}

function errorsOf(query: string, variables: Readonly<Record<string, unknown>>, caller: Caller = systemCaller) {
  const { definitions } = parse(query)
  const operation = definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)
  if (!operation) throw new Error('no operation')
  const fragments = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
  const named = Object.fromEntries(fragments.map((each) => [each.name.value, each]))
  const check = lazyPrecheck(schema, operation, named)
  return check(caller, { sources: {}, coerced: variables })
}

const making = (selection: string, rest = '') =>
  `mutation($yes: Boolean!, $no: Boolean!) { made: createWallet(input: {currency: "NGN", description: "x"}) {
    ... on CreateWalletPayload { wallet { id ${selection} } } } } ${rest}`
const given = { yes: true, no: false }

describe("the precheck of an operation's selection", () => {
  test.each([
    ['@include(if: true)', true],
    ['@include(if: false)', false],
    ['@skip(if: true)', false],
    ['@skip(if: false)', true],
    ['@include(if: $yes)', true],
    ['@include(if: $no)', false],
    ['@skip(if: $yes)', false],
    ['@skip(if: $no)', true],
    ['@include(if: true) @skip(if: $yes)', false],
    ['@skip(if: false) @include(if: $yes)', true],
  ])('the precheck evaluates %s on a field, and skips fields that are excluded', (directive, isIncluded) => {
    const wrong = 'wrong: payouts(first: 101) { totalCount }'
    for (const query of [
      making(wrong.replace(' {', ` ${directive} {`)),
      making(`... ${directive} { ${wrong} }`),
      making(`customer ${directive} { wallets(first: -1) { totalCount } }`),
      making(`...F ${directive}`, `fragment F on Wallet { ${wrong} }`),
    ]) {
      expect([query, faultsOf(query, given).length]).toEqual([query, isIncluded ? 1 : 0])
    }
  })

  test('the precheck reports up to twenty invalid fields, each with its path', () => {
    const fields = (count: number) =>
      Array.from({ length: count }, (_, i) => `w${i}: payouts(first: 101) { totalCount }`).join(' ')
    const paths = (count: number) => Array.from({ length: count }, (_, i) => `made.wallet.w${i}`)
    for (const [wrong, reached] of [
      [0, 0],
      [2, 2],
      [20, 20],
      [25, 20],
    ] as const) {
      expect(faultsOf(making(fields(wrong)), given)).toEqual(paths(reached))
    }
  })

  test('the precheck rejects every cursor in a mutation, and accepts a well-formed cursor in a subscription', () => {
    for (const [name, cursor] of [
      ['after', 'YWJj'],
      ['before', 'YWJj'],
    ]) {
      const list = `payouts(${name}: "${cursor}") { totalCount }`
      expect(faultsOf(making(list), given)).toEqual(['made.wallet.payouts'])
      expect(faultsOf(`subscription { payoutsChanged { wallet { ${list} } } }`)).toEqual([])
    }
    const wrong = 'payouts(first: 101) { totalCount }'
    expect(faultsOf(`subscription { payoutsChanged { wallet { ${wrong} } } }`)).toEqual([
      'payoutsChanged.wallet.payouts',
    ])
    // A subscription checks the arguments of its root field when it starts.
    const nullable = 'subscription($id: ID = "x") { payoutChanged(id: $id) { id } }'
    expect(faultsOf(nullable, { id: null })).toEqual([])
  })

  test('the error about a cursor in a mutation explains where to use it, and has its location', () => {
    for (const field of ['after', 'before']) {
      const [error] = errorsOf(making(`payouts(${field}: "YWJj") { totalCount }`), given)
      const message = 'must not be given in a mutation: ask for the next page in a query'
      expect(error?.originalError).toMatchObject({
        code: 'INVALID_INPUT',
        details: { fields: [{ field, code: 'INVALID_PARAMETER', message }] },
      })
      expect(error?.locations).toEqual([{ line: 2, column: expect.any(Number) }])
    }
  })

  test('a mutation needs no scope `read` if its selection only has columns of its result', () => {
    const ofWallets: Caller = { ...systemCaller, scopes: ['wallets'] }
    expect(errorsOf(making('balance'), given, ofWallets)).toEqual([])
    expect(errorsOf(making('customer { id }'), given, ofWallets)).toMatchObject([
      { message: expect.stringContaining('lacks the scope read'), path: ['made', 'wallet', 'customer'] },
    ])
  })

  test('the precheck of several mutations skips the arguments of the first mutation, which validates its own arguments', () => {
    const query = `mutation($input: CreateWalletInput = {currency: "NGN", description: "x"}) {
      one: createWallet(input: $input) { __typename } two: createWallet(input: $input) { __typename } }`
    expect(faultsOf(query, { input: null })).toEqual(['two'])
  })

  test('the precheck of a query reports nothing, because fields of a query fail individually', () => {
    expect(faultsOf('{ wallets { nodes { payouts(first: 101) { totalCount } } } }')).toEqual([])
  })

  test('the precheck of a subscription reports a scope that the caller lacks', () => {
    const [operation] = parse('subscription { payoutChanged(id: "x") { wallet { id } } }').definitions
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation')
    const check = lazyPrecheck(schema, operation, {})
    const codes = (caller: Caller) => check(caller, { sources: {}, coerced: {} }).map(({ message }) => message)
    expect(codes({ ...systemCaller, scopes: ['wallets'] })).toEqual([expect.stringContaining('lacks the scope read')])
    expect(codes({ ...systemCaller, scopes: ['read'] })).toEqual([])
  })

  test('the precheck rejects a mutation that no client token of a customer may run, whatever scopes the token has', () => {
    const query = 'mutation { createWebhookEndpoint(input: {url: "https://example.com"}) { __typename } }'
    const [operation] = parse(query).definitions
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation')
    const check = lazyPrecheck(schema, operation, {})
    const ofCustomer = { ...systemCaller, customerId: 'c' }
    expect(check(ofCustomer, { sources: {}, coerced: {} })).toMatchObject([{ path: ['createWebhookEndpoint'] }])
    expect(check(systemCaller, { sources: {}, coerced: {} })).toEqual([])
  })

  test("the precheck can't be built for arguments without a declared parser", () => {
    const strange = buildSchema(
      'type Query { a: Int } type Thing { part(size: Int): Int } type Mutation { make: Thing }',
    )
    const [operation] = parse('mutation { make { part(size: 1) } }').definitions
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation')
    expect(() => lazyPrecheck(strange, operation, {})(systemCaller, { sources: {}, coerced: {} })).toThrow('part')
  })

  test('the precheck of a fragment on one member of a union skips the fields of the other members', () => {
    const union = buildSchema(`type Query { a: Int } type Plain { part: Int } type Sized { part(size: Int): Int }
      union Thing = Plain | Sized type Mutation { make: Thing }`)
    const check = (fragment: string) => {
      const [operation] = parse(`mutation { make { ${fragment} } }`).definitions
      if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation')
      return lazyPrecheck(union, operation, {})(systemCaller, { sources: {}, coerced: {} })
    }
    expect(check('... on Plain { part }')).toEqual([])
    expect(() => check('... on Sized { part }')).toThrow('the arguments of part')
  })
})

describe.each(everyEngine)('the selection of a mutation on %s', (engine) => {
  test('a mutation runs only after the scopes and arguments of every field in its selection have been checked', async () => {
    const { app, ours } = await startWorlds(engine)
    await app.fee('0.5')
    const servers = everyExecutor.map((executor) => createServerVariant(app, { executor }))
    const { apiKey: writing } = await newKey(app, { scopes: scopes.filter((scope) => scope !== 'read') })
    const { apiKey } = app.merchant
    let refused = 0
    for (const [mutation, given] of mutations(ours)) {
      const input = { idempotencyKey: `for ${mutation}`, ...given }
      if (mutation === 'payoutQuote') continue
      const before = await readStoredRows(app)
      const expectRefused = async (code: string, status: number, key: string, query: string, variables: object) => {
        const response = await ask(servers[refused++ % 2] as App['server'], key, query, variables)
        const seen = [response.status, response.data, response.errors?.[0]?.extensions.code]
        expect([query, ...seen]).toEqual([query, status, undefined, code])
      }
      for (const reached of reachedBy(mutation)) {
        if (scopeOf(reached.field) === null) continue
        await expectRefused('INSUFFICIENT_SCOPE', 403, writing, documentOf(mutation, reached), { input })
        for (const argument of reached.field.args) {
          const query = documentOf(mutation, reached, argument)
          for (const wrong of wrongValues(argument.type)) {
            await expectRefused('INVALID_INPUT', 200, apiKey, query, { input, given: wrong })
          }
        }
      }
      expect([mutation, await readStoredRows(app)]).toEqual([mutation, before])
      const bare = documentOf(mutation, { steps: [], field: mutationFields[mutation] as never })
      const { errors } = await ask(app.server, writing, bare, { input })
      expect([mutation, errors]).toEqual([mutation, undefined])
      const isStored = mutation !== 'createClientToken'
      if (isStored) expect([mutation, await readStoredRows(app)]).not.toEqual([mutation, before])
    }
    expect(refused).toBeGreaterThan(500)
    await app.expectBooksToBalance()
  })

  test.each(everyExecutor)(
    'the precheck skips excluded fields, and reports paths with aliases (%s executor)',
    async (executor) => {
      const app = await startApp(engine)
      const customerId = await app.customer()
      const server = createServerVariant(app, { executor })
      const before = await readStoredRows(app)
      const query = `mutation($input: CreateWalletInput!, $first: Int, $isSeen: Boolean = true) {
      made: createWallet(input: $input) { ...Shown } }
      fragment Shown on CreateWalletResult { ... on CreateWalletPayload { wallet { id ...Owner @include(if: $isSeen) } } }
      fragment Owner on Wallet { owner: customer { theirs: wallets(first: $first, last: 1) { nodes { id } } } }`
      const input = { currency: 'NGN', description: 'Cash', customerId }
      const askFor = (variables: object) => ask(server, app.merchant.apiKey, query, { input, ...variables })
      const refused = await askFor({ first: 1 })
      expect(refused).toMatchObject({
        errors: [
          {
            path: ['made', 'wallet', 'owner', 'theirs'],
            extensions: { code: 'INVALID_INPUT', fields: [{ field: 'last', code: 'INVALID_PARAMETER' }] },
          },
        ],
      })
      const undecided = await askFor({ first: null, isSeen: null })
      expect(undecided.errors).toMatchObject([
        {
          message: 'Variable "$isSeen" must not be null: a condition depends on it.',
          extensions: { code: 'INVALID_INPUT' },
        },
      ])
      expect([refused.data, undecided.data, await readStoredRows(app)]).toEqual([undefined, undefined, before])

      expect(await askFor({ first: 1, isSeen: false })).toMatchObject({ data: { made: { wallet: {} } } })
      expect((await askFor({ first: null })).data.made.wallet.owner.theirs.nodes).toHaveLength(1)
    },
  )

  test('all mutations of a document are checked before the first of them runs', async () => {
    const app = await startApp(engine)
    const before = await readStoredRows(app)
    const { apiKey } = await newKey(app, { scopes: ['wallets', 'read'] })
    const wallet = '{ currency: "NGN", description: "Cash" }'
    const second = (selection: string) => `mutation { a: createWallet(input: ${wallet}) { __typename } ${selection} }`
    for (const [code, selection] of [
      ['INSUFFICIENT_SCOPE', 'b: disableWebhookEndpoint(input: { webhookId: "x" }) { __typename }'],
      [
        'INVALID_INPUT',
        `b: createWallet(input: ${wallet}) { ... on CreateWalletPayload { wallet { payouts(first: 101) { totalCount } } } }`,
      ],
    ] as const) {
      const { data, errors } = await ask(app.server, apiKey, second(selection), {})
      expect([data, errors.length, errors[0].extensions.code]).toEqual([undefined, 1, code])
    }
    expect((await readStoredRows(app)).wallets).toEqual(before.wallets)
  })

  test("a mutation succeeds with null fields if its payload can't be read, and a retry returns the payload", async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const isAway = { now: false }
    const execute: Database['execute'] = (statement, params) =>
      isAway.now ? Promise.reject(unavailable('The database is away.')) : app.db.execute(statement, params)
    const write: Database['write'] = async (...work) => {
      const result = await app.db.write(...work)
      isAway.now = true
      return result
    }
    const service = { ...app.service, db: { ...app.db, execute, write } }
    const query = `mutation($input: CreatePayoutInput!) { createPayout(input: $input) { ... on CreatePayoutPayload {
      payout { uuid status wallet { balance } events { status } } } } }`
    for (const executor of everyExecutor) {
      const server = createServerVariant(app, { executor, service, onLog: () => {} })
      const input = { ...payoutInput, idempotencyKey: `with ${executor}` }
      const { status, data, errors } = await ask(server, app.merchant.apiKey, query, { input })
      expect([status, data.createPayout.payout]).toEqual([
        200,
        { uuid: expect.any(String), status: 'PROCESSING', wallet: null, events: null },
      ])
      const faults = errors.map((error: { path: unknown; extensions: object }) => [error.path, error.extensions])
      expect(faults).toMatchObject([
        [['createPayout', 'payout', 'wallet'], { code: 'UNAVAILABLE' }],
        [['createPayout', 'payout', 'events'], { code: 'UNAVAILABLE' }],
      ])
      isAway.now = false
      const retried = await ask(app.server, app.merchant.apiKey, query, { input })
      expect([retried.errors, retried.data.createPayout.payout]).toMatchObject([
        undefined,
        { uuid: data.createPayout.payout.uuid, wallet: { balance: expect.any(String) }, events: [] },
      ])
    }
    await app.expectBooksToBalance()
  })
})

const bankAccount = {
  ...{ accountNumber: '0690000032', bankName: 'Access Bank', bankCode: '044', recipientName: 'Ada Obi' },
  ...{ recipientCurrency: 'NGN', recipientCountry: 'NIGERIA' },
}
const payoutInput = { assetCode: 'USDC', amount: '1', recipient: { bankAccount }, paymentPurpose: 'GIFTS' }
