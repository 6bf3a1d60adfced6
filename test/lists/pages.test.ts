import { describe, expect, test } from 'vitest'
import { deletePayoutMethod } from '../../src/modules/payout-methods/delete-payout-method.ts'
import { payoutMethods } from '../../src/modules/payout-methods/list.ts'
import { wallets } from '../../src/modules/wallets/list.ts'
import { createContext } from '../../src/operations/context.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { buildWorld, payoutMethodList } from './lists.ts'

describe.each(everyEngine)('pages on %s', (engine) => {
  test('pages of a list with gaps have every row once, also across block boundaries of the counts', async () => {
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
        expect([page, total, items.map(({ id }) => id)]).toEqual([
          page,
          ids.length,
          ids.slice((page - 1) * limit, page * limit),
        ])
      }
    }
  })

  test('an owner filter with the merchant’s id as customer id matches nothing, and without an owner all rows match', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const idsOf = async (owner: Parameters<typeof wallets.slice>[1]['owner']) =>
      (await wallets.slice(app.context(), { owner })).items.map(({ id }) => id)
    expect(await idsOf({ customerId: app.merchant.id })).toEqual([])
    for (const owner of [null, undefined, 'any', 'merchant'] as const) expect(await idsOf(owner)).toEqual([walletId])
  })
})
