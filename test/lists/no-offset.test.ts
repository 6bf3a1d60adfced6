import { expect, test } from 'vitest'
import { compileForPostgres } from '../../src/database/postgres/compile-for-postgres.ts'
import type { Query } from '../../src/database/query.ts'
import { customers } from '../../src/modules/customers/list.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { startApp } from '../support/app.ts'

// For an unknown OFFSET, PostgreSQL assumes many rows and sorts all matches instead of following an index.
test('no list query skips rows with OFFSET', async () => {
  const app = await startApp('sqlite')
  const customerId = await app.customer()
  const queries: Query[] = []
  const watched = <Reader extends { execute: typeof app.db.execute }>(reader: Reader): Reader => ({
    ...reader,
    execute: (query: Query, params: object) => {
      queries.push(query)
      return reader.execute(query, params)
    },
  })
  const db = {
    ...watched(app.db),
    snapshot: ((read) => app.db.snapshot((each) => read(watched(each)))) as typeof app.db.snapshot,
  }
  const context = { ...app.context(), db }

  await customers.page(context, { page: '1' })
  await payoutMethods.page(context, { owner: { customerId } })
  await payouts.page(context, { owner: 'merchant', status: 'FAILED' })
  await payouts.slice(context, { owner: 'merchant', first: 5 })
  await payouts.slicesOf('customer')(context, [customerId], { first: 5 })

  expect(queries.length).toBeGreaterThan(5)
  const passing = queries.map((query) => compileForPostgres(query).sql).filter((text) => / offset /.test(text))
  expect(passing).toEqual([])
})
