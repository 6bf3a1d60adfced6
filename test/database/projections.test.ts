import type { AliasedExpression } from 'kysely'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { MaybePromise } from '../../src/core/maybe-promise.ts'
import { customerScope } from '../../src/database/customer-scope.ts'
import type { Database } from '../../src/database/database.ts'
import type { ProjectedRow, Projection } from '../../src/database/projection.ts'
import { createProjection } from '../../src/database/projection.ts'
import type { Params, Query, Reader } from '../../src/database/query.ts'
import {
  acrossMerchants,
  deleteFrom,
  insertRow,
  query,
  queryWithFilters,
  selectFrom,
} from '../../src/database/query.ts'
import { compileForSqlite } from '../../src/database/sqlite/compile-for-sqlite.ts'
import { openConnection } from '../../src/database/sqlite/sqlite-connection.ts'
import { tables } from '../../src/database/tables.ts'
import { declaredLists } from '../../src/lists/declaration.ts'
import type { Slice } from '../../src/lists/slice.ts'
import { customers } from '../../src/modules/customers/list.ts'
import { deposits } from '../../src/modules/deposits/list.ts'
import { entries } from '../../src/modules/ledger/list.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import { webhookEndpoints } from '../../src/modules/webhooks/endpoints/list.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'
import { describePostgres } from '../support/engines.ts'
import { openTestDatabaseOn } from './open-test-database.ts'
import { idOf, merchantRow, rawQuery } from './rows.ts'

/** Starts an app with rows of the merchant and a customer in every list. */
async function startFilled(engine: Engine) {
  const app = await startApp(engine)
  const customerId = await app.customer()
  const walletId = await app.wallet({ balance: '1000' })
  await app.wallet({ balance: '1000', customerId })
  for (const owner of [{}, { customer_id: customerId }]) {
    await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, ...owner } })
    await app.rest('POST', '/api/payout/methods/wallets', { body: { ...walletMethodBody, ...owner } })
    await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, ...owner, narration: 'Thanks' } })
  }
  await app.rest('POST', '/api/webhooks', { body: { url: 'https://example.com/webhooks' } })
  return { app, walletId }
}

/** Returns the values of a whole row in some columns. */
const valuesOf = (row: object, { names }: Projection): ProjectedRow =>
  names.map((name) => (row as Record<string, unknown>)[name])

const wholePayouts = query((p: Params<{ merchantId: string }>) =>
  selectFrom('payouts').selectAll().where('merchantId', '=', p.merchantId).orderBy('sequence', 'desc'),
)

/** Returns different sets of these columns. */
function someSets(names: readonly string[], count: number): Projection[] {
  return Array.from({ length: count }, (_, i) =>
    createProjection(names.filter((_, bit) => bit < 31 && (i + 1) & (1 << bit))),
  )
}

type Sliced = {
  slice(context: object, input: object): MaybePromise<Slice<object>>
  slice(context: object, input: object, columns: Projection): MaybePromise<Slice<ProjectedRow>>
}

describe.each(everyEngine)('projections (selected columns) on %s', (engine) => {
  test('of any list have the same values as whole rows, for each column alone and for all columns together', async () => {
    const { app, walletId } = await startFilled(engine)
    const lists = {
      customers,
      deposits,
      wallets,
      payout_methods: payoutMethods,
      payouts,
      entries,
      webhook_endpoints: webhookEndpoints,
    }
    expect(Object.keys(lists).sort()).toEqual(declaredLists.map(({ name }) => name).sort())

    for (const [name, list] of Object.entries(lists)) {
      const { slice } = list as unknown as Sliced
      const input = name === 'entries' ? { walletId } : {}
      const { items } = await slice(app.context(), input)
      expect(items.length).toBeGreaterThan(0)
      const names = Object.keys(items[0] as object)
      for (const columns of [...names.map((each) => createProjection([each])), createProjection(names)]) {
        const chosen = await slice(app.context(), input, columns)
        expect(chosen.items, `${name} ${columns.key}`).toEqual(items.map((row) => valuesOf(row, columns)))
      }
    }
  })

  test('decode amounts, integers, JSON, times and NULL in the same way as whole rows', async () => {
    const { db } = await openTestDatabaseOn(engine)
    const merchantId = idOf(1)
    const result = { text: 'a "quoted" 🙂', list: [1, null, true] }
    const maxInteger = 2n ** 63n - 1n
    const key = { merchantId, operation: 'test', key: 'k', fingerprint: '', createdAt: '1899-02-28T00:00:00.010Z' }
    const account = { merchantId, assetCode: 'USDC', latestTime: 0n, reachableBalance: null }
    await db.write(async (tx) => {
      await insertRow('merchants')(tx, merchantRow(1))
      await insertRow('idempotencyKeys')(tx, { ...key, result })
      await insertRow('merchants')(tx, merchantRow(2))
      await insertRow('accounts')(tx, { ...account, id: 'a', kind: 'wallet', balance: maxInteger, entryCount: 7 })
      await insertRow('accounts')(tx, { ...account, id: 'b', kind: 'fees', balance: null, entryCount: 0 })
    })
    const accounts = query((p: Params<{ merchantId: string }>) =>
      selectFrom('accounts')
        .selectAll()
        .select(['balance as owned', sql<bigint>`1 + 1`.as('two')])
        .where('merchantId', '=', p.merchantId)
        .orderBy('id'),
    )
    const keys = query((p: Params<{ operation: string }>) =>
      acrossMerchants(
        selectFrom('merchants')
          .leftJoin('idempotencyKeys', 'idempotencyKeys.merchantId', 'merchants.id')
          .where((eb) => eb('operation', '=', p.operation).or('operation', 'is', null))
          .selectAll('idempotencyKeys')
          .orderBy('merchants.id'),
      ),
    )

    const counts = query(() =>
      acrossMerchants(
        selectFrom('merchants')
          .leftJoin('accounts', 'accounts.merchantId', 'merchants.id')
          .select(['accounts.balance', 'accounts.entryCount'])
          .orderBy('merchants.id', 'desc')
          .orderBy('accounts.id', 'desc'),
      ),
    )

    expect(await accounts(db, { merchantId }, createProjection(['id', 'owned', 'entryCount', 'two']))).toEqual([
      [7, 'a', maxInteger, 2n],
      [0, 'b', null, 2n],
    ])
    expect(await accounts(db, { merchantId }, createProjection(['entryCount', 'id']))).toEqual([
      [7, 'a'],
      [0, 'b'],
    ])
    expect(await keys(db, { operation: 'test' }, createProjection(['result', 'createdAt']))).toEqual([
      [key.createdAt, result],
      [null, null],
    ])
    expect(await counts(db, {}, createProjection(['balance', 'entryCount']))).toEqual([
      [null, null],
      [null, 0],
      [maxInteger, 7],
    ])
  })

  test('return correct rows for a thousand different selections, even if the caller changes returned rows', async () => {
    const { app } = await startFilled(engine)
    const { merchantId } = app.context()
    const whole = await wholePayouts(app.db, { merchantId })
    const sets = someSets(Object.keys(whole[0] as object), 1_100)

    for (const columns of [...sets, ...sets.slice(0, 50)]) {
      const rows = await wholePayouts(app.db, { merchantId }, columns)
      expect(rows).toEqual(whole.map((row) => valuesOf(row, columns)))
      for (const row of rows as unknown[][]) row.fill('changed')
    }
    expect(await wholePayouts(app.db, { merchantId })).toEqual(whole)
  })

  test('of columns that the query does not select are rejected, and so is an empty projection', async () => {
    const { app } = await startFilled(engine)
    const { merchantId } = app.context()
    const some = query((p: Params<{ merchantId: string }>) =>
      selectFrom('payouts').select(['id', 'status as state']).where('merchantId', '=', p.merchantId),
    )

    expect(() => some(app.db, { merchantId }, createProjection(['id', 'amount']))).toThrow(
      'does not select the column amount',
    )
    expect(() => some(app.db, { merchantId }, createProjection(['status']))).toThrow(
      'does not select the column status',
    )
    expect(await some(app.db, { merchantId }, createProjection(['state']))).toEqual([['PROCESSING'], ['PROCESSING']])
    expect(() => createProjection([])).toThrow('a projection needs at least one column')
    const slice = await payouts.slice(app.context(), { first: 1 }, createProjection(['id']))
    expect(() => slice.cursorOf(slice.items[0] as ProjectedRow)).toThrow('the column sequence was not selected')
  })

  test('give items the same cursors as whole rows', async () => {
    const { app } = await startFilled(engine)
    const whole = await payouts.slice(app.context(), {})
    const projected = await payouts.slice(app.context(), {}, payouts.columns(['sequence']))

    expect(projected.items.map(projected.cursorOf)).toEqual(whole.items.map(whole.cursorOf))
  })

  test('are read with one query for several ids, and with a separate query for a single id', async () => {
    const { app } = await startFilled(engine)
    const seen: Query[] = []
    const execute: Reader['execute'] = (asked, params) => {
      seen.push(asked)
      return app.db.execute(asked, params)
    }
    const context = { ...app.context(), db: { ...app.db, execute } }
    const rows = (await payouts.slice(context, {})).items
    const columns = payouts.columns(['amount', 'id'])
    expect(columns.names).toEqual(['amount', 'id'])

    for (const ids of [rows.slice(0, 1), rows].map((some) => some.map(({ id }) => id))) {
      const matches = rows.filter(({ id }) => ids.includes(id))
      expect((await payouts.find(context, ids)).toSorted(byId)).toEqual(matches.toSorted(byId))
      const values = await payouts.find(context, ids, columns)
      expect(new Set(values)).toEqual(new Set(matches.map(({ amount, id }) => [amount, id])))
    }
    expect(await payouts.find(context, ['x'], columns)).toEqual([])
    const [, one, oneChosen, many, manyChosen] = seen.map(({ number, projection: columns }) => [
      number,
      columns !== null,
    ])
    expect(one).not.toEqual(many)
    expect([one?.[1], oneChosen?.[1], many?.[1], manyChosen?.[1]]).toEqual([false, true, false, true])
  })
})

const byId = (one: { id: string }, other: { id: string }) => one.id.localeCompare(other.id)

describe('queries with a projection (selected columns)', () => {
  /** Records the executed queries. */
  function recorder() {
    const queries: Query[] = []
    const execute: Reader['execute'] = async (query) => {
      queries.push(query)
      return []
    }
    return { reader: { execute }, asked: queries }
  }

  test('are built once for each query and set of columns', async () => {
    const { reader, asked } = recorder()
    const filtered = queryWithFilters(['status'], (p: Params<{ merchantId: string; status: 'FAILED' }>, has) => {
      const all = selectFrom('payouts').selectAll().where('merchantId', '=', p.merchantId)
      return has('status') ? all.where('status', '=', p.status) : all
    })
    const params = { merchantId: 'm' }
    await wholePayouts(reader, params, createProjection(['id', 'amount']))
    await wholePayouts(reader, params, createProjection(['amount', 'id', 'amount']))
    await wholePayouts(reader, params, createProjection(['id']))
    await filtered(reader, params, createProjection(['id']))
    await filtered(reader, { ...params, status: 'FAILED' }, createProjection(['id']))
    await wholePayouts(reader, params)

    expect(new Set(asked).size).toBe(5)
    expect(asked[0]).toBe(asked[1])
    expect(new Set(asked.map(({ scope }) => scope))).toEqual(new Set(['merchant']))
  })

  test('have different statement names, also in customer scope', async () => {
    const { reader, asked } = recorder()
    const scoped = customerScope(reader as unknown as Database, 'c')
    for (const names of [['id'], ['status'], ['amount']]) {
      await wholePayouts(reader, { merchantId: 'm' }, createProjection(names))
      await wholePayouts(scoped, { merchantId: 'm' }, createProjection(names))
    }

    expect(new Set(asked.map(({ number }) => number)).size).toBe(6)
  })

  test('omit an expression without a name', async () => {
    const { reader, asked } = recorder()
    const unnamed = sql`1` as unknown as AliasedExpression<number, 'one'>
    const merchants = query(() => selectFrom('merchants').select(unnamed).select('id'))

    await merchants(reader, {}, createProjection(['id']))

    expect(compileForSqlite((asked[0] as Query).node).sql).toBe('select "id" from "merchants"')
  })

  test.each([
    ['two tables', query(() => selectFrom(['merchants', 'assetCodes']).selectAll())],
    ['a subquery', query(() => selectFrom(selectFrom('merchants').select('id').as('some')).selectAll())],
  ])('are rejected if the query selects all columns of %s', (_, all) => {
    const { reader } = recorder()
    expect(() => all(reader, {}, createProjection(['id']))).toThrow('does not select the column id')
  })

  test('are rejected if the query is not a select', () => {
    const { reader } = recorder()
    const deletion = query(() => deleteFrom('merchants'))
    expect(() => deletion(reader, {}, createProjection(['id']))).toThrow('only a select can be projected')
  })

  test('are cached for each projection, up to a limit', async () => {
    const { reader, asked } = recorder()
    const columns = createProjection(['id', 'name'])
    const queries = Array.from({ length: 9 }, () => query(() => selectFrom('merchants').selectAll()))
    for (const _ of [1, 2]) for (const each of queries) await each(reader, {}, columns)

    expect(asked.slice(9)).toEqual(asked.slice(0, 9))
    expect(columns.projectedQueries.size).toBeLessThan(9)
  })

  test('stay prepared on a SQLite connection while they are used, and are evicted otherwise', async () => {
    const { url } = await openTestDatabaseOn('sqlite')
    const connection = openConnection(url.replace('sqlite:', ''), { isReadOnly: true })
    onTestFinished(() => void connection.raw.close())
    const prepare = vi.spyOn(connection.raw, 'prepare')
    const reader: Reader = {
      execute: async <Result>(...[built, params]: Parameters<Reader['execute']>) =>
        connection.run(built, params) as Result[],
    }
    const [used, ...others] = someSets(Object.keys(tables.payouts), 700) as [Projection, ...Projection[]]
    for (const columns of others) {
      await wholePayouts(reader, { merchantId: '' }, columns)
      await wholePayouts(reader, { merchantId: '' }, used)
    }
    expect(prepare).toHaveBeenCalledTimes(700)
    await wholePayouts(reader, { merchantId: '' }, others.at(-1) as Projection)
    expect(prepare).toHaveBeenCalledTimes(700)
    await wholePayouts(reader, { merchantId: '' }, others[0] as Projection)
    expect(prepare).toHaveBeenCalledTimes(701)
  })
})

describePostgres('queries with a projection on PostgreSQL', {}, () => {
  const names = rawQuery(sql<{ name: string }>`select name from pg_prepared_statements`)
  /** Parameters that fail during execution, and before it. */
  const quotients = query((p: Params<{ merchantId: string; divisor: number }>) =>
    selectFrom('payouts')
      .select(sql<number>`sequence / ${p.divisor}`.as('quotient'))
      .where('merchantId', '=', p.merchantId),
  )
  const nonsense = query((p: Params<{ merchantId: string }>) =>
    selectFrom('payouts').select(sql<number>`nonsense`.as('nonsense')).where('merchantId', '=', p.merchantId),
  )

  test('queries with a projection are deallocated on PostgreSQL when they are evicted, even if a concurrent query fails', async () => {
    const { app } = await startFilled('postgres')
    const { merchantId } = app.context()
    const whole = await wholePayouts(app.db, { merchantId })
    const sets = someSets(Object.keys(whole[0] as object), 450)
    const formsPrepared = async () =>
      (await names(app.db)).map(({ name }) => name).filter((name) => name.startsWith('form')).length
    const right = (columns: Projection) => whole.map((row) => valuesOf(row, columns))

    for (const columns of sets.slice(0, 300)) await wholePayouts(app.db, { merchantId }, columns)
    expect(await formsPrepared()).toBeGreaterThan(100)
    expect(await formsPrepared()).toBeLessThan(220)

    for (let i = 300; i < 450; i += 5) {
      const [before, ...after] = [...sets.slice(i, i + 5), sets[i - 300] as Projection] as unknown as [
        Projection,
        ...Projection[],
      ]
      const failing = (db: Reader) =>
        i % 2 ? quotients(db, { merchantId, divisor: 0 }) : (nonsense(db, { merchantId }) as Promise<unknown>)
      const together = (db: Reader) =>
        Promise.allSettled([
          wholePayouts(db, { merchantId }, before),
          failing(db),
          ...after.map((columns) => wholePayouts(db, { merchantId }, columns)),
        ])
      const inTransaction = await app.db.snapshot(together)
      expect(inTransaction.map(({ status }) => status)).toEqual(inTransaction.map(() => 'rejected'))
      const [first, failed, ...rest] = await together(app.db)
      expect(failed?.status).toBe('rejected')
      expect([first, ...rest]).toEqual([before, ...after].map((each) => ({ status: 'fulfilled', value: right(each) })))
    }
    expect(await formsPrepared()).toBeLessThan(220)
    for (const columns of sets) expect(await wholePayouts(app.db, { merchantId }, columns)).toEqual(right(columns))
    expect(await formsPrepared()).toBeGreaterThan(100)
    expect(await formsPrepared()).toBeLessThan(220)
  })
})
