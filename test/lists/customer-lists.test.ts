import { describe, expect, test } from 'vitest'
import { customerScope } from '../../src/database/customer-scope.ts'
import { entries } from '../../src/modules/ledger/list.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import { createContext } from '../../src/operations/context.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { domainErrorOf } from '../support/domain-error-of.ts'
import type { List, Row } from './lists.ts'
import { buildWorld, payoutList, payoutMethodList, walletList } from './lists.ts'

/** A declared list as this test reads it. */
type Read = {
  slice(context: object, input: object): Promise<Sliced>
  page(context: object, input: object): Promise<{ items: readonly Row[]; total: number }>
  get(context: object, id: string): Promise<Row>
}
type Sliced = { items: readonly Row[]; cursorOf: (item: Row) => string; total: () => Promise<number | null> }

const lists = [
  { list: walletList, reads: wallets, filter: { currency: 'USDC' } },
  { list: payoutMethodList, reads: payoutMethods, filter: { type: 'WALLET' } },
  { list: payoutList, reads: payouts, filter: { assetCode: 'USDT' } },
].map((each) => ({ ...each, name: each.list.name, reads: each.reads as unknown as Read }))

/** A filter under which no list of this kind has rows, combined with a currency that banks pay. */
const contradiction = (list: List) => (list === walletList ? { assetType: 'STABLECOIN' } : { type: 'WALLET' })

describe.each(everyEngine)('lists for a client token of one customer on %s', (engine) => {
  test.each(lists)(
    '$name have only the customer’s rows, and a total and cursors of those rows',
    async ({ list, reads, filter }) => {
      const app = await startApp(engine)
      const context = createContext(app.service, app.merchant.id)
      const world = await buildWorld(app.service, app.merchant.id)
      for (let i = 0; i < 12; i++) await list.add(context, world, i)
      const { customerId } = world
      const own = { ...context, db: customerScope(context.db, customerId) }
      const { items: all } = await reads.slice(context, { first: 100 })
      const matching = (row: Row) => Object.entries(filter).every(([name, value]) => row[name] === value)

      for (const [input, rows] of [
        [{}, all.filter((row) => row.customerId === customerId)],
        [filter, all.filter((row) => row.customerId === customerId && matching(row))],
        [{ owner: { customerId } }, all.filter((row) => row.customerId === customerId)],
        [{ owner: 'merchant' }, []],
        // A filter that no row can match finds no other customer's rows either.
        ...(list === payoutList ? [] : [[{ currency: 'NGN', ...contradiction(list) }, []] as const]),
        [{ owner: { customerId: app.service.newId() } }, []],
      ] as const) {
        const ids = rows.map(({ id }) => id)
        const slice = await reads.slice(own, { ...input, first: 100 })
        expect([input, slice.items.map(({ id }) => id), await slice.total()]).toEqual([input, ids, ids.length])
        const page = await reads.page(own, { ...input, page: '2', limit: '2' })
        expect([input, page.items.map(({ id }) => id), page.total]).toEqual([input, ids.slice(2, 4), ids.length])
      }

      const row = all.find((each) => each.customerId === customerId) as Row
      const theirs = all.find((each) => each.customerId === null) as Row
      expect((await reads.get(own, row.id)).id).toBe(row.id)
      expect((await domainErrorOf(() => reads.get(own, theirs.id))).code).toBe('RESOURCE_NOT_FOUND')
      // Both see the same rows with this filter, but their cursors differ.
      const input = { owner: { customerId }, first: 1 }
      for (const [one, other] of [
        [context, own],
        [own, context],
      ] as const) {
        const after = (await reads.slice(one, input)).cursorOf(row)
        expect((await reads.slice(one, { ...input, after })).items).toHaveLength(1)
        const { details } = await domainErrorOf(() => reads.slice(other, { ...input, after }))
        expect(details.fields?.map(({ field }) => field)).toEqual(['after'])
      }
    },
  )

  test('the statement of the customer’s wallet has lines, and the statement of the merchant’s wallet is empty', async () => {
    const app = await startApp(engine)
    const context = createContext(app.service, app.merchant.id)
    const { customerId, walletIds } = await buildWorld(app.service, app.merchant.id)
    const own = { ...context, db: customerScope(context.db, customerId) }
    const totalOf = async (walletId?: string) => {
      const { items, total } = await entries.slice(own, { walletId: walletId ?? '' })
      return [items.length, await total()]
    }
    expect(await totalOf(walletIds['USDC customer'])).toEqual([1, 1])
    expect(await totalOf(walletIds['USDC merchant'])).toEqual([0, 0])
  })
})
