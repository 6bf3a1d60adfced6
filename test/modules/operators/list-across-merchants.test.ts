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
  test('lists each row of all merchants once, newest first, even if rows have equal times', async () => {
    let time = Date.parse('2026-01-01T00:00:00.000Z')
    const app = await startApp(engine, { clock: () => time })
    const merchants = [app.merchant, await app.otherMerchant(), await app.otherMerchant()]
    const created: { id: string; createdAt: string }[] = []
    for (let i = 0; i < 24; i++) {
      if (i % 8 === 0) time += 1_000
      const merchantId = merchants[(i * 7) % 3]?.id ?? ''
      created.push(await perform(createCustomer, createContext(app.service, merchantId), sampleCustomer))
    }
    const expected = created.toSorted((one, other) =>
      `${other.createdAt} ${other.id}` < `${one.createdAt} ${one.id}` ? -1 : 1,
    )

    for (const first of [1, 5, 8, 100]) {
      const listedIds: string[] = []
      for (let after: string | undefined; ; ) {
        const page = await listAcrossMerchants(app.service, { list: customers, filter: {} }, { first, after })
        expect(page.total).toBe(24)
        listedIds.push(...page.items.map(({ id }) => id))
        if (page.next === null) break
        expect(page.items).toHaveLength(first)
        after = page.next
      }
      expect(listedIds).toEqual(expected.map(({ id }) => id))
    }
    const listWithInvalidCursor = () =>
      listAcrossMerchants(app.service, { list: customers, filter: {} }, { after: 'x' })
    expect((await domainErrorOf(listWithInvalidCursor)).details.fields).toMatchObject([{ field: 'after' }])
  })

  test('has no total if more than `maxCounted` rows match a filter, unless the total of each list is stored', async () => {
    const app = await startApp(engine)
    const merchants = [app.merchant, await app.otherMerchant(), await app.otherMerchant()]
    for (const { id } of [...merchants, ...merchants])
      await perform(createCustomer, createContext(app.service, id), sampleCustomer)
    const totalOf = async (filter: object, maxCounted: number) =>
      (await listAcrossMerchants(app.service, { list: customers, filter }, { maxCounted })).total
    const filter = { createdFrom: '2020-01-01T00:00:00.000Z' }
    for (const [maxCounted, total] of [
      [7, 6],
      [6, 6],
      [5, null],
      [4, null],
      [1, null],
    ] as const) {
      expect([maxCounted, await totalOf(filter, maxCounted)]).toEqual([maxCounted, total])
    }
    expect(await totalOf({ createdBefore: '2020-01-01T00:00:00.000Z' }, 0)).toBe(0)
    expect(await totalOf({}, 1)).toBe(6)
  })

  test('is used by every list command without --merchant, and the output has the merchant of each row', async () => {
    const app = await startApp(engine)
    const { id: otherId } = await app.otherMerchant()
    await app.wallet({ balance: '1' })
    await app.customer()
    await perform(createCustomer, createContext(app.service, otherId), sampleCustomer)
    const installation = await createEmptyInstallation({ DATABASE_URL: app.url })
    type ListOutput = Record<string, { merchantId: string }[]>
    const output = (await cli(installation, 'customer', 'list', '--json')).json() as ListOutput
    expect(output.customers?.map(({ merchantId }) => merchantId)).toEqual([otherId, app.merchant.id])
    for (const [name, noun, count] of [
      ['wallet', 'wallets', 1],
      ['payout', 'payouts', 0],
      ['webhook', 'webhookEndpoints', 0],
    ] as const) {
      const list = (await cli(installation, name, 'list', '--json')).json() as ListOutput
      expect([noun, list[noun]?.length]).toEqual([noun, count])
    }
  })
})
