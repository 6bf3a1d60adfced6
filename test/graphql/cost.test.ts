import * as fc from 'fast-check'
import type { GraphQLField, GraphQLNamedType, GraphQLObjectType } from 'graphql'
import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isListType,
  isObjectType,
  Kind,
  parse,
  validate,
} from 'graphql'
import { beforeEach, describe, expect, test } from 'vitest'
import { defaultListSize, listSizeByField, operationCost } from '../../src/graphql/documents/cost.ts'
import { reportDeposit } from '../../src/modules/deposits/report-deposit.ts'
import { eventTypes } from '../../src/modules/outbox/event.ts'
import { lockRailOrder } from '../../src/modules/rail-orders/repository.ts'
import { transitionRailOrder } from '../../src/modules/rail-orders/transition-order.ts'
import { recordAttempts } from '../../src/modules/webhooks/dispatcher/record-attempts.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'
import { hashOf, refOf } from '../modules/deposits/support/node.ts'
import { createRailPayout, railOrderOf } from '../modules/rails/support/rail-payouts.ts'
import type { App } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'
import { dueTime } from '../support/times.ts'

function cost(text: string, variables: Record<string, unknown> = {}): number {
  const { definitions } = parse(text)
  const operation = definitions.find((each) => each.kind === Kind.OPERATION_DEFINITION)
  const fragments = definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
  if (!operation) throw new Error('no operation')
  return operationCost(
    sandboxSchema,
    operation,
    Object.fromEntries(fragments.map((each) => [each.name.value, each])),
  )(variables)
}

describe('the cost of a GraphQL operation counts', () => {
  test.each([
    ['each field', '{merchant {id name}}', 3],
    ['__typename', '{merchant {__typename} __typename}', 3],
    ['a field with @skip, because a variable decides', 'query ($v: Boolean!) {merchant @skip(if: $v) {id}}', 2],
    ['nothing for introspection', '{__schema {types {name fields {name}}} __type(name: "A") {name}}', 0],
    ['a page as 10 and its items', '{payouts(first: 7) {nodes {id fee}}}', 10 + 1 + 7 * 2],
    ['a page from the end', '{payouts(last: 7) {nodes {id fee}}}', 10 + 1 + 7 * 2],
    ['the larger of two sizes', '{payouts(last: 7, first: 3) {nodes {id fee}}}', 10 + 1 + 7 * 2],
    ['20 items of a page without a size', '{payouts {nodes {id fee}}}', 10 + 1 + 20 * 2],
    ['zero items as none', '{payouts(first: 0) {nodes {id fee}}}', 10 + 1],
    ['a negative size as no items', '{payouts(first: -5) {nodes {id fee}}}', 10 + 1],
    ['fields in a fragment without a type', '{... {payouts(first: 7) {nodes {id fee}}}}', 10 + 1 + 7 * 2],
    ['edges, each as a value', '{payouts(first: 7) {edges {cursor node {id fee}}}}', 10 + 1 + 7 * 4],
    ['items twice if nodes and edges are selected', '{payouts(first: 7) {nodes {id} edges {cursor}}}', 10 + 2 + 14],
    ['the rows of a page whose items are not selected', '{payouts(first: 7) {pageInfo {endCursor}}}', 10 + 7 + 2],
    [
      'the rows of a page once if a fragment selects its items',
      '{payouts(first: 7) {...f}} fragment f on PayoutConnection {nodes {id}}',
      10 + 1 + 7,
    ],
    [
      'the rows of a page whose fragment does not select its items',
      '{payouts(first: 7) {... {pageInfo {endCursor}}}}',
      10 + 7 + 2,
    ],
    ['at most the rows of the longest page', '{payouts(first: 70000) {pageInfo {endCursor}}}', 10 + 100 + 2],
    ['the cursor of a page once', '{payouts(first: 7) {pageInfo {endCursor} nodes {id}}}', 10 + 2 + 1 + 7],
    [
      'a page of events as 500, because a filter may read many rows',
      '{events(first: 7) {nodes {id} after}}',
      500 + 2 + 7,
    ],
    ['a total as 50', '{payouts(first: 0) {totalCount}}', 10 + 50],
    ['a total with a null filter as 50', '{payouts(first: 0, filter: null) {totalCount}}', 10 + 50],
    [
      'a total with a filter as 1,200, because up to 10,000 rows are counted',
      '{payouts(first: 0, filter: {createdFrom: "2026-01-01T00:00:00Z"}) {totalCount}}',
      10 + 1_200,
    ],
    [
      'attempts as 40 more, because the responses of the attempts are read too',
      '{webhookEndpoint(id: "x") {deliveries(first: 2) {nodes {attempts {status}}}}}',
      1 + 10 + 1 + 2 * (40 + 20),
    ],
    ['a search as 100', '{search(term: "a", first: 7) {hasMore nodes {__typename}}}', 100 + 2 + 7],
    ['an object of any size as 60', '{events(first: 7) {nodes {data}}}', 500 + 1 + 7 * 60],
    ['a page of the attention queue as 1,000', '{attention(first: 7) {nodes {cause} after}}', 1_000 + 2 + 7],
    ['nested pages', '{customers(first: 3) {nodes {wallets(first: 5) {nodes {id}}}}}', 10 + 1 + 3 * (10 + 1 + 5)],
    [
      'fragments at each spread',
      '{customers(first: 3) {...f nodes {...g}}} fragment f on CustomerConnection {nodes {... on Node {id}}} fragment g on Customer {email phone}',
      10 + 1 + 3 + 1 + 3 * 2,
    ],
    [
      'nodes as 10 and their fields',
      '{nodes(ids: ["a", "b", "c"]) {id ... on Payout {fee wallet {id}}}}',
      1 + 3 * (10 + 4),
    ],
    ['a single node as any other field', '{node(id: "a") {id} b: node(id: "b") {id}}', 2 * (1 + 1)],
    [
      'a list without pages as 8 items',
      '{payouts(first: 2) {nodes {events {status cause} checks {code}}}}',
      10 + 1 + 2 * (1 + 8 * 2 + 1 + 8),
    ],
    ['a list of values as 8', '{payoutMethodRequirements(currency: "USDC") {fields {allowedValues}}}', 2 + 8 * 9],
    [
      'a mutation as 1,000',
      'mutation {a: closeCustomer(input: {customerId: "x"}) {__typename} b: closeCustomer(input: {customerId: "y"}) {__typename}}',
      2 * 1_001,
    ],
    ['a subscription', 'subscription {payoutChanged(id: "x") {id events {status}}}', 1 + 1 + 9],
  ])('%s', (_, text, expected) => {
    expect(cost(text)).toBe(expected)
  })

  test.each([
    ['query ($n: Int) {payouts(first: $n) {nodes {id}}}', { n: 7 }, 18],
    ['query ($n: Int) {payouts(first: $n) {nodes {id}}}', { n: 70 }, 81],
    ['query ($n: Int) {payouts(first: $n) {nodes {id}}}', { n: -7 }, 11],
    ['query ($n: Int) {payouts(first: $n) {nodes {id}}}', { n: null }, 31],
    ['query ($n: Int) {payouts(first: $n) {nodes {id}}}', {}, 31],
    ['query ($n: Int, $m: Int) {payouts(first: $n, last: $m) {nodes {id}}}', { n: 3, m: 7 }, 18],
    ['query ($n: Int, $m: Int) {payouts(first: $n, last: $m) {nodes {id}}}', { n: 7, m: 3 }, 18],
    ['query ($n: Int) {payouts(first: $n, last: 3) {nodes {id}}}', { n: 7 }, 18],
    ['query ($n: Int) {payouts(first: $n, last: 3) {nodes {id}}}', { n: 1 }, 14],
    ['query ($n: Int) {payouts(first: $n) {pageInfo {endCursor}}}', { n: 70_000 }, 10 + 100 + 2],
    ['query ($n: Int) {customers(first: $n) {nodes {wallets(first: $n) {nodes {id}}}}}', { n: 5 }, 11 + 5 * (11 + 5)],
    ['query ($f: PayoutFilter) {payouts(first: 0, filter: $f) {totalCount}}', {}, 60],
    ['query ($f: PayoutFilter) {payouts(first: 0, filter: $f) {totalCount}}', { f: { status: 'FAILED' } }, 1_210],
    ['query ($ids: [ID!]!) {nodes(ids: $ids) {id}}', { ids: ['a', 'b'] }, 1 + 2 * 11],
    ['query ($id: ID!) {nodes(ids: [$id, $id]) {id}}', { id: 'a' }, 1 + 2 * 11],
  ])('the arguments of %s with the variables %j', (text, variables, expected) => {
    expect(cost(text, variables)).toBe(expected)
  })
})

/** A merchant whose lists each hold at least `most` rows, and one id per type of object. */
async function startFull(app: App) {
  const ids: string[] = []
  for (let i = 0; i < most; i++) {
    const customerId = await app.customer({ customerType: 'business', businessName: 'Obi Ltd' })
    if (i === 0) ids.push(customerId)
    for (let j = 0; j < most; j++) {
      for (const owner of [i === 0 ? customerId : undefined, undefined]) {
        const customer_id = owner ? { customer_id: owner } : {}
        const walletId = await app.wallet({ balance: '200', ...(owner && { customerId: owner }) })
        const full = {
          sort_code: '040',
          swift_code: 'ABNGNGLA',
          routing_number: '011000015',
          iban: 'GB82WEST12345698765432',
        }
        const bank = await app.rest('POST', '/api/payout/methods/banks', {
          body: { ...bankMethodBody, ...full, ...customer_id },
        })
        await app.rest('POST', '/api/payout/methods/wallets', { body: { ...walletMethodBody, ...customer_id } })
        const paid = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, ...customer_id } })
        if (j === 0) ids.push(walletId, bank.body.data.id, paid.body.data.id)
      }
    }
  }
  for (const status of ['COMPLETED', 'RETURNED']) {
    await app.graphql(`mutation {simulatePayout(input: {payoutId: "${ids[3]}", status: ${status}}) {__typename}}`)
  }
  return ids
}

const most = 3

/** Any valid selection of a type, with lists of at most `most` items. */
function selectionOf(type: GraphQLNamedType, ids: readonly string[], depth: number): fc.Arbitrary<string> {
  const own = isCompositeType(type) && 'getFields' in type ? Object.values(type.getFields()) : []
  const usable = own.filter((field) => depth > 1 || !isCompositeType(getNamedType(field.type)))
  const fields = usable.map((field) => fieldOf(field, ids, depth))
  const members = isAbstractType(type) ? sandboxSchema.getPossibleTypes(type) : [type as GraphQLObjectType]
  const within = fc
    .constantFrom(...members)
    .chain((member) =>
      depth > 1
        ? selectionOf(member, ids, depth - 1).map((inner) => `... on ${member.name} ${inner}`)
        : fc.constant('__typename'),
    )
  return fc
    .array(
      fc.oneof(
        { weight: 1, arbitrary: fc.constant('__typename') },
        { weight: 1, arbitrary: within },
        ...fields.map((arbitrary) => ({ weight: 1, arbitrary })),
      ),
      { minLength: 1, maxLength: 5 },
    )
    .map((all) => `{${all.join(' ')}}`)
}

function fieldOf(
  { name, type, args }: GraphQLField<unknown, unknown>,
  ids: readonly string[],
  depth: number,
): fc.Arbitrary<string> {
  const takes = (argument: string) => args.some((each) => each.name === argument)
  const id = fc.constantFrom(...ids)
  const given: fc.Arbitrary<string> = takes('first')
    ? takes('last')
      ? fc
          .tuple(fc.constantFrom('first', 'last'), fc.integer({ min: 0, max: most }))
          .map(([end, n]) => `(${end}: ${n})`)
      : fc.integer({ min: 1, max: most }).map((n) => `(first: ${n})`)
    : takes('ids')
      ? fc.array(id, { maxLength: 4 }).map((all) => `(ids: ${JSON.stringify(all)})`)
      : takes('id')
        ? id.map((one) => `(id: "${one}")`)
        : takes('currency')
          ? fc.constantFrom('(currency: "NGN")', '(currency: "USDC")')
          : takes('input')
            ? fc
                .constantFrom('"1"', '"x"')
                .map((amount) => `(input: {assetCode: USDC, amount: ${amount}, recipient: {currency: NGN}})`)
            : fc.constant('')
  const named = getNamedType(type)
  const inner = isCompositeType(named) ? selectionOf(named, ids, depth - 1) : fc.constant('')
  // The alias encodes the arguments, so fields that merge have equal arguments.
  return fc
    .tuple(given, inner)
    .map(
      ([text, selection]) =>
        `${text === '' ? '' : `${name}_${text.replace(/\W+/g, '_').slice(0, 90)}: `}${name}${text} ${selection}`,
    )
}

describe.each(everyEngine)('the cost of a GraphQL operation as a bound of its response on %s', (engine) => {
  let app: App
  let ids: readonly string[] = []
  beforeEach(async () => {
    app = await startApp(engine)
    ids = await startFull(app)
  })

  test('no response has more values than the cost of its operation', async () => {
    // The cost of a document does not depend on the engine.
    const numRuns = engine === 'sqlite' ? 120 : 30
    let answered = 0
    await fc.assert(
      fc.asyncProperty(selectionOf(sandboxSchema.getQueryType() as GraphQLObjectType, ids, 5), async (query) => {
        // Two members of a union may have fields of one name and different types.
        fc.pre(validate(sandboxSchema, parse(query)).length === 0)
        const { data, errors, extensions } = await app.graphql(query)
        if (data === null) return expect(errors[0].extensions.code, query).toBe('QUERY_TOO_COMPLEX')
        answered++
        expect(valuesIn(data), query).toBeLessThanOrEqual(extensions.cost.requested)
      }),
      { numRuns },
    )
    expect(answered).toBeGreaterThan(numRuns / 2)
  })

  test('every list without a page size is at most as long as the cost of its operation assumes', async () => {
    const lists = Object.values(sandboxSchema.getTypeMap())
      .filter((type) => isObjectType(type) && !/^__|Connection$|Error$/.test(type.name))
      .flatMap((type) => Object.values((type as GraphQLObjectType).getFields()).map((field) => ({ type, field })))
      .filter(({ field }) => isListType(getNullableType(field.type)) && field.args.length === 0)
      .map(({ type, field }) => `${type.name}.${field.name}`)
    await deliverOften(app, (listSizeByField['WebhookDelivery.attempts'] as number) + 1)
    await goToAndFro(app, listSizeByField['Payout.timeline'] as number)
    await detectOften(app, (listSizeByField['Wallet.pendingDeposits'] as number) + 1)
    const requirements = ['NGN', 'ZAR', 'USDC', 'USDT']
      .map((code) => `${code}: payoutMethodRequirements(currency: "${code}") {fields {allowedValues checks}}`)
      .join(' ')
    const { data } = await app.graphql(`{${requirements} merchant {key {scopes}}
      webhookEndpoints(first: 1) {nodes {types deliveries(first: 1) {nodes {attempts {status}}}}}
      assetCodes {nodes {networks {network}}} wallets(first: 5) {nodes {addresses {id} pendingDeposits {needed}}}
      payouts {nodes {events {status} checks {code} timeline {state}}} attention {nodes {actions}}
      payoutMethods {nodes {... on BankPayoutMethod {checks {code}} ... on WalletPayoutMethod {checks {code}}}}
      payoutQuote(input: {assetCode: USDC, amount: "1", recipient: {currency: NGN}}) {... on PayoutQuote {warnings {code}}}}`)
    const seen = maxListLengths(data)
    const plain = lists.map((name) => name.split('.')[1] as string).filter((name) => name !== 'nodes')
    expect(Object.keys(seen).sort()).toEqual([...new Set(plain)].sort())
    const { types = 0, attempts = 0, timeline = 0, pendingDeposits = 0, ...others } = seen
    expect(Math.max(...Object.values(others))).toBe(defaultListSize)
    expect({ types, attempts, timeline, pendingDeposits }).toEqual({
      types: listSizeByField['WebhookEndpoint.types'],
      attempts: listSizeByField['WebhookDelivery.attempts'],
      timeline: listSizeByField['Payout.timeline'],
      pendingDeposits: listSizeByField['Wallet.pendingDeposits'],
    })
  })
})

/** The number of scalars, enum values and nulls in a response. */
function valuesIn(response: unknown): number {
  if (typeof response !== 'object' || response === null) return 1
  return Object.values(response).reduce((sum: number, inner) => sum + valuesIn(inner), 0)
}

/** A payout with this many status changes and an entry in the attention queue. */
async function goToAndFro(app: App, times: number): Promise<void> {
  const { id } = await createRailPayout(app.context(), '1')
  const { orderId } = await railOrderOf(app.context(), id)
  const merchantId = app.merchant.id
  for (let i = 0; i < times; i++) {
    await app.db.write(
      async (tx) => {
        const transfer = await lockRailOrder(tx, { merchantId, orderId })
        if (transfer) await transitionRailOrder(tx, app.context(), transfer, { state: 'ATTENTION' })
      },
      { merchantId },
    )
  }
}

/** A wallet with this many pending deposits. */
async function detectOften(app: App, times: number): Promise<void> {
  const ref = await refOf(app, await app.wallet({ network: 'erc20' }))
  for (let log = 0; log < times; log++) {
    const transfer = {
      ref,
      network: 'erc20',
      txHash: hashOf('one'),
      logIndex: log,
      asset: 'USDC',
      amount: '1',
    } as const
    await reportDeposit(app.context(), { ...transfer, rail: 'node', confirmations: 1, state: 'DETECTED' })
  }
}

/** An endpoint subscribed to every event type, with this many attempts of one event. */
async function deliverOften(app: App, times: number): Promise<void> {
  const { body } = await app.rest('POST', '/api/webhooks', {
    body: { url: 'http://127.0.0.1:9/', types: [...eventTypes] },
  })
  const sent = {
    sequence: 1,
    objectId: body.data.id,
    happenedAt: body.data.created_at,
    attemptedAt: body.data.created_at,
    durationMs: 1,
    status: 500,
  }
  const failed = { ...sent, answer: null, error: null, outcome: 'pending', nextAttemptAt: dueTime(1) } as const
  const report = {
    endpointId: body.data.id,
    waiting: [],
    isGone: false,
    cursor: { from: body.data.sent_up_to, to: body.data.sent_up_to },
  }
  for (let i = 0; i < times; i++)
    await recordAttempts(app.context(), {
      ...report,
      attempted: [{ ...failed, storedAttempts: i === 0 ? null : i, attemptsInSchedule: i + 1 }],
    })
}

/** The length of the longest list per field name. */
function maxListLengths(response: unknown, longest: Record<string, number> = {}): Record<string, number> {
  if (typeof response !== 'object' || response === null) return longest
  for (const [name, inner] of Object.entries(response)) {
    if (Array.isArray(inner) && name !== 'nodes') longest[name] = Math.max(longest[name] ?? 0, inner.length)
    maxListLengths(inner, longest)
  }
  return longest
}
