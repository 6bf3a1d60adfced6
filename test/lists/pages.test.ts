import { describe, expect, test } from 'vitest'
import { deletePayoutMethod } from '../../src/modules/payout-methods/delete-payout-method.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import { createContext } from '../../src/operations/context.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { domainErrorOf } from '../support/domain-error-of.ts'
import { perform } from '../support/perform.ts'
import { buildWorld, payoutList, payoutMethodList } from './lists.ts'

describe.each(everyEngine)('pages on %s', (engine) => {
  test('pages of a list contain every row once, even if sequence numbers are missing and rows are in several blocks of stored counts', async () => {
    const app = await startApp(engine)
    const context = createContext(app.service, app.merchant.id)
    const world = await buildWorld(app.service, app.merchant.id)
    const ids: string[] = []
    for (let i = 0; i < 70; i++) ids.unshift((await payoutMethodList.add(context, world, i)).id)
    // The merchant's own payout methods, so no customer has to be deleted.
    for (const deletedId of [...ids.splice(51, 1), ...ids.splice(52, 1), ...ids.splice(3, 1)]) {
      await perform(deletePayoutMethod, context, { payoutMethodId: deletedId })
    }
    for (const limit of [1, 9]) {
      const pages = Array.from({ length: Math.ceil(ids.length / limit) }, (_, page) => page + 1)
      for (const page of pages) {
        const { items, total } = await payoutMethods.page(context, { page: `${page}`, limit: `${limit}` })
        // Results of checks are large, so pages leave them out.
        expect(items.filter((item) => 'checks' in item)).toEqual([])
        expect([page, total, items.map(({ id }) => id)]).toEqual([
          page,
          ids.length,
          ids.slice((page - 1) * limit, page * limit),
        ])
      }
    }
  })

  test('the latest rows of a list can be restricted by conditions, by a time range and by one sequence number', async () => {
    let nowMs = Date.parse('2026-03-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    const context = createContext(app.service, app.merchant.id)
    const world = await buildWorld(app.service, app.merchant.id)
    for (let i = 0; i < 6; i++) {
      nowMs += 3_600_000
      await payoutList.add(context, world, i)
    }
    const newest = async (request: object) => {
      const { id: merchantId } = app.merchant
      const always = { createdFrom: null, createdBefore: null }
      const all = { merchantId, conditions: {}, created: always, limit: 100, ...request }
      return (await payouts.newest(app.db, all, payouts.columns(['sequence']))).map(([sequence]) => sequence)
    }
    const created = { createdFrom: '2026-03-01T02:00:00.000Z', createdBefore: '2026-03-01T05:00:00.000Z' }
    expect(await newest({ limit: 2 })).toEqual([6, 5])
    expect(await newest({ conditions: { assetCode: 'USDT' } })).toEqual([6, 4, 2])
    expect(await newest({ created })).toEqual([4, 3, 2])
    for (const [sequence, found] of [
      [1, []],
      [2, [2]],
      [4, [4]],
      [5, []],
      [7, []],
    ] as const)
      expect([sequence, await newest({ created, sequence })]).toEqual([sequence, found])
    expect(await newest({ sequence: 6 })).toEqual([6])
    expect(await newest({ sequence: 6, conditions: { assetCode: 'USDC' } })).toEqual([])
  })

  test('a list without an owner filter has all rows, and a list with the merchant’s id as customer id has no rows', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const idsOf = async (owner: Parameters<typeof wallets.slice>[1]['owner']) =>
      (await wallets.slice(app.context(), { owner })).items.map(({ id }) => id)
    expect(await idsOf({ customerId: app.merchant.id })).toEqual([])
    for (const owner of [null, undefined, 'any', 'merchant'] as const) expect(await idsOf(owner)).toEqual([walletId])
    const messageFor = async (read: 'slice' | 'page') =>
      (await domainErrorOf(() => wallets[read](app.context(), { owner: { customerId: 'x' } }))).details.fields?.[0]
        ?.message
    expect(await messageFor('slice')).toBe('must name a customer by its UUID')
    expect(await messageFor('page')).toBe('must be a UUID, or null for the merchant')
  })
})
