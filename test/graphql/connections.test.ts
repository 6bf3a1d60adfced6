import { describe, expect, test } from 'vitest'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { sandboxSchema as schema } from '../../src/server/graphql/schema.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody } from '../support/bodies.ts'
import { someOf } from '../support/some-of.ts'
import type { Ask } from './support/ask.ts'
import { createAsk } from './support/ask.ts'
import { filterCases } from './support/filter-cases.ts'
import type { ListCall } from './support/lists.ts'
import { askFor, callsOf, everyList, globalIdOf, hasFilter, itemOf, rowsOf } from './support/lists.ts'
import { startLists } from './support/lists-world.ts'
import { countingStatements, nestedSelections, startFifty } from './support/statements.ts'
import { inputPathsOf } from './support/walk.ts'

const isSlice = (path: string) => ['first', 'after', 'last', 'before'].includes(path)

test('every list accepts the arguments `first`, `last`, `after` and `before`, and every filter of a list has test cases', () => {
  expect(everyList.length).toBeGreaterThan(10)
  for (const list of everyList) {
    const [owner = '', field = ''] = list.split('.')
    const paths = inputPathsOf(schema, owner, field)
    expect(paths.filter(isSlice).sort(), list).toEqual(['after', 'before', 'first', 'last'])
    const filters = paths.filter((path) => !isSlice(path))
    expect(Object.keys(filterCases[itemOf(list)] ?? {}), list).toEqual(expect.arrayContaining(filters))
  }
})

/** Filters by a value that all rows of a list share: the asset within a wallet. */
const lettingAllOrNothingThrough = ['Wallet.payouts filter.assetCode']

describe.each(everyEngine)('connections on %s', (engine) => {
  test('paging through a list returns each item once and in order, in both directions and at any page size', async () => {
    const { app, parents } = await startLists(engine)
    const ask = createAsk(app)
    for (const call of callsOf(parents)) {
      const expected = (await rowsOf(app, call)).map((row) => globalIdOf(call.list, row))
      expect(expected.length, call.list).toBeGreaterThan(2)
      for (const size of [2, expected.length]) {
        await expectWalk(ask, call, expected, { end: 'first', size })
        await expectWalk(ask, call, expected, { end: 'last', size })
      }
      const standard = await askFor(ask, call)
      expect(standard.connection.nodes.map(({ id }) => id)).toEqual(expected.slice(0, 20))
      await expectSlicesBetweenCursors(ask, call, expected)
    }
  })

  test('a list that is selected in several fragments returns the union of the selections', async () => {
    const { app } = await startLists(engine)
    const query = `
      fragment Nodes on Query { customers(first: 2) { nodes { id } } }
      query Alone { ...Nodes }
      query Together { ...Nodes customers(first: 2) { edges { cursor node { id } } } }`
    for (const operationName of ['Alone', 'Together', 'Alone', 'Together', 'Together', 'Alone']) {
      const headers = { 'x-api-key': app.merchant.apiKey }
      const payload = { query, operationName }
      const { statusCode, body } = await app.server.inject({ method: 'POST', url: '/graphql', headers, payload })
      expect(statusCode).toBe(200)
      const { nodes, edges } = JSON.parse(body).data.customers
      expect(nodes).toHaveLength(2)
      if (operationName === 'Alone') continue
      expect(edges).toEqual(nodes.map(({ id }: { id: string }) => ({ cursor: expect.any(String), node: { id } })))
    }
  })

  test('`first` and `last` accept 0 to 100, and a request with both is rejected', async () => {
    const { app, parents } = await startLists(engine)
    const ask = createAsk(app)
    for (const call of callsOf(parents)) {
      const total = (await rowsOf(app, call)).length
      for (const end of ['first', 'last']) {
        const { connection } = await askFor(ask, call, { [end]: 0 })
        const more = { hasNextPage: end === 'first', hasPreviousPage: end === 'last' }
        expect(connection, call.list).toEqual({
          totalCount: total,
          pageInfo: { ...more, startCursor: null, endCursor: null },
          nodes: [],
          edges: [],
        })
        expect((await askFor(ask, call, { [end]: 100 })).connection.nodes).toHaveLength(Math.min(total, 100))
        for (const size of someOf(app, [101, 2_147_483_647, -1])) {
          const { connection, errors } = await askFor(ask, call, { [end]: size }, '{ totalCount }')
          expect(connection ?? null, `${call.list} ${end} ${size}`).toBeNull()
          const fault = { field: end, code: 'INVALID_PARAMETER', message: `${end} must be an integer from 0 to 100` }
          expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', fields: [fault] } }])
        }
        // These are not GraphQL integers.
        for (const size of someOf(app, [2_147_483_648, 1.5, '5'])) {
          const { data, errors } = await askFor(ask, call, { [end]: size }, '{ totalCount }')
          expect([data, errors.length], `${call.list} ${end} ${size}`).toEqual([null, 1])
          expect(errors[0].extensions.code).toBe('INVALID_INPUT')
        }
      }
      const { connection, errors } = await askFor(ask, call, { first: 1, last: 1 }, '{ totalCount }')
      expect(connection ?? null).toBeNull()
      expect(errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', fields: [{ field: 'last' }] })
    }
  })

  test('each filter returns, counts and pages through exactly its matching rows', async () => {
    const world = await startLists(engine)
    const ask = createAsk(world.app)
    for (const call of callsOf(world.parents)) {
      const [owner = '', field = ''] = call.list.split('.')
      const rows = await rowsOf(world.app, call)
      for (const path of inputPathsOf(schema, owner, field).filter((each) => !isSlice(each))) {
        let strict = 0
        for (const [value, isIn] of filterCases[itemOf(call.list)]?.[path]?.(world, rows) ?? []) {
          const filtered = { ...call, args: argumentOf(path, value) }
          const expected = rows.filter(isIn).map((row) => globalIdOf(call.list, row))
          if (expected.length > 0 && expected.length < rows.length) strict++
          await expectWalk(ask, filtered, expected, { end: 'first', size: 100 })
          await expectWalk(ask, filtered, expected, { end: 'last', size: 7 })
        }
        const isStrict = !lettingAllOrNothingThrough.includes(`${call.list} ${path}`)
        expect(strict > 0, `${call.list} ${path} lets some through and not others`).toBe(isStrict)
      }
    }
  })

  test('several filters combine with AND, and an invalid filter is rejected with its path', async () => {
    const { app, person, wallets, parents } = await startLists(engine)
    const ask = createAsk(app)
    const call: ListCall = { list: 'Query.payouts' }
    const rows = await rowsOf(app, call)
    const { created_at: createdFrom } = rows.at(-3) ?? {}
    const filter = {
      owner: { customerId: person },
      walletId: wallets.person,
      status: 'PROCESSING',
      assetCode: 'USDC',
      createdFrom,
    }
    const expected = rows.filter(
      (row) => row.wallet_id === wallets.person && row.status === 'PROCESSING' && row.created_at >= createdFrom,
    )
    expect(expected.length).toBeGreaterThan(0)
    await expectWalk(
      ask,
      { ...call, args: { filter } },
      expected.map((row) => globalIdOf(call.list, row)),
      { end: 'first', size: 1 },
    )
    await expectWalk(
      ask,
      { ...call, args: { filter: { owner: { customerId: person }, walletId: wallets.merchant } } },
      [],
      { end: 'first', size: 1 },
    )

    for (const each of callsOf(parents).filter(({ list }) => itemOf(list) !== 'AssetCode' && hasFilter(list))) {
      for (const name of ['createdFrom', 'createdBefore']) {
        for (const moment of someOf(app, [
          'junk',
          '2026-05-01',
          '2026-05-01T12:00:00',
          '2026-02-30T12:00:00Z',
          '2026-05-01T25:00:00Z',
          '1',
        ])) {
          const { connection, errors } = await askFor(
            ask,
            { ...each, args: { filter: { [name]: moment } } },
            {},
            '{ totalCount }',
          )
          expect(connection ?? null, `${each.list} ${name} ${moment}`).toBeNull()
          expect(errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', fields: [{ field: `filter.${name}` }] })
        }
      }
    }
    const { errors } = await askFor(
      ask,
      { ...call, args: { filter: { owner: { merchant: false } } } },
      {},
      '{ totalCount }',
    )
    expect(errors[0].extensions).toMatchObject({ code: 'INVALID_INPUT', fields: [{ field: 'filter.owner.merchant' }] })
    const unreadable = { ...call, args: { filter: { owner: { customerId: '' } } } }
    expect((await askFor(ask, unreadable, {}, '{ totalCount }')).errors[0].extensions).toMatchObject({
      code: 'INVALID_INPUT',
      fields: [{ field: 'filter.owner.customerId' }],
    })
  })

  test('a list executes one statement, and a second statement only if totalCount is selected', async () => {
    const { app, parents, person } = await startLists(engine)
    const { ask, countOf } = countingStatements(app)
    for (const call of callsOf(parents)) {
      const filters =
        itemOf(call.list) === 'AssetCode' || !hasFilter(call.list)
          ? [{}]
          : [{}, { filter: { createdFrom: '2026-05-01T12:00:00Z' } }]
      for (const args of filters) {
        const without = await countOf(() => askFor(ask, { ...call, args }, { first: 2 }, '{ nodes { ID } }'))
        const counted = await countOf(() => askFor(ask, { ...call, args }, { first: 2 }, '{ totalCount nodes { ID } }'))
        // The supported assets are in memory.
        const extra = itemOf(call.list) === 'AssetCode' ? 0 : 1
        expect(counted - without, `${call.list} ${JSON.stringify(args)}`).toBe(extra)
      }
    }
    const customer = await countOf(() => ask('query($id: ID!) { customer(id: $id) { id } }', { id: person }))
    const query = await countOf(() => askFor(ask, { list: 'Query.payouts' }, { first: 2 }, '{ nodes { ID } }'))
    expect([customer, query]).toEqual([1, 1])
  })

  // Generated from the schema, so that no relation is read once per row.
  test("loading the relations of a list's items takes as many statements for fifty items as for five", async () => {
    const { app, walletId } = await startFifty(engine)
    const { ask, countOf } = countingStatements(app)
    const grows: string[] = []
    for (const { list, item, selection } of nestedSelections()) {
      const call = { list, ...(/^(Wallet|Statement)\./.test(list) && { parentId: walletId }) }
      const count = async (first: number) => {
        let rows = 0
        const statements = await countOf(async () => {
          const { connection, errors } = await askFor(ask, call, { first }, `{ nodes { ${selection} } }`)
          expect(errors, `${list} ${selection}`).toEqual([])
          rows = connection.nodes.length
        })
        if (item !== 'AssetCode') expect(rows, list).toBe(first)
        return statements
      }
      // Filtered totals cost too much for fifty items.
      const [few, many] = selection.includes('filter') && selection.includes('totalCount') ? [2, 7] : [5, 50]
      const [ofFew, ofMany] = [await count(few), await count(many)]
      // Each endpoint's delivery log takes its own query; a merchant has at most 50 endpoints.
      if (selection.includes('on WebhookEndpoint { deliveries')) continue
      if (ofFew !== ofMany) grows.push(`${list} { ${selection} }: ${ofFew} for ${few}, ${ofMany} for ${many}`)
    }
    expect(grows).toEqual([])

    for (const [query, statements] of deepQueries) {
      for (const first of [5, 50]) {
        const count = await countOf(async () => expect((await ask(query, { first })).errors).toEqual([]))
        expect(count, `${query} for ${first}`).toBe(statements)
      }
    }
  })

  test('no item is repeated or skipped if a payout is created between reading two pages', async () => {
    const { app, parents, payout } = await startLists(engine)
    const ask = createAsk(app)
    for (const call of callsOf(parents).filter(({ list }) => itemOf(list) === 'Payout')) {
      const before = (await rowsOf(app, call)).map((row) => globalIdOf(call.list, row))
      const first = await askFor(ask, call, { first: 2 })
      const last = await askFor(ask, call, { last: 2 })
      const owners = [null, ...parents.Customer]
      for (const owner of owners) await payout(owner, 'USDC')
      const onwards = await askFor(ask, call, { first: 100, after: first.connection.pageInfo.endCursor })
      const backwards = await askFor(ask, call, { last: 100, before: last.connection.pageInfo.startCursor })
      const ids = ({ connection }: Awaited<ReturnType<typeof askFor>>) => connection.nodes.map(({ id }) => id)
      expect([...ids(first), ...ids(onwards)]).toEqual(before)
      const currentIds = (await rowsOf(app, call)).map((row) => globalIdOf(call.list, row))
      expect(currentIds.length).toBeGreaterThan(before.length)
      expect([...ids(backwards), ...ids(last)]).toEqual(currentIds)
    }
  })
})

/** Nested lists with their expected number of statements: one per type of object, however many objects. */
const deepQueries = [
  [
    'query($first: Int) { payouts(first: $first) { nodes { id customer { email } recipientMethod { __typename } events { status } wallet { currency addresses { address } customer { phone } } } } }',
    6,
  ],
  [
    'query($first: Int) { customers(first: $first) { nodes { wallets(first: 2) { totalCount nodes { ledgerEntries(first: 2) { nodes { payout { recipientMethod { __typename } } wallet { id } } } } } payouts(first: 2) { nodes { id } } } } }',
    8,
  ],
] as const

describe.each(everyEngine)('pageInfo on %s', (engine) => {
  const flags = 'pageInfo { hasPreviousPage hasNextPage }'
  const methods = (given: object) => {
    const slice = Object.entries(given).map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    return `payoutMethods(${slice.join(', ')}) { edges { cursor node { ... on Node { id } } } ${flags} }`
  }
  /** The slice of each of the three lists of payout methods. */
  const lists = (customerId: string, given: object) =>
    [
      [methods(given), ['payoutMethods']],
      [`merchant { ${methods(given)} }`, ['merchant', 'payoutMethods']],
      [`customer(id: "${customerId}") { ${methods(given)} }`, ['customer', 'payoutMethods']],
      [`customers { nodes { ${methods(given)} } }`, ['customers', 'nodes', 0, 'payoutMethods']],
    ] as const

  test('hasNextPage and hasPreviousPage are correct after rows on either side of a cursor are deleted', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    for (const [i, [, path]] of lists(customer_id, {}).entries()) {
      const owner = path[0] === 'customer' || path[0] === 'customers' ? { customer_id } : {}
      const ask = async (given: object) => {
        const { data, errors } = await app.graphql(`{ ${lists(customer_id, given)[i]?.[0]} }`)
        expect(errors).toEqual([])
        return path.reduce((value, step) => value[step], data)
      }
      const seen = async (given: object) => {
        const { edges, pageInfo } = await ask(given)
        return [edges.length, pageInfo.hasPreviousPage, pageInfo.hasNextPage]
      }
      const ids: string[] = []
      for (let createdCount = 0; createdCount < 5; createdCount++) {
        const body = { ...bankMethodBody, ...owner }
        ids.unshift((await app.rest('POST', '/api/payout/methods/banks', { body })).body.data.id)
      }
      const remove = (place: number) => app.rest('DELETE', `/api/payout/methods/${ids[place]}`, { body: owner })
      const cursors = (await ask({ first: 5 })).edges.map(({ cursor }: { cursor: string }) => cursor)
      const [first, , middle, , last] = cursors

      expect(await seen({ first: 1, after: middle })).toEqual([1, true, true])
      expect(await seen({ last: 1, before: middle })).toEqual([1, true, true])
      expect(await seen({ first: 5, before: middle })).toEqual([2, false, true])
      expect(await seen({ last: 5, after: middle })).toEqual([2, true, false])
      await remove(0)
      expect(await seen({ first: 1, after: first })).toEqual([1, false, true])
      await remove(2)
      expect(await seen({ first: 1, after: middle })).toEqual([1, true, true])
      await remove(1)
      expect(await seen({ first: 1, after: middle })).toEqual([1, false, true])
      expect(await seen({ last: 1, before: middle })).toEqual([0, false, true])
      await remove(4)
      expect(await seen({ last: 1, before: last })).toEqual([1, false, false])
      await remove(3)
      for (const slice of [{ first: 1 }, { last: 1 }, { first: 1, after: middle }, { last: 1, before: middle }]) {
        expect(await seen(slice), JSON.stringify(slice)).toEqual([0, false, false])
      }
    }
  })

  test('hasNextPage and hasPreviousPage are correct when a row stops matching the filter', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    for (let i = 0; i < 3; i++) await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } })
    const page = async (given: string) => {
      const query = `{ payouts(filter: { status: PROCESSING }, ${given}) { edges { cursor node { uuid } } ${flags} } }`
      return (await app.graphql(query)).data.payouts
    }
    const { edges } = await page('first: 3')
    await settlePayout(app.context(), { payoutId: edges[0].node.uuid, status: 'COMPLETED' })
    const after = await page(`first: 1, after: "${edges[0].cursor}"`)
    expect(after.pageInfo).toEqual({ hasPreviousPage: false, hasNextPage: true })
    await settlePayout(app.context(), { payoutId: edges[2].node.uuid, status: 'COMPLETED' })
    const before = await page(`last: 1, before: "${edges[2].cursor}"`)
    expect(before.pageInfo).toEqual({ hasPreviousPage: false, hasNextPage: false })
  })
})

/** The argument with a value at a path such as `filter.owner.customerId`. */
function argumentOf(path: string, value: unknown): Record<string, unknown> {
  const nested = path.split('.').reduceRight((inner: unknown, name) => ({ [name]: inner }), value)
  return nested as Record<string, unknown>
}

async function expectWalk(
  ask: Ask,
  call: ListCall,
  expected: readonly string[],
  { end, size }: { end: 'first' | 'last'; size: number },
): Promise<void> {
  const about = `${call.list} ${JSON.stringify(call.args)} by ${end} ${size}`
  const isForwards = end === 'first'
  const seen: string[] = []
  let cursor: string | null = null
  for (;;) {
    const slice = { [end]: size, ...(cursor && { [isForwards ? 'after' : 'before']: cursor }) }
    const { connection, errors } = await askFor(ask, call, slice)
    expect(errors, about).toEqual([])
    const { nodes, edges, pageInfo, totalCount } = connection
    const ids = nodes.map(({ id }) => id)
    if (isForwards) seen.push(...ids)
    else seen.unshift(...ids)
    const rest = expected.length - seen.length
    expect(edges.map(({ node }) => node)).toEqual(nodes)
    expect(totalCount, about).toBe(expected.length)
    expect(pageInfo, about).toEqual({
      hasNextPage: isForwards ? rest > 0 : cursor !== null,
      hasPreviousPage: isForwards ? cursor !== null : rest > 0,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    })
    expect(new Set(edges.map((edge) => edge.cursor)).size).toBe(ids.length)
    if (rest <= 0) break
    expect(ids, about).toHaveLength(size)
    cursor = isForwards ? pageInfo.endCursor : pageInfo.startCursor
  }
  expect(seen, about).toEqual(expected)
}

/** Both `after` and `before`, with `first` or `last`. */
async function expectSlicesBetweenCursors(ask: Ask, call: ListCall, expected: readonly string[]): Promise<void> {
  const { connection } = await askFor(ask, call, { first: 100 })
  const [newest, oldest] = [connection.edges[0]?.cursor, connection.edges.at(-1)?.cursor]
  const inner = expected.slice(1, -1)
  for (const [slice, ids] of [
    [{ after: newest, before: oldest }, inner.slice(0, 20)],
    [{ after: newest, before: oldest, first: 1 }, inner.slice(0, 1)],
    [{ after: newest, before: oldest, last: 1 }, inner.slice(-1)],
    [{ after: oldest, before: newest }, []],
    [{ after: newest, before: newest, last: 1 }, []],
  ] as const) {
    const { connection } = await askFor(ask, call, slice)
    expect(
      connection.nodes.map(({ id }) => id),
      `${call.list} ${JSON.stringify(slice)}`,
    ).toEqual(ids)
  }
}
