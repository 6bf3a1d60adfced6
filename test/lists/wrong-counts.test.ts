import { describe, expect, test } from 'vitest'
import { findWrongListCounts } from '../../src/lists/audit-counts.ts'
import { blockSizes, wholeListBlockSize } from '../../src/lists/counted-list.ts'
import { createContext } from '../../src/operations/context.ts'
import type { App } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { tamperWith } from '../support/stored.ts'
import { buildWorld, payoutMethodList, walletList } from './lists.ts'

/** The counts that are wrong: their block size and list. */
async function wrongCounts({ db }: App): Promise<string[]> {
  db.refresh()
  const countChecks = [wholeListBlockSize, ...blockSizes].map(async (blockSize) => {
    const wrong = await findWrongListCounts(db, { blockSize, divisor: blockSize || 2_147_483_647 })
    return wrong.map(({ id }) => `${blockSize} ${id}`)
  })
  return (await Promise.all(countChecks)).flat()
}

describe.each(everyEngine)('the stored counts of lists on %s', (engine) => {
  test('equal the number of rows, and findWrongListCounts reports a wrong count with its list and block size', async () => {
    const app = await startApp(engine)
    const merchants = [app.merchant.id, (await app.otherMerchant()).id]
    for (const merchantId of merchants) {
      const context = createContext(app.service, merchantId)
      const world = await buildWorld(app.service, merchantId)
      for (let i = 0; i < 5; i++) for (const list of [walletList, payoutMethodList]) await list.add(context, world, i)
      // The customer's last payout method is in another block of the merchant's list than of the customer's.
      for (const i of [...Array(32).fill(0), 1]) await payoutMethodList.add(context, world, i)
    }
    expect(await wrongCounts(app)).toEqual([])

    const [merchantId] = merchants
    const customer = `(select id from customers where merchant_id = '${merchantId}')`
    for (const size of [wholeListBlockSize, ...blockSizes]) {
      for (const list of [
        'payout_methods',
        'payout_methods/type:BANK',
        'payout_methods/currency:NGN',
        `payout_methods/owner:${merchantId}`,
        `payout_methods/owner:${merchantId}/type:WALLET`,
        `wallets/owner:${merchantId}`,
        `wallets/owner:${merchantId}/type:FIAT`,
        `wallets/owner:${merchantId}/currency:USDC`,
      ]) {
        const where = `where merchant_id = '${merchantId}' and list = '${list}' and block_size = ${size} and block = 0`
        await tamperWith(app, `update list_counts set row_count = row_count + 1 ${where}`)
        expect(await wrongCounts(app)).toEqual([`${size} ${merchantId} ${list}`])
        await tamperWith(app, `update list_counts set row_count = row_count - 1 ${where}`)
      }
    }
    await tamperWith(app, `delete from list_counts where list = 'wallets/owner:' || ${customer}`)
    expect(await wrongCounts(app)).toHaveLength(1 + blockSizes.length)
  })
})
