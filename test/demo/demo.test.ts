import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import { demoKey, seedDemo } from '../../src/demo/demo.ts'
import { walletEntriesOfTransfers } from '../../src/modules/ledger/repository.ts'
import { apiKeyById } from '../../src/modules/merchants/repository.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import { createService } from '../../src/operations/context.ts'
import { everyEngine, newDatabase } from '../support/app.ts'

test.each(everyEngine)(
  'the payouts of the demo are debited when they are created, and within a month, on %s',
  async (engine) => {
    const { url, remove } = await newDatabase(engine)
    onTestFinished(remove)
    const db = await openDatabase({ url, onFatal: () => {} })
    onTestFinished(() => db.close())
    const service = createService({ db, mode: 'sandbox' })
    expect(await seedDemo(service)).toBe(true)

    const key = await apiKeyById(db, { id: demoKey.id })
    const merchantId = key?.merchantId ?? ''
    const { items } = await payouts.slice({ db, merchantId }, { first: 100, owner: 'any' })
    const entries = await walletEntriesOfTransfers(db, {
      merchantId,
      transferIds: items.map((each) => each.transferId),
    })
    const debitedAt = new Map(entries.map(({ payoutId, createdAt }) => [payoutId, createdAt]))
    expect(items.length).toBeGreaterThan(5)
    for (const { id, createdAt } of items) expect([id, debitedAt.get(id)]).toEqual([id, createdAt])
    const days = items.map(({ createdAt }) => (service.now() - Date.parse(createdAt)) / 86_400_000)
    expect(Math.min(...days)).toBeGreaterThan(0)
    expect(Math.max(...days)).toBeLessThan(30)
    expect(new Set(items.map(({ createdAt }) => createdAt)).size).toBe(items.length)
  },
)
