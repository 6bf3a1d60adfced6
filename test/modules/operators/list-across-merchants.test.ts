import { describe, expect, test } from 'vitest'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { customers } from '../../../src/modules/customers/list.ts'
import { listAcrossMerchants } from '../../../src/modules/operators/list-across-merchants.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { sampleCustomer } from '../../support/bodies.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { cli, createEmptyInstallation } from '../../support/process.ts'

describe.each(everyEngine)('listAcrossMerchants on %s', (engine) => {
  test('pages through the rows of all merchants, newest first and each once, also where many have one time', async () => {
    let time = Date.parse('2026-01-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => time })
    const merchants = [app.merchant, await app.otherMerchant(), await app.otherMerchant()]
    const made: { id: string; createdAt: string }[] = []
    for (let i = 0; i < 24; i++) {
      if (i % 8 === 0) time += 1_000
      const merchantId = merchants[(i * 7) % 3]?.id ?? ''
      made.push(await perform(createCustomer, createContext(app.service, merchantId), sampleCustomer))
    }
    const expected = made.toSorted((one, other) =>
      `${other.createdAt} ${other.id}` < `${one.createdAt} ${one.id}` ? -1 : 1,
    )

    for (const first of [1, 5, 8, 100]) {
      const seen: string[] = []
      for (let after: string | undefined; ; ) {
        const page = await listAcrossMerchants(app.service, { list: customers, filter: {} }, { first, after })
        expect(page.total).toBe(24)
        seen.push(...page.items.map(({ id }) => id))
        if (page.next === null) break
        expect(page.items).toHaveLength(first)
        after = page.next
      }
      expect(seen).toEqual(expected.map(({ id }) => id))
    }
    const wrong = () => listAcrossMerchants(app.service, { list: customers, filter: {} }, { after: 'x' })
    expect((await domainErrorOf(wrong)).details.fields).toMatchObject([{ field: 'after' }])
  })

  test('is what every list command shows without --merchant, with the merchant of each row', async () => {
    const app = await startApp(engine)
    const { id: otherId } = await app.otherMerchant()
    await app.wallet({ balance: '1' })
    await app.customer()
    await perform(createCustomer, createContext(app.service, otherId), sampleCustomer)
    const place = await createEmptyInstallation({ DATABASE_URL: app.url })
    type Listed = Record<string, { merchantId: string }[]>
    const shown = (await cli(place, 'customer', 'list', '--json')).json() as Listed
    expect(shown.customers?.map(({ merchantId }) => merchantId)).toEqual([otherId, app.merchant.id])
    for (const [name, noun, count] of [
      ['wallet', 'wallets', 1],
      ['payout', 'payouts', 0],
      ['webhook', 'webhookEndpoints', 0],
    ] as const) {
      const list = (await cli(place, name, 'list', '--json')).json() as Listed
      expect([noun, list[noun]?.length]).toEqual([noun, count])
    }
  })
})
