import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import * as auditQueries from '../../../src/audit/repository.ts'
import { createContext } from '../../../src/context.ts'
import { createCustomer } from '../../../src/customers/create-customer.ts'
import { openDatabase } from '../../../src/database/open.ts'
import type { Params } from '../../../src/database/query.ts'
import { acrossMerchants, from, insertRow, query } from '../../../src/database/query.ts'
import { createMerchant } from '../../../src/merchants/create-merchant.ts'
import { dullCustomer, startApp } from '../../support/app.ts'
import { describePostgres } from '../../support/engines.ts'
import { newPostgresDatabase, runSql, spoilPostgresDatabase } from '../../support/postgres-database.ts'
import { idOf } from '../rows.ts'

const anyCustomers = query(() => from('customers').select('merchantId'))
const everyCustomer = query(() => acrossMerchants(from('customers').select('merchantId')))
const careless = query((_: Params<{ merchantId: string }>) =>
  from('customers').select('merchantId').where(sql<boolean>`${_.merchantId}::text <> ''`),
)
const settingsOf = query(
  () =>
    sql`select current_setting('app.merchant_id', true) as merchant_id,
      current_setting('app.every_merchant', true) as every_merchant` as never,
)
const insertAccount = insertRow('accounts')

/** A service with a customer for each of two merchants. */
async function startTwoMerchants() {
  const app = await startApp('postgres')
  const other = await createMerchant(app.service, { name: 'Other' })
  await app.customer()
  await createCustomer(createContext(app.service, other.id), dullCustomer)
  return { ...app, mine: app.merchant.id, other: other.id }
}

describePostgres('row-level security', {}, () => {
  test('shows nothing to a query without a merchant', async () => {
    const { db } = await startTwoMerchants()

    expect(await anyCustomers(db, {})).toEqual([])
    expect(await db.write((tx) => anyCustomers(tx, {}))).toEqual([])
    expect(await db.snapshot((read) => anyCustomers(read, {}))).toEqual([])
  })

  test('shows a query that forgets to ask for its merchant that merchant’s rows alone', async () => {
    const { db, mine, other } = await startTwoMerchants()

    expect(await careless(db, { merchantId: mine })).toEqual([{ merchantId: mine }])
    expect(await careless(db, { merchantId: other })).toEqual([{ merchantId: other }])
  })

  test('shows an operator’s view everything, and what follows it on the same connection no more than before', async () => {
    const { db, mine } = await startTwoMerchants()

    const seen = await db.write(async (tx) => [
      await everyCustomer(tx, {}),
      await careless(tx, { merchantId: mine }),
      await anyCustomers(tx, {}),
    ])

    expect(seen.map(({ length }) => length)).toEqual([2, 1, 1])
    for (let i = 0; i < 20; i++) expect(await anyCustomers(db, {})).toEqual([])
  })

  test('shows each check of the audit everything, though nothing was asked before', async () => {
    const { db } = await startTwoMerchants()
    const checks = Object.entries(auditQueries).flatMap(([name, found]) =>
      [found].flat().map((run) => [name, run] as const),
    )
    const params = { merchant: idOf(0), sequence: 0, limit: 1, blockSize: 1, divisor: 1 }

    for (const [name, run] of checks) {
      const settings = await db.snapshot(async (read) => {
        await run(read, params)
        return settingsOf(read, {})
      })
      expect([name, ...settings]).toEqual([name, { merchantId: '', everyMerchant: 'on' }])
    }
  })

  test('refuses a row of another merchant than the one that is set', async () => {
    const { url, mine, other } = await startTwoMerchants()

    const insert = runSql(
      url,
      `set role payout_gateway; set app.merchant_id = '${mine}';
       insert into accounts values ('${other}', 'fees:USDC', 'fees', 'USDC', null, 0)`,
    )

    await expect(insert).rejects.toThrow('row-level security')
  })

  test('binds the owner of the tables too, where it is who the service logs in as', async () => {
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

    expect(await query(() => from('accounts').select('id'))(db, {})).toEqual([])
    expect(warnings.filter((warning) => warning.includes('row-level'))).toEqual([])
  })

  test('is missed loudly where whom the service logs in as can’t be bound', async () => {
    const { url, remove } = await newPostgresDatabase()
    spoilPostgresDatabase(url)
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
