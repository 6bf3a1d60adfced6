import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { compileForPostgres } from '../../../src/database/postgres/compile-for-postgres.ts'
import type { Query } from '../../../src/database/query.ts'
import { seedLoadData } from '../../../src/demo/load/seed.ts'
import { listCustomers } from '../../../src/modules/customers/list-customers.ts'
import { search } from '../../../src/modules/search/search.ts'
import { createContext } from '../../../src/operations/context.ts'
import { startApp } from '../../support/app.ts'
import { describePostgres } from '../../support/engines.ts'

/** Returns every statement that searches for different kinds of identifiers run. */
async function startWithSearches() {
  const app = await startApp('postgres')
  const amounts = { customers: 500, methods: 500, wallets: 50, payouts: 500 }
  const [merchant] = await seedLoadData(app.service, { seed: 1, merchants: 1, ...amounts })
  const executed = new Set<Query>()
  const execute: Database['execute'] = (query, params, ...others) => {
    executed.add(query)
    return app.db.execute(query, params, ...others)
  }
  const context = { ...createContext(app.service, merchant?.id ?? ''), db: { ...app.db, execute } }
  const transactionHashes = [`0x${'ab'.repeat(32)}`, 'ab'.repeat(32), '5'.repeat(87)]
  const found = await search(context, { term: 'a', first: 3 })
  const ids = found.hits.map(({ row }) => (row as { id: string }).id)
  for (const term of [...ids, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', ...transactionHashes]) {
    await search(context, { term })
  }
  await listCustomers(context, { search: 'a' })
  return {
    url: app.url,
    merchantId: merchant?.id ?? '',
    statements: [...executed].map((each) => compileForPostgres(each)),
  }
}

type Plan = { readonly 'Node Type': string; readonly 'Index Cond'?: string; readonly Plans?: readonly Plan[] }

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]

/** Opens a connection as the service does: row-level security applies, and shows the rows of one merchant. */
async function connectAsService(url: string, merchantId: string): Promise<pg.Client> {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('analyze')
  await client.query('set role payout_gateway')
  await client.query(
    `select set_config('app.merchant_id', $1, false), set_config('app.every_merchant', 'off', false)`,
    [merchantId],
  )
  // PostgreSQL scans small tables because that is cheap. Otherwise it uses an index that serves the condition, if any.
  await client.query('set enable_seqscan = off')
  // For a few rows, a bitmap scan and a sort may be estimated as cheaper than the index in the order of the result.
  await client.query('set enable_bitmapscan = off')
  return client
}

describePostgres('the statements of a search on PostgreSQL', {}, () => {
  test('a search on PostgreSQL uses an index on the searched column, and not only an index on the merchant', async () => {
    const { url, merchantId, statements } = await startWithSearches()
    const client = await connectAsService(url, merchantId)
    const tables = new Set<string>()
    for (const { sql } of statements) {
      const { rows } = await client.query(`explain (generic_plan, format json) ${sql}`)
      const nodes = nodesOf(rows[0]['QUERY PLAN'][0].Plan)
      const [, table = ''] = /from "(\w+)"/.exec(sql) ?? []
      tables.add(table)
      expect([sql, nodes.filter((node) => /Seq Scan|^Sort$/.test(node['Node Type']))]).toEqual([sql, []])
      const conditions = nodes.flatMap((node) => node['Index Cond'] ?? [])
      expect([sql, conditions.some((each) => each.split(' AND ').length > 1)]).toEqual([sql, true])
    }

    expect(statements.length).toBeGreaterThan(12)
    expect(tables).toEqual(
      new Set([
        'payouts',
        'customers',
        'customer_search_keys',
        'payout_methods',
        'wallets',
        'wallet_addresses',
        'deposits',
        'chain_deposits',
        'transfers',
      ]),
    )
  })
})
