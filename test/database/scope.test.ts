import type { Compilable } from 'kysely'
import { expressionBuilder, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { QueryScope } from '../../src/database/merchant-scope.ts'
import type { Query, Reader } from '../../src/database/query.ts'
import {
  acrossMerchants,
  deleteFrom,
  insertInto,
  insertRow,
  listParam,
  query,
  queryWithFilters,
  selectFrom,
  sharedQuery,
  updateTable,
} from '../../src/database/query.ts'
import type { RowOf } from '../../src/database/tables.ts'
import * as auditQueries from '../../src/modules/audit/repository.ts'
import { payoutByIdempotencyKey } from '../../src/modules/payouts/repository.ts'

type P = RowOf<'payouts'> & { ids: readonly string[] }

const payouts = () => selectFrom('payouts').select('payouts.id')
const ofMerchant = (p: P) => payouts().where('payouts.merchantId', '=', p.merchantId)
const account = { kind: 'fees', assetCode: 'USDC', balance: null, entryCount: 0, latestTime: 0n } as const
const accountOf = (merchantId: string) => ({ merchantId, id: 'a', ...account, reachableBalance: null })

/** Returns the declared scope of a query without running it. */
function scopeOf(build: (p: P) => unknown): QueryScope {
  return recorded(query(build as (p: P) => Compilable<unknown>))[0]?.scope as QueryScope
}

function recorded(run: (db: Reader, params: never) => unknown): Query[] {
  const queries: Query[] = []
  const execute: Reader['execute'] = async (each) => {
    queries.push(each)
    return []
  }
  void run({ execute }, {} as never)
  return queries
}

// Each of these is a plausible mistake that SQLite would not reject.
const unscoped: readonly (readonly [mistake: string, tables: string, build: (p: P) => unknown])[] = [
  ['no condition', 'payouts', () => payouts()],
  ['another condition', 'payouts', (p) => payouts().where('id', '=', p.id)],
  ['another parameter', 'payouts', (p) => payouts().where('merchantId', '=', p.id)],
  ['another column', 'payouts', (p) => payouts().where('customerId', '=', p.merchantId)],
  ['another comparison', 'payouts', (p) => payouts().where('merchantId', '<>', p.merchantId)],
  [
    'a list',
    'payouts',
    (p) => payouts().where('merchantId', 'in', listParam(p.merchantId as unknown as readonly string[])),
  ],
  [
    'a list of one',
    'payouts',
    (p) => payouts().where('merchantId', '=', listParam(p.merchantId as unknown as readonly string[])),
  ],
  [
    'an alternative by OR',
    'payouts',
    (p) => payouts().where(({ or, eb }) => or([eb('merchantId', '=', p.merchantId), eb('id', '=', p.id)])),
  ],
  ['an alternative in raw SQL', 'payouts', (p) => ofMerchant(p).where(sql<boolean>`fee is null or fee > 0`)],
  ['a negated condition', 'payouts', (p) => payouts().where(({ not, eb }) => not(eb('merchantId', '=', p.merchantId)))],
  ['a condition on groups only', 'payouts', (p) => payouts().groupBy('id').having('merchantId', '=', p.merchantId)],
  ['a join by id', 'wallets', (p) => ofMerchant(p).innerJoin('wallets', 'wallets.id', 'payouts.walletId')],
  ['a cross join', 'wallets', (p) => ofMerchant(p).crossJoin('wallets')],
  [
    'a join without a merchant condition',
    'payouts and wallets',
    () =>
      payouts().innerJoin('wallets', (join) =>
        join.onRef('wallets.merchantId', '=', 'payouts.merchantId').onRef('wallets.id', '=', 'payouts.walletId'),
      ),
  ],
  [
    'a condition in a left join',
    'payouts',
    (p) =>
      payouts().leftJoin('wallets', (join) =>
        join.onRef('wallets.merchantId', '=', 'payouts.merchantId').on('wallets.merchantId', '=', p.merchantId),
      ),
  ],
  [
    'a condition in a right join',
    'payouts and wallets',
    (p) =>
      payouts().rightJoin('wallets', (join) =>
        join.onRef('wallets.merchantId', '=', 'payouts.merchantId').on('wallets.merchantId', '=', p.merchantId),
      ),
  ],
  ['the same table again', 'payouts', (p) => ofMerchant(p).innerJoin('payouts as other', 'other.id', 'payouts.id')],
  [
    'a subquery',
    'wallets',
    (p) => ofMerchant(p).where('walletId', 'in', selectFrom('wallets').select('id').where('id', '=', p.id)),
  ],
  [
    'a subquery of the same table',
    'payouts',
    (p) =>
      ofMerchant(p).where(({ exists }) => exists(payouts().whereRef('payouts.merchantId', '=', 'payouts.merchantId'))),
  ],
  [
    'a derived table',
    'transfers',
    (p) => selectFrom(selectFrom('transfers').selectAll().as('e')).selectAll().where('merchantId', '=', p.merchantId),
  ],
  ['a scalar subquery', 'wallets', (p) => ofMerchant(p).select(selectFrom('wallets').select('id').limit(1).as('any'))],
  ['the second query of a union', 'wallets', (p) => ofMerchant(p).union(selectFrom('wallets').select('id'))],
  ['an update', 'payouts', (p) => updateTable('payouts').set({ status: 'FAILED' }).where('id', '=', p.id)],
  ['an update that sets the merchant', 'payouts', (p) => updateTable('payouts').set({ merchantId: p.merchantId })],
  ['a delete', 'payoutMethods', (p) => deleteFrom('payoutMethods').where('id', '=', p.id)],
  ['an inserted row of another merchant', 'accounts', (p) => insertInto('accounts').values(accountOf(p.id))],
  [
    'an inserted row without a merchant',
    'accounts',
    (p) => insertInto('accounts').values({ ...accountOf(p.merchantId), merchantId: undefined as never }),
  ],
  ['one row of two', 'accounts', (p) => insertInto('accounts').values([accountOf(p.merchantId), accountOf(p.id)])],
  [
    'an upsert of any existing row',
    'apiKeys',
    (p) =>
      insertInto('apiKeys')
        .values({ merchantId: p.merchantId, id: p.id } as never)
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ revokedAt: p.createdAt })),
  ],
  [
    'inserted rows of a query across merchants',
    'sequences and payouts',
    () => insertInto('sequences').columns(['merchantId']).expression(selectFrom('payouts').select('merchantId')),
  ],
  ['SQL', 'payouts', (p) => sql`select * from payouts where id = ${p.id}`],
  [
    'SQL with a table reference',
    'payouts',
    (p) => sql`select * from ${sql.table('payouts')} where id = ${p.merchantId}`,
  ],
  [
    'SQL for two tables and one merchant',
    'payouts and wallets',
    (p) => sql`select * from payouts join wallets on true where payouts.merchant_id = ${p.merchantId}`,
  ],
  [
    'SQL that compares merchant_id with itself',
    'payouts',
    () => sql`select * from "payouts" where merchant_id = merchant_id`,
  ],
  ['a raw SQL subquery', 'wallets', (p) => ofMerchant(p).where(sql<boolean>`wallet_id in (select id from wallets)`)],
  [
    'an SQL table expression',
    'payouts',
    () => selectFrom(sql<{ id: string }>`(select id from payouts)`.as('all')).selectAll(),
  ],
  ['SQL in capitals', 'payouts', () => sql`SELECT * FROM PAYOUTS`],
  ['keys', 'apiKeys', () => selectFrom('apiKeys').selectAll()],
]

const scoped: readonly (readonly [form: string, QueryScope, build: (p: P) => unknown])[] = [
  ['a condition', 'merchant', (p) => payouts().where('merchantId', '=', p.merchantId)],
  [
    'a condition with the operands swapped',
    'merchant',
    (p) => payouts().where(({ eb, val, ref }) => eb(val(p.merchantId), '=', ref('merchantId'))),
  ],
  [
    'conditions in parentheses',
    'merchant',
    (p) => payouts().where(({ and, eb }) => and([eb('id', '=', p.id), eb('merchantId', '=', p.merchantId)])),
  ],
  ['an alias', 'merchant', (p) => selectFrom('payouts as p').select('p.id').where('p.merchantId', '=', p.merchantId)],
  [
    'a chain of joins',
    'merchant',
    (p) =>
      ofMerchant(p)
        .innerJoin('wallets', (join) => join.onRef('wallets.merchantId', '=', 'payouts.merchantId'))
        .leftJoin('accounts', (join) => join.onRef('accounts.merchantId', '=', 'wallets.merchantId')),
  ],
  [
    'a correlated subquery',
    'merchant',
    (p) =>
      ofMerchant(p).where(({ exists, selectFrom }) =>
        exists(selectFrom('wallets').select('id').whereRef('wallets.merchantId', '=', 'payouts.merchantId')),
      ),
  ],
  [
    'the lists of many parents',
    'merchant',
    (p) =>
      selectFrom('wallets')
        .where('wallets.merchantId', '=', p.merchantId)
        .where('wallets.id', 'in', listParam(p.ids))
        .innerJoinLateral(
          (eb) =>
            eb
              .selectFrom('payouts as items')
              .select('items.id')
              .where('items.merchantId', '=', p.merchantId)
              .whereRef('items.walletId', '=', 'wallets.id')
              .limit(1)
              .as('items'),
          (join) => join.onTrue(),
        )
        .select(['items.id']),
  ],
  [
    'an update',
    'merchant',
    (p) => updateTable('payouts').set({ status: 'FAILED' }).where('merchantId', '=', p.merchantId),
  ],
  ['a delete', 'merchant', (p) => deleteFrom('payouts').where('merchantId', '=', p.merchantId)],
  ['a row', 'merchant', (p) => insertInto('accounts').values(accountOf(p.merchantId))],
  [
    'rows with expressions',
    'merchant',
    (p) =>
      insertInto('accounts').values([
        accountOf(p.merchantId),
        { ...accountOf(p.merchantId), id: sql<string>`lower('B')` },
      ]),
  ],
  [
    'SQL',
    'merchant',
    (p) => sql`select count(*) from payouts where merchant_id = ${p.merchantId} and payouts.id = ${p.id}`,
  ],
  [
    'SQL with conditions of Kysely',
    'merchant',
    (p) =>
      sql`select 1 from payouts where ${expressionBuilder<{ payouts: RowOf<'payouts'> }, 'payouts'>()(sql.ref('merchant_id'), '=', p.merchantId)}`,
  ],
  [
    'SQL about a locked table',
    'merchant',
    (p) => updateTable('sequences').set({ latest: sql`sequences.latest + 1` }).where('merchantId', '=', p.merchantId),
  ],
  ['a query across merchants', 'everyMerchant', () => acrossMerchants(payouts())],
  ['SQL across merchants', 'everyMerchant', () => acrossMerchants(sql`select id from payouts` as never)],
  [
    'a table that merchants share',
    'shared',
    (p) => selectFrom('rates').selectAll().where('fromCode', '=', p.assetCode),
  ],
  ['a merchant', 'shared', (p) => selectFrom('merchants').selectAll().where('id', '=', p.merchantId)],
  // API keys identify the merchant, so their table has no merchant scope.
  ['the API keys of all merchants', 'shared', () => acrossMerchants(selectFrom('apiKeys').selectAll())],
]

describe('a query on a merchant’s table', () => {
  test.each(unscoped)('is rejected with %s, because %s is not restricted to one merchant', (_, tables, build) => {
    expect(() => scopeOf(build)).toThrow(`A query does not restrict ${tables} to one merchant. Compare`)
  })

  test.each(scoped)('with %s has the scope "%s"', (_, scope, build) => {
    expect(scopeOf(build)).toBe(scope)
  })

  test('is rejected at its declaration if it has no merchant condition when no filter is used', () => {
    const declare = () =>
      queryWithFilters(['id'], (p: P, has) => (has('id') ? payouts().where('id', '=', p.id) : payouts()))

    expect(declare).toThrow('does not restrict payouts')
  })

  test('with filters is built when it is first used', async () => {
    const names: string[] = []
    const named = queryWithFilters(['id'], (p: P) => ofMerchant(p).where('status', 'in', names as never))
    names.push('FAILED')

    const [built] = recorded(named)

    expect(JSON.stringify(built?.node)).toContain('FAILED')
  })

  test('is rejected at its execution if a filter removes the merchant condition', () => {
    const filtered = queryWithFilters(['id'], (p: P, has) =>
      has('id') ? payouts().where('id', '=', p.id) : ofMerchant(p),
    )
    const db: Reader = { execute: async () => [] }

    expect(() => filtered(db, { id: '1' } as never)).toThrow('does not restrict payouts')
  })

  test('cannot be declared as a shared query', () => {
    expect(() => sharedQuery(ofMerchant as (p: object) => Compilable<unknown>)).toThrow(
      'a shared query must not read a table of merchants',
    )
  })

  test('that inserts a whole row has merchant scope', () => {
    expect(recorded(insertRow('payouts') as never)).toMatchObject([{ scope: 'merchant' }])
  })
})

test('every query of the audit has the scope of all merchants, or reads one merchant at a time', () => {
  const { searchableCustomers, searchKeysBetween, ledgerChangesByDay, ...others } = auditQueries
  const scopesOf = (queries: readonly object[]) =>
    queries.flat().flatMap((run) => recorded(run as never).map(({ scope }) => scope))

  expect(scopesOf(Object.values(others)).length).toBeGreaterThan(20)
  expect(new Set(scopesOf(Object.values(others)))).toEqual(new Set(['everyMerchant']))
  const ofOneMerchant = [searchableCustomers, searchKeysBetween, ledgerChangesByDay]
  expect(new Set(scopesOf(ofOneMerchant))).toEqual(new Set(['merchant']))
  expect(recorded(payoutByIdempotencyKey)).toMatchObject([{ scope: 'merchant' }])
})
