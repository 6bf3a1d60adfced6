import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { compileForPostgres } from '../../../src/database/postgres/compile-for-postgres.ts'
import { createProjection } from '../../../src/database/projection.ts'
import type { Query, Reader } from '../../../src/database/query.ts'
import { declaredLists } from '../../../src/lists/declaration.ts'
import type { ListQueries } from '../../../src/lists/list-queries.ts'
import '../../../src/modules/payouts/list.ts'
import { describePostgres } from '../../support/engines.ts'
import { newPostgresDatabase, runSql } from '../../support/postgres-database.ts'

const rows = 20_000

/** Inserts and analyzes enough payouts of three merchants that the planner's choice matters. */
async function databaseWithPayouts(): Promise<string> {
  const { url, remove } = await newPostgresDatabase()
  onTestFinished(remove)
  const someId = (divisor: number) => `('00000000-0000-7000-8000-00000000000' || n % ${divisor})::uuid`
  await runSql(
    url,
    `set session_replication_role = replica;
    insert into payouts (merchant_id, id, sequence, wallet_id, transfer_id, transaction_id, reference_id, status, asset_code,
      recipient_currency, amount, balance_after, exchange_rate, amount_fiat, recipient_name, recipient_country, bank_name,
      bank_code, account_number, payment_purpose, transfer_type, created_at, updated_at)
    select ${someId(3)}, gen_random_uuid(), n, ${someId(7)}, gen_random_uuid(), '', gen_random_uuid(),
      (array['PROCESSING', 'FAILED'] || array_fill('COMPLETED'::text, array[18]))[1 + n % 20],
      (array['USDC', 'USDC', 'USDT'])[1 + n % 3], (array['NGN', 'ZAR'])[1 + n % 2],
      1, 1, '1', '1', 'Ada Obi', '', 'Access Bank', '', '', '', '', now(), now()
    from generate_series(1, ${rows}) n;
    analyze payouts`,
  )
  return url
}

/** Returns the queries of a list with every set of these filters, from both ends, and with times. */
async function queriesOf(
  { rows, count, sequenceAfter: numberAfter }: ListQueries,
  filters: readonly string[],
): Promise<Set<Query>> {
  const executed = new Set<Query>()
  const execute: Reader['execute'] = async (query) => {
    executed.add(query)
    return []
  }
  const names = [...filters, 'isAscending', 'createdFrom']
  for (let set = 0; set < 2 ** names.length; set++) {
    const given = Object.fromEntries(names.filter((_, bit) => set & (1 << bit)).map((name) => [name, ''])) as never
    await rows({ execute }, given)
    await rows({ execute }, given, createProjection(['id']))
    await count({ execute }, given)
    await numberAfter({ execute }, given)
  }
  return executed
}

describePostgres('a PostgreSQL list query that merges ranges of an index', {}, () => {
  test('a PostgreSQL query that merges index ranges reads only the rows it returns, without a sort or a table scan', async () => {
    const url = await databaseWithPayouts()
    const { queries, mergedBy = {} } = declaredLists.find(({ name }) => name === 'payouts') as (typeof declaredLists)[0]
    const executed = await queriesOf(queries, Object.keys(mergedBy))
    const plans: string[] = []
    const client = new pg.Client(url)
    await client.connect()
    for (const query of executed) {
      const text = `explain (generic_plan, costs off) ${compileForPostgres(query).sql}`
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(text)
      plans.push(rows.map((step) => step['QUERY PLAN']).join('\n'))
    }
    await client.end()

    expect(plans.filter((plan) => plan.includes('Merge Append')).length).toBeGreaterThan(50)
    expect(plans.filter((plan) => / Sort\b|Seq Scan|Bitmap/.test(plan.replaceAll('Sort Key', '')))).toEqual([])
    const conditions = plans.flatMap((plan) => plan.match(/Index Cond: .*/g) ?? [])
    const whole = /merchant_id = \$\d+\).*\(sequence > \$\d+\) AND \(sequence < \$\d+\)\)$/
    expect(conditions.filter((condition) => !whole.test(condition))).toEqual([])
  })
})
