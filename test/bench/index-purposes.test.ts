import { expect, onTestFinished, test } from 'vitest'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import type { App } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { readStoredRows } from '../support/stored.ts'
import { purposeOf } from './index-purposes.ts'
import { postgresStorage, sqliteStorage } from './stored-objects.ts'

async function indexesOf({ url }: App, tables: readonly string[]): Promise<string[]> {
  const [, path] = /^sqlite:(.*)/.exec(url) ?? []
  const storage = path === undefined ? await postgresStorage(url) : sqliteStorage(path, () => 0)
  onTestFinished(() => storage.close())
  return (await storage.stored(tables)).flatMap(({ index }) => index ?? [])
}

test.each(everyEngine)('bench:payout states the purpose of every index that a payout updates on %s', async (engine) => {
  const app = await startApp(engine)
  await app.wallet({ balance: '100' })
  const before = await readStoredRows(app)
  await perform(createPayout, app.context(), { assetCode: 'USDC', amount: '40', ...nigerian })
  const changedTables = Object.entries(await readStoredRows(app)).flatMap(([table, rows]) =>
    rows.join() === before[table]?.join() ? [] : [table],
  )
  expect(changedTables).toEqual(expect.arrayContaining(['accounts', 'events', 'payouts', 'transfers']))
  const indexes = await indexesOf(app, changedTables)
  expect(indexes).toContain('payouts_by_sequence')
  expect(indexes.filter((index) => purposeOf(index) === null)).toEqual([])
})
