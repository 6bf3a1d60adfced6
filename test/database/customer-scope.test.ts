import type { Compilable } from 'kysely'
import { MergeQueryNode, sql, TableNode, UsingNode } from 'kysely'
import { describe, expect, test } from 'vitest'
import { customerScope } from '../../src/database/customer-scope.ts'
import type { Database } from '../../src/database/database.ts'
import type { Params, Query, Tx } from '../../src/database/query.ts'
import {
  acrossCustomers,
  acrossMerchants,
  deleteFrom,
  insertInto,
  query,
  selectFrom,
  statement,
  updateTable,
} from '../../src/database/query.ts'
import { compileForSqlite } from '../../src/database/sqlite/compile-for-sqlite.ts'

type OfMerchant = Params<{ merchantId: string }>

const walletsOf = (p: OfMerchant) =>
  selectFrom('wallets').select('wallets.id').where('wallets.merchantId', '=', p.merchantId)
const transfersOf = (p: OfMerchant) =>
  selectFrom('transfers').select('transfers.id').where('transfers.merchantId', '=', p.merchantId)

test.each([
  {
    joined: 'joined to its wallet',
    looks: 0,
    build: (p: OfMerchant) =>
      walletsOf(p).innerJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('wallets.id', '=', 'accounts.id'),
      ),
  },
  {
    joined: 'left-joined to its wallet',
    looks: 0,
    build: (p: OfMerchant) =>
      walletsOf(p).leftJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('accounts.id', '=', 'wallets.id'),
      ),
  },
  {
    joined: 'right-joined to its wallet',
    looks: 1,
    build: (p: OfMerchant) =>
      walletsOf(p)
        .rightJoin('accounts', (join) => join.onRef('accounts.id', '=', 'wallets.id'))
        .where('accounts.merchantId', '=', p.merchantId),
  },
  {
    joined: 'joined by another column of the wallet',
    looks: 1,
    build: (p: OfMerchant) =>
      walletsOf(p).innerJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('accounts.id', '=', 'wallets.ownerId'),
      ),
  },
  {
    joined: 'joined by either of two conditions',
    looks: 1,
    build: (p: OfMerchant) =>
      walletsOf(p).innerJoin('accounts', (join) =>
        join
          .onRef('accounts.merchantId', '=', 'wallets.merchantId')
          .on((eb) =>
            eb.or([eb('accounts.id', '=', eb.ref('wallets.id')), eb('accounts.id', '=', eb.ref('wallets.ownerId'))]),
          ),
      ),
  },
  {
    joined: 'joined to a child of a wallet',
    looks: 2,
    build: (p: OfMerchant) =>
      transfersOf(p).innerJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'transfers.merchantId').onRef('accounts.id', '=', 'transfers.walletId'),
      ),
  },
])('in customer scope, a query with an account $joined has $looks EXISTS conditions', async ({ build, looks }) => {
  const built: Query[] = []
  const execute = async (narrowed: Query) => {
    built.push(narrowed)
    return []
  }
  await query(build as typeof walletsOf)(customerScope({ execute } as Partial<Database> as Database, 'the customer'), {
    merchantId: 'the merchant',
  })
  const [narrowed] = built
  if (!narrowed) throw new Error('the query did not run')
  expect(compileForSqlite(narrowed.node).sql.match(/exists/g) ?? []).toHaveLength(looks)
})

test('in customer scope, an insert is rejected if any of its rows belongs to another customer', async () => {
  type Two = Params<{ merchantId: string; first: string; second: string }>
  const insertTwo = statement((p: Two) =>
    insertInto('wallets').values([
      { merchantId: p.merchantId, customerId: p.first },
      { merchantId: p.merchantId, customerId: p.second },
    ] as never),
  )
  const write = (run: (tx: Tx) => unknown) => run({ execute: async () => [], deferred: {} } as unknown as Tx)
  const db = customerScope({ write } as unknown as Database, 'the customer')
  const inserting = (second: string) => async () =>
    db.write((tx) => insertTwo(tx, { merchantId: 'the merchant', first: 'the customer', second }))

  await expect(inserting('another')()).rejects.toMatchObject({ code: 'INSUFFICIENT_SCOPE' })
  await expect(inserting('the customer')()).resolves.toEqual([])
})

test('in customer scope, an update of an aliased table is rejected, because it cannot be scoped', async () => {
  const changeOther = statement((p: OfMerchant) =>
    updateTable('wallets as other')
      .set({ description: 'changed' } as never)
      .where('other.merchantId', '=', p.merchantId),
  )
  const write = (run: (tx: Tx) => unknown) => run({ execute: async () => [], deferred: {} } as unknown as Tx)
  const db = customerScope({ write } as unknown as Database, 'the customer')

  const changing = async () => db.write((tx) => changeOther(tx, { merchantId: 'the merchant' }))

  await expect(changing()).rejects.toThrow('without an alias')
})

type OfTwo = Params<{ merchantId: string; customerId: string }>
type Parameters = { readonly merchantId: string; readonly customerId: string }

/** Returns the SQL and parameters of a query in customer scope, inside or outside a transaction. */
async function narrowed(
  build: (p: OfTwo) => unknown,
  { inTransaction = false, customerId = 'the customer' } = {},
): Promise<{ sql: string; params: object }> {
  const statements: { sql: string; params: object }[] = []
  const execute = async (query: Query, params: object) => {
    statements.push({ sql: compileForSqlite(query.node).sql, params })
    return []
  }
  const write = (run: (tx: Tx) => unknown) => run({ execute, deferred: {} } as unknown as Tx)
  const db = customerScope({ execute, write } as unknown as Database, 'the customer')
  const params: Parameters = { merchantId: 'the merchant', customerId }
  const built = statement(build as (p: OfTwo) => Compilable<object>)
  await (inTransaction ? db.write(async (tx) => built(tx, params)) : query(build as typeof walletsOf)(db, params))
  const [only] = statements
  if (!only || statements.length > 1) throw new Error(`${statements.length} queries ran`)
  return only
}

const ofMerchant = (table: 'wallets', p: OfTwo) =>
  selectFrom(table).select(`${table}.id`).where(`${table}.merchantId`, '=', p.merchantId)
const newWallet = (p: OfTwo) => ({ merchantId: p.merchantId, id: p.merchantId, customerId: p.customerId })

describe('in customer scope a read', () => {
  test('of an aliased table returns the customer’s rows only', async () => {
    const read = await narrowed((p) =>
      selectFrom('wallets as mine').select('mine.id').where('mine.merchantId', '=', p.merchantId),
    )

    expect(read.sql).toMatch(/from \(select "wallets".* from "wallets" where "wallets"."owner_id" = \+\?\) as "mine"/)
    expect(read.params).toEqual({ merchantId: 'the merchant', customerId: 'the customer', theCustomer: 'the customer' })
  })

  test('of a table that all merchants share is unchanged', async () => {
    const { sql, params } = await narrowed(() => selectFrom('assetCodes').selectAll())

    expect(sql).toBe('select * from "asset_codes"')
    expect(params).not.toHaveProperty('theCustomer')
  })

  test('declared with acrossCustomers is unchanged', async () => {
    const { sql, params } = await narrowed((p) => acrossCustomers(ofMerchant('wallets', p)))

    expect(sql).toBe('select "wallets"."id" from "wallets" where "wallets"."merchant_id" = +?')
    expect(params).not.toHaveProperty('theCustomer')
  })

  test('declared with acrossMerchants is rejected', async () => {
    await expect(narrowed(() => acrossMerchants(selectFrom('wallets').select('id')))).rejects.toThrow(
      'across merchants',
    )
  })

  test('declared with acrossMerchants runs if its table has no merchant column', async () => {
    const { sql } = await narrowed(() => acrossMerchants(selectFrom('assetCodes').select('code')))

    expect(sql).toBe('select "code" from "asset_codes"')
  })

  test('of a merchant’s table in raw SQL is rejected, because raw SQL cannot be scoped', async () => {
    const inText = (p: OfTwo) =>
      ofMerchant('wallets', p).where(sql<boolean>`exists (select 1 from deposits where merchant_id = ${p.merchantId})`)

    await expect(narrowed(inText)).rejects.toThrow('raw SQL reads deposits in customer scope')
  })

  test('in raw SQL runs in a transaction if transactions may read all rows of the table', async () => {
    const inText = (table: string) => (p: OfTwo) =>
      ofMerchant('wallets', p).where(
        sql<boolean>`exists (select 1 from ${sql.raw(table)} where merchant_id = ${p.merchantId})`,
      )

    expect((await narrowed(inText('deposits'), { inTransaction: true })).sql).toContain('from deposits where')
    await expect(narrowed(inText('payouts'), { inTransaction: true })).rejects.toThrow('reads payouts')
  })

  test('of a table whose rows are all readable in transactions is scoped only outside a transaction', async () => {
    const deposits = (p: OfTwo) => selectFrom('deposits').select('reference').where('merchantId', '=', p.merchantId)

    expect((await narrowed(deposits)).sql).toContain('exists')
    expect((await narrowed(deposits, { inTransaction: true })).sql).not.toContain('exists')
  })
})

describe('in customer scope a joined table', () => {
  const joined = async (build: (p: OfTwo) => unknown) => (await narrowed(build)).sql

  test('that is closed to customers contributes no rows', async () => {
    const sql = await joined((p) =>
      ofMerchant('wallets', p).innerJoin('idempotencyKeys', 'idempotencyKeys.merchantId', 'wallets.merchantId'),
    )

    expect(sql).toContain('inner join (select "idempotency_keys".* from "idempotency_keys" where 1 = 0)')
  })

  test('that has a customer column is scoped by that column', async () => {
    const sql = await joined((p) =>
      ofMerchant('wallets', p).innerJoin('payouts', (join) =>
        join.onRef('payouts.merchantId', '=', 'wallets.merchantId').onRef('payouts.id', '=', 'wallets.id'),
      ),
    )

    expect(sql).toContain('inner join (select "payouts".* from "payouts" where "payouts"."customer_id" = +?)')
  })

  test('is scoped even if its join condition is missing, or compares its column with a constant or an unqualified column', async () => {
    const accounts = 'join (select "accounts".* from "accounts" where exists'
    const held = (p: OfTwo) =>
      ofMerchant('wallets', p).innerJoin('transfers', 'transfers.merchantId', 'wallets.merchantId')
    const pairing = (on: (join: never) => unknown) => (p: OfTwo) =>
      ofMerchant('wallets', p).innerJoin('accounts', ((join: never) => on(join)) as never)
    type Join = { onRef: (...words: string[]) => Join; on: (...words: unknown[]) => Join }
    const ofSame = (join: Join) => join.onRef('accounts.merchantId', '=', 'wallets.merchantId')

    expect(
      await joined((p) => held(p).crossJoin('accounts').where('accounts.merchantId', '=', p.merchantId)),
    ).toContain(accounts)
    expect(await joined(pairing((join) => ofSame(join).on('accounts.id', '=', 'a value')))).toContain(accounts)
    expect(await joined(pairing((join) => ofSame(join).onRef('accounts.id', '=', 'id')))).toContain(accounts)
  })
})

describe('in customer scope a write', () => {
  test.each([
    [
      'an update',
      (p: OfTwo) => updateTable('wallets').set({ description: 'x' }).where('merchantId', '=', p.merchantId),
    ],
    ['a deletion', (p: OfTwo) => deleteFrom('wallets').where('merchantId', '=', p.merchantId)],
  ])('that is %s affects only the customer’s rows', async (_, build) => {
    const { sql, params } = await narrowed(build, { inTransaction: true })

    expect(sql).toMatch(/where "merchant_id" = \+\? and "wallets"."owner_id" = \+\?$/)
    expect(params).toHaveProperty('theCustomer', 'the customer')
  })

  test('of a table that all merchants share is unchanged', async () => {
    const removing = () => deleteFrom('merchants').where('id', '=', 'x')
    const inserting = () => insertInto('assetCodes').values({ code: 'EUR' } as never)

    expect((await narrowed(removing, { inTransaction: true })).sql).toBe('delete from "merchants" where "id" = +?')
    expect((await narrowed(inserting, { inTransaction: true })).sql).toBe(
      'insert into "asset_codes" ("code") values (?)',
    )
  })

  test('that deletes from several tables is rejected', async () => {
    const deleting = (p: OfTwo) =>
      deleteFrom(['wallets', 'accounts'] as never)
        .where('wallets.merchantId' as never, '=', p.merchantId as never)
        .whereRef('accounts.merchantId' as never, '=', 'wallets.merchantId' as never)

    await expect(narrowed(deleting, { inTransaction: true })).rejects.toThrow(
      'a statement changes one table, without an alias',
    )
  })

  test('that deletes with a USING clause is rejected', async () => {
    const deleting = (p: OfTwo) =>
      deleteFrom('wallets')
        .using('accounts')
        .where('wallets.merchantId', '=', p.merchantId)
        .whereRef('accounts.merchantId', '=', 'wallets.merchantId')

    await expect(narrowed(deleting, { inTransaction: true })).rejects.toThrow('USING is not supported')
  })

  test.each([
    ['MERGE', { ...MergeQueryNode.create(TableNode.create('wallets')) }],
    [
      'USING',
      {
        ...deleteFrom('wallets').toOperationNode(),
        where: undefined,
        using: UsingNode.create([TableNode.create('wallets')]),
      },
    ],
  ])('with %s is rejected', async (name, node) => {
    const build = () => acrossMerchants({ toOperationNode: () => node } as never)

    await expect(narrowed(build, { inTransaction: true })).rejects.toThrow(`${name} is not supported`)
  })

  test('can insert rows only for the customer of the scope', async () => {
    const inserting = (p: OfTwo) => insertInto('wallets').values(newWallet(p) as never)

    expect((await narrowed(inserting, { inTransaction: true })).sql).toMatch(/^insert into "wallets"/)
    await expect(narrowed(inserting, { inTransaction: true, customerId: 'another' })).rejects.toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      message: 'This token acts as one customer and cannot create objects for others.',
    })
  })

  test('is rejected if ON CONFLICT or OR REPLACE could change a row of another customer', async () => {
    const places = [
      (p: OfTwo) =>
        insertInto('wallets')
          .values(newWallet(p) as never)
          .onConflict((conflict) => conflict.columns(['merchantId', 'id']).doUpdateSet({ description: 'taken' })),
      (p: OfTwo) =>
        insertInto('wallets')
          .orReplace()
          .values(newWallet(p) as never),
      (p: OfTwo) =>
        insertInto('sequences')
          .orReplace()
          .values({ merchantId: p.merchantId, name: 'x', latest: 1 } as never),
      (p: OfTwo) => insertInto('pooledAddresses').values({ merchantId: p.merchantId, address: 'x' } as never),
    ]

    for (const build of places) {
      await expect(narrowed(build, { inTransaction: true })).rejects.toMatchObject({
        code: 'INSUFFICIENT_SCOPE',
        message: expect.stringMatching(
          /^This token acts as one customer and cannot write (wallets|sequences|pooled_addresses)\.$/,
        ),
      })
    }
  })

  test('may change the counts of the merchant’s lists by ON CONFLICT', async () => {
    const counting = (p: OfTwo) =>
      insertInto('listCounts')
        .values({ merchantId: p.merchantId, list: 'wallets/', label: '', rowCount: 1 } as never)
        .onConflict((conflict) => conflict.columns(['merchantId', 'list']).doUpdateSet({ rowCount: 2 } as never))

    expect((await narrowed(counting, { inTransaction: true })).sql).toContain('on conflict')
  })

  test('to a table that only transactions may write is rejected outside a transaction', async () => {
    const inserting = (p: OfTwo) =>
      insertInto('idempotencyKeys').values({ merchantId: p.merchantId, key: 'k' } as never)

    expect((await narrowed(inserting, { inTransaction: true })).sql).toMatch(/^insert/)
    await expect(narrowed(inserting)).rejects.toMatchObject({ code: 'INSUFFICIENT_SCOPE' })
  })

  test('is rejected unless the customer of each new row is a query parameter', async () => {
    const undeclared = [
      (p: OfTwo) => insertInto('wallets').values({ merchantId: p.merchantId, id: p.merchantId } as never),
      (p: OfTwo) => insertInto('wallets').values({ ...newWallet(p), customerId: 'written here' } as never),
      (p: OfTwo) => insertInto('wallets').values([newWallet(p), { ...newWallet(p), customerId: null }] as never),
      (p: OfTwo) =>
        acrossMerchants(
          insertInto('wallets')
            .columns(['merchantId', 'customerId'])
            .expression(
              selectFrom('wallets').select(['merchantId', 'customerId']).where('merchantId', '=', p.merchantId),
            ),
        ),
    ]

    for (const build of undeclared) {
      await expect(narrowed(build, { inTransaction: true })).rejects.toThrow(
        'an insert in customer scope must take customer_id from a parameter',
      )
    }
  })

  test('that is deferred until COMMIT keeps the customer scope', async () => {
    const stores: ((tx: Tx) => unknown)[] = []
    const tx = {
      execute: async () => [],
      deferred: {
        update: (_: string, { store }: { store: (tx: Tx, value: number) => unknown }) =>
          stores.push((tx) => store(tx, 1)),
      },
    } as unknown as Tx
    const db = customerScope({ write: (run: (tx: Tx) => unknown) => run(tx) } as unknown as Database, 'the customer')
    let stored: Tx | null = null
    const store = (tx: Tx) => {
      stored = tx
    }

    await db.write(async (tx) => tx.deferred.update('x', { read: () => 0, next: (value: number) => value, store }))
    for (const each of stores) each(tx)

    expect(stored).toHaveProperty('customerId', 'the customer')
  })
})
