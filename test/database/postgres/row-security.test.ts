import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import type { QueryScope } from '../../../src/database/merchant-scope.ts'
import type { Params, Query, Reader } from '../../../src/database/query.ts'
import { acrossMerchants, insertRow, query, selectFrom } from '../../../src/database/query.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { createContext } from '../../../src/operations/context.ts'
import { startApp } from '../../support/app.ts'
import { sampleCustomer } from '../../support/bodies.ts'
import { describePostgres } from '../../support/engines.ts'
import { perform } from '../../support/perform.ts'
import { corruptPostgresDatabase, newPostgresDatabase, runSql } from '../../support/postgres-database.ts'

const merchantsCustomers = query((p: Params<{ merchantId: string }>) =>
  selectFrom('customers').select('merchantId').where('merchantId', '=', p.merchantId),
)
const everyCustomer = query(() => acrossMerchants(selectFrom('customers').select('merchantId')))
const unscoped = unchecked('customers', 'shared')
const unscopedAccounts = unchecked('accounts', 'shared')
const careless = unchecked('customers', 'merchant')
const insertAccount = insertRow('accounts')

/** A query for all rows that declares another scope: a bug in the scope check would admit it. */
function unchecked(table: 'customers' | 'accounts', scope: QueryScope): Query {
  const built: Query[] = []
  const execute: Reader['execute'] = async (each) => {
    built.push({ ...each, scope })
    return []
  }
  void query(() => acrossMerchants(selectFrom(table).select('merchantId')))({ execute }, {})
  return built[0] as Query
}

/** Starts a service with two merchants, each with one customer. */
async function startTwoMerchants() {
  const app = await startApp('postgres')
  const other = await createMerchant(app.service, { name: 'Other' })
  await app.customer()
  await perform(createCustomer, createContext(app.service, other.id), sampleCustomer)
  return { ...app, mine: app.merchant.id, other: other.id }
}

describePostgres('row-level security on PostgreSQL', {}, () => {
  test('row-level security shows no rows to a query without a merchant', async () => {
    const { db } = await startTwoMerchants()

    expect(await db.execute(unscoped, {})).toEqual([])
    expect(await db.write((tx) => tx.execute(unscoped, {}))).toEqual([])
    expect(await db.snapshot((read) => read.execute(unscoped, {}))).toEqual([])
  })

  test('row-level security shows only the merchant’s rows to a query that lacks its merchant condition', async () => {
    const { db, mine, other } = await startTwoMerchants()

    expect(await db.execute(careless, { merchantId: mine })).toEqual([{ merchantId: mine }])
    expect(await db.execute(careless, { merchantId: other })).toEqual([{ merchantId: other }])
  })

  test('row-level security shows all rows to an operator’s query, and not to the next query on the connection', async () => {
    const { db, mine } = await startTwoMerchants()
    const inTurn = async (read: Reader) => [
      await everyCustomer(read, {}),
      await read.execute(unscoped, {}),
      await merchantsCustomers(read, { merchantId: mine }),
      await everyCustomer(read, {}),
      await read.execute(careless, { merchantId: mine }),
    ]

    for (const seen of [await db.write(inTurn), await db.snapshot(inTurn)]) {
      expect(seen.map(({ length }) => length)).toEqual([2, 0, 1, 2, 1])
    }
    for (let i = 0; i < 20; i++) expect(await db.execute(unscoped, {})).toEqual([])
  })

  test('row-level security shows each of several pipelined queries only the rows of its scope', async () => {
    const { db, mine, other } = await startTwoMerchants()
    const together = (read: Reader) =>
      Promise.all([
        everyCustomer(read, {}),
        read.execute(unscoped, {}),
        merchantsCustomers(read, { merchantId: mine }),
        merchantsCustomers(read, { merchantId: other }),
        everyCustomer(read, {}),
      ])

    for (const seen of [await together(db), await db.snapshot(together), await db.write(together)]) {
      expect(seen.map((rows) => rows.length)).toEqual([2, 0, 1, 1, 2])
    }
  })

  test('row-level security rejects an insert of a row for another merchant', async () => {
    const { url, mine, other } = await startTwoMerchants()

    const insert = runSql(
      url,
      `set role payout_gateway; set app.merchant_id = '${mine}';
       insert into accounts values ('${other}', 'fees:USDC', 'fees', 'USDC', null, 0)`,
    )

    await expect(insert).rejects.toThrow('row-level security')
  })

  test('row-level security applies to the owner of the tables if the service logs in as the owner', async () => {
    const { url, remove } = await newPostgresDatabase({ isMigrated: false })
    onTestFinished(remove)
    const owner = `owner_${url.split('_').at(-1)}`
    await runSql(url, `create role ${owner} login; grant all on schema public to ${owner}`)
    const warnings: string[] = []
    const place = new URL(url)
    place.username = owner
    const db = await openDatabase({
      url: place.href,
      onFatal: () => {},
      onWarning: (message) => warnings.push(message),
    })
    onTestFinished(() => db.close())
    const merchantId = '00000000-0000-7000-8000-000000000001'
    const account = {
      merchantId,
      id: 'fees:USDC',
      kind: 'fees',
      assetCode: 'USDC',
      balance: null,
      entryCount: 0,
      latestTime: 0n,
      reachableBalance: null,
    } as const
    await runSql(url, `insert into merchants values ('${merchantId}', 'Mine', null, null, now())`)

    await db.write((tx) => insertAccount(tx, account))

    expect(await db.execute(unscopedAccounts, {})).toEqual([])
    expect(warnings.filter((warning) => warning.includes('row-level'))).toEqual([])
  })

  test('a warning is logged if the database role of the service bypasses row-level security', async () => {
    const { url, remove } = await newPostgresDatabase()
    corruptPostgresDatabase(url)
    onTestFinished(remove)
    const free = `free_${url.split('_').at(-1)}`
    await runSql(url, `create role ${free} login bypassrls; grant all on all tables in schema public to ${free}`)
    const warnings: string[] = []
    const place = new URL(url)
    place.username = free
    const db = await openDatabase({
      url: place.href,
      onFatal: () => {},
      onWarning: (message) => warnings.push(message),
    })
    await db.close()

    expect(warnings).toContainEqual(expect.stringContaining('bypasses row-level security'))
  })
})
