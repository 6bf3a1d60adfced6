import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import type { Params, Reader, Tx } from '../../src/database/query.ts'
import {
  acrossMerchants,
  deleteFrom,
  insertInto,
  insertRow,
  listParam,
  query,
  queryOne,
  queryWithFilters,
  scanTable,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../src/database/query.ts'
import { compileForSqlite } from '../../src/database/sqlite/compile-for-sqlite.ts'
import { openConnection } from '../../src/database/sqlite/sqlite-connection.ts'
import { openTestDatabase } from './open-test-database.ts'
import { attempt, idOf, merchantRow, upTo } from './rows.ts'

const insertMerchant = insertRow('merchants')
const insertAccount = insertRow('accounts')
const insertKey = insertRow('idempotencyKeys')
const insertMethod = insertRow('payoutMethods')

const maxInteger = 2n ** 63n - 1n

/** Creates a database with merchants numbered 1 to `count`. */
async function startDatabase(count = 3): Promise<{ db: Database; path: string }> {
  const opened = await openTestDatabase()
  await opened.db.write(async (tx) => {
    for (const number of upTo(count)) await insertMerchant(tx, merchantRow(number))
  })
  return opened
}

const accountRow = (id: string, balance: bigint | null, entryCount = 0) => ({
  merchantId: idOf(1),
  id,
  kind: balance === null ? ('fees' as const) : ('wallet' as const),
  assetCode: 'USDC',
  balance,
  entryCount,
  latestTime: 0n,
  reachableBalance: null,
})

const keyRow = (result: unknown) => ({
  merchantId: idOf(1),
  operation: 'test',
  key: 'key',
  fingerprint: 'print',
  result,
  createdAt: '2026-01-01T00:00:00.000Z',
})

describe('query parameters', () => {
  const named = queryOne((p: Params<{ id: string }>) => selectFrom('merchants').select('name').where('id', '=', p.id))

  test('are bound again at each execution', async () => {
    const { db } = await startDatabase()

    expect(await named(db, { id: idOf(2) })).toEqual({ name: 'Merchant 2' })
    expect(await named(db, { id: idOf(3) })).toEqual({ name: 'Merchant 3' })
    expect(await named(db, { id: idOf(9) })).toBeNull()
  })

  test('are never parsed as SQL', async () => {
    const { db } = await startDatabase()
    const name = `'; drop table merchants; -- "?1" :id 🙂`
    await db.write((tx) => insertMerchant(tx, { ...merchantRow(4), name }))

    expect(await named(db, { id: idOf(4) })).toEqual({ name })
    expect(await named(db, { id: `' or '1' = '1` })).toBeNull()
  })

  test('stay strings if they consist of digits', async () => {
    const { db } = await startDatabase()
    const echo = queryOne((p: Params<{ given: string }>) =>
      selectFrom('merchants').select([
        sql<string>`${p.given}`.as('given'),
        sql<string>`typeof(${p.given})`.as('type'),
        sql<bigint>`${p.given} = '007'`.as('isEqual'),
      ]),
    )
    await db.write((tx) => insertMerchant(tx, { ...merchantRow(4), name: '0007e1' }))

    expect(await named(db, { id: idOf(4) })).toEqual({ name: '0007e1' })
    expect(await echo(db, { given: '007' })).toEqual({ given: '007', type: 'text', isEqual: 1n })
  })

  test('cause an error with their name if they have no value', async () => {
    const { db } = await startDatabase()

    await expect(attempt(() => named(db, {} as { id: string }))).rejects.toThrow('the query parameter id has no value')
    expect(await named(db, { id: idOf(1) })).toEqual({ name: 'Merchant 1' })
  })

  test('may occur several times, and together with constants in the query', async () => {
    const { db } = await startDatabase()
    const between = query((p: Params<{ id: string; name: string }>) =>
      selectFrom('merchants')
        .select(['id', sql<string>`${p.name} || ${'!'} || ${sql.lit(7)} || ${sql.lit("'")}`.as('shout')])
        .where('name', '<>', 'Merchant 2')
        .where((eb) => eb.or([eb('id', '=', p.id), eb('name', '=', p.name)]))
        .where('createdAt', '>=', '2026-01-01')
        .orderBy('id')
        .limit(10),
    )

    expect(await between(db, { id: idOf(2), name: 'Merchant 3' })).toEqual([{ id: idOf(3), shout: "Merchant 3!7'" }])
  })

  test('are bound as integers if they are numbers', async () => {
    const { db } = await startDatabase()
    const quotient = queryOne((p: Params<{ number: number; divisor: number }>) =>
      selectFrom('merchants').select(sql<bigint>`${p.number} / ${p.divisor}`.as('quotient')),
    )

    expect(await quotient(db, { number: 129, divisor: 64 })).toEqual({ quotient: 2n })
    await expect(attempt(() => quotient(db, { number: 1.5, divisor: 64 }))).rejects.toThrow()
  })
})

describe('a list parameter', () => {
  const among = query((p: Params<{ ids: readonly string[] }>) =>
    selectFrom('merchants').select('id').where('id', 'in', listParam(p.ids)).orderBy('id'),
  )
  const amongNumbers = query((p: Params<{ numbers: readonly number[] }>) =>
    selectFrom('assetCodes').select('code').where('minorUnitPlaces', 'in', listParam(p.numbers)).orderBy('code'),
  )

  test.each([0, 1, 2, 1000])('matches the rows of %i ids', async (count) => {
    const { db } = await startDatabase(5)

    const rows = await among(db, { ids: upTo(count).map(idOf) })

    expect(rows).toEqual(upTo(Math.min(count, 5)).map((number) => ({ id: idOf(number) })))
  })

  test('may contain duplicates, quotes and ids without a row', async () => {
    const { db } = await startDatabase()

    expect(await among(db, { ids: ['"', "'", '[', idOf(2), idOf(2), ''] })).toEqual([{ id: idOf(2) }])
  })

  test('may contain numbers', async () => {
    const { db } = await startDatabase()

    expect(await amongNumbers(db, { numbers: [2, 3] })).toEqual(
      ['CAD', 'EUR', 'GBP', 'NGN', 'USD', 'ZAR'].map((code) => ({ code })),
    )
  })
})

describe('queries with filters', () => {
  type Filters = { code: string; assetType: 'FIAT' | 'STABLECOIN'; longest: number }
  const assets = queryWithFilters(['code', 'assetType'], (p: Params<Filters>, has) => {
    let select = selectFrom('assetCodes').select('code').orderBy('code').limit(p.longest)
    if (has('code')) select = select.where('code', '=', p.code)
    if (has('assetType')) select = select.where('assetType', '=', p.assetType)
    return select
  })
  const codes = async (db: Reader, filters: Partial<Filters>) =>
    (await assets(db, { longest: 9, ...filters })).map(({ code }) => code)

  test('apply exactly the given filters', async () => {
    const { db } = await startDatabase()

    for (const _ of ['compiles', 'runs again']) {
      expect(await codes(db, {})).toEqual(['CAD', 'EUR', 'GBP', 'NGN', 'USD', 'USDC', 'USDT', 'ZAR'])
      expect(await codes(db, { code: 'USDT' })).toEqual(['USDT'])
      expect(await codes(db, { assetType: 'FIAT' })).toEqual(['CAD', 'EUR', 'GBP', 'NGN', 'USD', 'ZAR'])
      expect(await codes(db, { code: 'USDT', assetType: 'FIAT' })).toEqual([])
      expect(await assets(db, { code: undefined, longest: 1 })).toEqual([{ code: 'CAD' }])
    }
  })

  test('require a value for every parameter outside the filters', async () => {
    const { db } = await startDatabase()

    await expect(attempt(() => assets(db, { code: 'USDT' } as never))).rejects.toThrow(
      'the query parameter longest has no value',
    )
  })
})

describe('returned rows', () => {
  test('contain amounts as exact bigints, integers as numbers and NULL as null', async () => {
    const { db } = await startDatabase()
    const accounts = query(() => acrossMerchants(selectFrom('accounts').selectAll().orderBy('id')))
    const rows = [
      accountRow('a', maxInteger, 1),
      accountRow('b', 2n ** 53n + 1n, 2_147_483_647),
      accountRow('c', 0n),
      accountRow('d', null),
    ]
    await db.write(async (tx) => {
      for (const row of rows) await insertAccount(tx, row)
    })

    expect(await accounts(db, {})).toEqual(rows)
  })

  test('keep a column’s type under an alias, through joins and in subqueries, and have bigints for expressions', async () => {
    const { db } = await startDatabase()
    await db.write((tx) => insertAccount(tx, accountRow('a', maxInteger, 7)))
    const aliased = query(() =>
      acrossMerchants(
        selectFrom('accounts as account')
          .innerJoin(
            selectFrom('accounts').select(['id', 'entryCount as latestPlace']).as('inner'),
            'inner.id',
            'account.id',
          )
          .select(['account.balance as owned', 'account.entryCount as place', 'latestPlace'])
          .select(sql<bigint>`count(*) over ()`.as('total')),
      ),
    )

    expect(await aliased(db, {})).toEqual([{ owned: maxInteger, place: 7, latestPlace: 7, total: 1n }])
  })

  test('of a write come from its RETURNING clause', async () => {
    const { db } = await startDatabase()
    const add = statementOne((p: Params<{ merchantId: string; id: string; amount: bigint }>) =>
      updateTable('accounts')
        .set({ balance: sql`balance + ${p.amount}`, entryCount: sql`entry_count + 1` })
        .where('merchantId', '=', p.merchantId)
        .where('id', '=', p.id)
        .returning(['balance', 'entryCount']),
    )

    const results = await db.write(async (tx) => {
      await insertAccount(tx, accountRow('a', maxInteger - 2n))
      const merchantId = idOf(1)
      return [await add(tx, { merchantId, id: 'a', amount: 2n }), await add(tx, { merchantId, id: 'b', amount: 2n })]
    })

    expect(results).toEqual([{ balance: maxInteger, entryCount: 1 }, null])
  })

  test('of a write without RETURNING are empty', async () => {
    const { db } = await startDatabase()
    const removeAll = statement(() => deleteFrom('merchants'))

    expect(await db.write((tx) => removeAll(tx, {}))).toEqual([])
    expect(await query(() => selectFrom('merchants').selectAll())(db, {})).toEqual([])
  })

  test.each([
    { result: { text: 'a "quoted" 🙂', nested: { list: [1, null, true] } } },
    { result: [] },
    { result: [{ outcome: 'PASSED' }] },
  ])('contain JSON unchanged: %j', async ({ result }) => {
    const { db } = await startDatabase()
    const results = query(() => acrossMerchants(selectFrom('idempotencyKeys').select(['result', 'createdAt'])))
    await db.write((tx) => insertKey(tx, keyRow(result)))

    expect(await results(db, {})).toEqual([{ result, createdAt: '2026-01-01T00:00:00.000Z' }])
  })

  test('include generated columns', async () => {
    const { db } = await startDatabase()
    const methods = query(() =>
      acrossMerchants(selectFrom('payoutMethods').select(['id', 'customerId', 'ownerId', 'checks', 'label'])),
    )
    await db.write((tx) => insertMethod(tx, methodRow))

    expect(await methods(db, {})).toEqual([
      { id: idOf(2), customerId: null, ownerId: idOf(1), checks: [], label: null },
    ])
  })

  test('are new objects for each execution', async () => {
    const { db } = await startDatabase(1)
    const all = query(() => selectFrom('merchants').select('name'))

    const [row] = await all(db, {})
    if (row) row.name = 'changed'

    expect(await all(db, {})).toEqual([{ name: 'Merchant 1' }])
  })
})

describe('a SQLite connection', () => {
  /** Opens a migrated file and records the SQL that it prepares. */
  async function connect() {
    const { path } = await startDatabase()
    const connection = openConnection(path, { isReadOnly: true })
    onTestFinished(() => void connection.raw.close())
    const prepare = vi.spyOn(connection.raw, 'prepare')
    const reader: Reader = {
      execute: async <Result>(...[built, params]: Parameters<Reader['execute']>) =>
        connection.run(built, params) as Result[],
    }
    return { reader, prepared: () => prepare.mock.calls.map(([text]) => text) }
  }

  test('prepares a query once, for any parameters and any length of list', async () => {
    const { reader, prepared } = await connect()
    const among = query((p: Params<{ ids: readonly string[]; name: string }>) =>
      selectFrom('merchants').select('id').where('id', 'in', listParam(p.ids)).where('name', '<>', p.name),
    )

    for (const count of [0, 1, 2, 1000]) await among(reader, { ids: upTo(count).map(idOf), name: `${count}` })

    expect(prepared()).toEqual([expect.stringMatching(/^select "id" from "merchants" where "id" in .*json_each/)])
  })

  test('prepares a query with filters once for each combination of filters that is used', async () => {
    const { reader, prepared } = await connect()
    const filteredQuery = queryWithFilters(['id', 'name'], (p: Params<{ id: string; name: string }>, has) => {
      let merchants = selectFrom('merchants').select('id')
      if (has('id')) merchants = merchants.where('id', '=', p.id)
      if (has('name')) merchants = merchants.where('name', '=', p.name)
      return merchants
    })

    for (const id of [idOf(1), idOf(2)]) {
      await filteredQuery(reader, { id })
      await filteredQuery(reader, {})
      await filteredQuery(reader, { id, name: 'Merchant 1' })
    }

    expect(prepared()).toEqual([
      expect.stringMatching(/where "id" = \+?\?$/),
      'select "id" from "merchants"',
      expect.stringMatching(/where "id" = \+?\? and "name" = \+?\?$/),
    ])
  })
})

test('a write outside a transaction does not compile, and fails at run time', async () => {
  const { db } = await startDatabase()
  const insertFourth = statement((p: Params<{ name: string }>) =>
    insertInto('merchants').values({ ...merchantRow(4), name: p.name }),
  )

  // @ts-expect-error a database is not a Tx
  await expect(attempt(() => insertFourth(db, { name: 'x' }))).rejects.toMatchObject({ code: 'SQLITE_READONLY' })
  await db.write((tx: Tx) => insertFourth(tx, { name: 'x' }))
})

test('a query builder cannot run its query without an engine', async () => {
  await expect(selectFrom('merchants').select('id').execute()).rejects.toThrow('this dialect only builds queries')
})

test('compileForSqlite omits row locks and rejects syntax that SQLite lacks', () => {
  const wallets = selectFrom('wallets').select('id')
  const sqlOf = (built: typeof wallets) => compileForSqlite(built.toOperationNode()).sql

  for (const locked of [wallets.forUpdate(), wallets.forNoKeyUpdate(), wallets.forShare()]) {
    expect(sqlOf(locked).trim()).toBe('select "id" from "wallets"')
  }
  for (const other of [wallets.forKeyShare(), wallets.forUpdate().skipLocked(), wallets.modifyEnd(sql`for nothing`)]) {
    expect(() => sqlOf(other)).toThrow('SQLite does not support this modifier')
  }
})

test('compileForSqlite emits NOT INDEXED for scanTable', () => {
  const { sql: text } = compileForSqlite(
    selectFrom('wallets')
      .select(({ selectFrom }) =>
        selectFrom(scanTable('payouts') as never)
          .select(sql<number>`count(*)`.as('n'))
          .as('n'),
      )
      .toOperationNode(),
  )

  expect(text).toContain('from "payouts" not indexed')
})

const methodRow = {
  merchantId: idOf(1),
  id: idOf(2),
  customerId: null,
  sequence: 1,
  ownerSequence: 1,
  type: 'BANK' as const,
  currency: 'NGN',
  accountName: 'Ada Obi',
  accountNumber: '0690000031',
  bankName: 'Access Bank',
  bankCode: '044',
  sortCode: null,
  swiftCode: null,
  routingNumber: null,
  iban: null,
  label: null,
  walletAddress: null,
  network: null,
  checks: [],
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
}
