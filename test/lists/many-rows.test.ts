import { describe, expect, test } from 'vitest'
import { snakeCase, tables } from '../../src/database/tables.ts'
import { maxCountedRows } from '../../src/lists/totals.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import type { App, Engine } from '../support/app.ts'
import { bankMethodBody, everyEngine, startApp } from '../support/app.ts'
import { tamperWith } from '../support/stored.ts'

const rowCount = maxCountedRows + 5

const always = { createdFrom: '2000-01-01T00:00:00.000Z' }

/** Fills a customer's list of payout methods with copies of its only one, without counting them. */
async function copyPayoutMethod(app: App, engine: Engine, customerId: string): Promise<void> {
  const id = 'substr(cast(id as text), 1, 24) || substr(cast(1000000000000 + number as text), 2)'
  const numbers = `with recursive numbers (number) as (select 2 union all select number + 1 from numbers where number < ${rowCount})`
  const copied: Readonly<Record<string, string>> = {
    id: engine === 'postgres' ? `cast(${id} as uuid)` : id,
    sequence: 'number',
    owner_sequence: 'number',
  }
  const columns = Object.entries(tables.payoutMethods).flatMap(([name, { isGenerated }]) =>
    isGenerated ? [] : snakeCase(name),
  )
  const values = columns.map((column) => copied[column] ?? column)
  await tamperWith(
    app,
    `insert into payout_methods (${columns.join()}) ${numbers} select ${values.join()} from payout_methods, numbers where customer_id = '${customerId}'`,
  )
  app.db.refresh()
}

describe.each(everyEngine)('a list of more than 10,000 rows on %s', (engine) => {
  test('has no numbered page beyond row 10,000 if a time range is given', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, customer_id: customerId } })
    await copyPayoutMethod(app, engine, customerId)

    for (const [page, limit, length] of [
      [1, 1, 1],
      [100, 100, 100],
      [101, 100, 0],
      [3_334, 3, 1],
      [maxCountedRows, 1, 1],
      [maxCountedRows + 1, 1, 0],
      [maxCountedRows + 2, 1, 0],
      [rowCount + 1, 1, 0],
    ] as const) {
      const { items, total } = await payoutMethods.page(app.context(), {
        ...always,
        page: `${page}`,
        limit: `${limit}`,
      })
      expect([page, items.length, total]).toEqual([page, length, maxCountedRows])
    }
  })

  test('has a total for one customer only if that total is stored, or if at most 10,000 rows match', async () => {
    const app = await startApp(engine)
    const customerIds = [await app.customer(), await app.customer()]
    const [customerId = ''] = customerIds
    await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, customer_id: customerId } })
    await copyPayoutMethod(app, engine, customerId)
    await tamperWith(
      app,
      `update list_counts set row_count = ${rowCount} where list = 'payout_methods/owner:${customerId}' and block_size = 0`,
    )
    app.db.refresh()
    const totals = async (created: object) => {
      const slices = await payoutMethods.slicesOf('customer')(app.context(), customerIds, { ...created, first: 1 })
      return Promise.all(customerIds.map((id) => slices.get(id)?.total()))
    }

    expect(await totals({})).toEqual([rowCount, 0])
    expect(await totals(always)).toEqual([null, 0])
    await tamperWith(app, `delete from payout_methods where sequence > ${maxCountedRows}`)
    app.db.refresh()
    expect(await totals(always)).toEqual([maxCountedRows, 0])
  })
})
