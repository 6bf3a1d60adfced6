// A merchant's table that was added by docs/how-to-add.md and has no entry in customer-tables.ts.
import { spawnSync } from 'node:child_process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { everyEngine, newDatabase } from '../support/app.ts'
import { corruptPostgresDatabase, runSql } from '../support/postgres-database.ts'
import { checkOutWithMemos } from './memos/checkout.ts'

const nothing = {
  selects: '0 rows',
  'selects in a snapshot': '0 rows',
  joins: '0 rows',
  'joins in a snapshot': '0 rows',
  'selects in a transaction': '0 rows',
  'joins in a transaction': '0 rows',
  'locks in a transaction': '0 rows',
  'updates in a transaction': '0 rows',
  'inserts in a transaction': 'INSUFFICIENT_SCOPE',
  'inserts for another in a transaction': 'INSUFFICIENT_SCOPE',
  'deletes in a transaction': '0 rows',
}

async function runTrials(engine: (typeof everyEngine)[number]) {
  const { url, remove } = await newDatabase(engine)
  corruptPostgresDatabase(url)
  onTestFinished(remove)
  const { stdout, stderr } = spawnSync(process.execPath, [checkOutWithMemos(), url], { encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return { url, ...JSON.parse(stdout) }
}

describe.each(everyEngine)('a new table without a customer scope, on %s,', (engine) => {
  test('shows no rows to a customer’s token, and rejects its inserts', async () => {
    const { asCustomer, left } = await runTrials(engine)

    expect(asCustomer).toEqual(nothing)
    expect(left).toBe(3)
  })

  test('is as accessible to the merchant as any other table', async () => {
    const { asMerchant } = await runTrials(engine)

    expect(asMerchant).toMatchObject({ selects: '3 rows', 'updates in a transaction': '3 rows' })
    expect(asMerchant).toMatchObject({ 'inserts in a transaction': '0 rows', 'deletes in a transaction': '5 rows' })
  })
})

test.skipIf(!everyEngine.includes('postgres'))(
  'row-level security gives a customer no access to a new table, whatever SQL is executed',
  async () => {
    const { url, merchantId, own } = await runTrials('postgres')
    const id = '00000000-0000-7000-8000-000000000001'
    const insert = `insert into memos values ('${merchantId}', '${id}', '${own}', 'kept')`
    const asCustomer = (text: string) =>
      runSql(
        url,
        `set role payout_gateway; set app.merchant_id = '${merchantId}'; set app.customer_id = '${own}'; ${text}`,
      )
    await runSql(url, insert)

    await expect(asCustomer(insert.replace(id, own))).rejects.toThrow('row-level security')
    await asCustomer(`update memos set text = 'changed'`)
    await asCustomer('delete from memos')

    expect(await runSql(url, 'select text from memos')).toEqual([{ text: 'kept' }])
    await asCustomer(`do $$ begin assert not exists (select from memos); end $$`)
  },
)
