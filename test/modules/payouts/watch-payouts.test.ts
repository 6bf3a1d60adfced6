import { describe, expect, onTestFinished, test } from 'vitest'
import type { Query } from '../../../src/database/query.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import type { PayoutStatus } from '../../../src/modules/payouts/payout.ts'
import type { SettledStatus } from '../../../src/modules/payouts/settle-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { watchPayouts } from '../../../src/modules/payouts/watch-payouts.ts'
import type { Engine } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { nigerian, nobody } from './payout-places.ts'

async function startWithPayouts(engine: Engine) {
  const app = await startApp(engine)
  const customerId = await app.customer()
  await app.wallet({ balance: '100' })
  await app.wallet({ balance: '100', customerId })
  const pay = async (...statuses: SettledStatus[]) => (await payFor(undefined, statuses)).id
  const payFor = async (customerId?: string, statuses: readonly SettledStatus[] = []) => {
    const input = { assetCode: 'USDC', amount: '1', customerId, ...nigerian } as const
    const payout = await perform(createPayout, app.context(), input)
    for (const status of statuses) await settle(payout.id, status)
    return payout
  }
  const settle = (payoutId: string, status: SettledStatus) => settlePayout(app.context(), { payoutId, status })
  const watch = async (watched: Parameters<typeof watchPayouts>[1], context = app.context()) => {
    const end = new AbortController()
    onTestFinished(() => end.abort())
    const payouts = await watchPayouts(context, watched, end.signal)
    /** The next payouts that it gives, `null` once there are no more. */
    const next = async (count: number) => {
      const given: ([id: string, status: PayoutStatus] | null)[] = []
      while (given.length < count) {
        const { value } = await payouts.next()
        given.push(value ? [value.id, value.status] : null)
      }
      return given
    }
    return next
  }
  return { app, customerId, pay, payFor, settle, watch }
}

describe.each(everyEngine)('watchPayouts on %s', (engine) => {
  test('gives payouts as they are, in the order of their ids and each once, then each change until all have ended', async () => {
    const { pay, settle, watch } = await startWithPayouts(engine)
    const [first, second, failed, completed] = [
      await pay(),
      await pay(),
      await pay('FAILED'),
      await pay('COMPLETED'),
    ] as const
    const next = await watch({ payoutIds: [completed, second, first.toUpperCase(), failed, second] })
    expect(await next(4)).toEqual([
      [completed, 'COMPLETED'],
      [second, 'PROCESSING'],
      [first, 'PROCESSING'],
      [failed, 'FAILED'],
    ])
    // Neither a payout that is new nor one that is not watched.
    await pay('COMPLETED', 'RETURNED')
    await settle(second, 'FAILED')
    await settle(first, 'COMPLETED')
    expect(await next(2)).toEqual([
      [second, 'FAILED'],
      [first, 'COMPLETED'],
    ])
    await settle(first, 'RETURNED')
    await settle(completed, 'RETURNED')
    expect(await next(3)).toEqual([[first, 'RETURNED'], [completed, 'RETURNED'], null])
  })

  test.each<[string, SettledStatus[]]>([
    ['failed', ['FAILED']],
    ['were returned', ['COMPLETED', 'RETURNED']],
  ])('ends with payouts that %s, of which nothing more can become', async (_, statuses) => {
    const { pay, watch } = await startWithPayouts(engine)
    const ids = [await pay(...statuses), await pay(...statuses)]
    const status = statuses.at(-1)
    expect(await (await watch({ payoutIds: ids }))(3)).toEqual([...ids.map((id) => [id, status]), null])
  })

  test('gives a payout that changed twice since as it is now, once', async () => {
    const { pay, settle, watch } = await startWithPayouts(engine)
    const [watched, other] = [await pay(), await pay()]
    const [byId, all] = [await watch({ payoutIds: [watched, other] }), await watch({})]
    await byId(2)
    await settle(watched, 'COMPLETED')
    await settle(watched, 'RETURNED')
    await settle(other, 'FAILED')
    const now = [
      [watched, 'RETURNED'],
      [other, 'FAILED'],
    ]
    expect([await byId(3), await all(2)]).toEqual([[...now, null], now])
  })

  test('gives a payout that changes while the watch begins once, as it is then', async () => {
    const { app, pay, settle, watch } = await startWithPayouts(engine)
    const id = await pay()
    let statements = 0
    const reading = Promise.withResolvers<void>()
    const execute = async <Result>(query: Query, params: object) => {
      // After the latest event is known, and before the payouts are read.
      if (++statements === 2) await settle(id, 'COMPLETED')
      const found = await app.db.execute<Result>(query, params)
      if ('after' in params) reading.resolve()
      return found
    }
    const next = await watch({ payoutIds: [id] }, { ...app.context(), db: { ...app.db, execute } })
    const given = next(3)
    // The event of what was given already.
    await reading.promise
    await settle(id, 'RETURNED')
    expect(await given).toEqual([[id, 'COMPLETED'], [id, 'RETURNED'], null])
  })

  test('gives the changes of the merchant and of all its customers, or of one customer', async () => {
    const { customerId, payFor, settle, watch } = await startWithPayouts(engine)
    const [own, ofCustomer] = [(await payFor()).id, (await payFor(customerId)).id]
    const [all, ofOne] = [await watch({}), await watch({ payoutIds: null, customerId: customerId.toUpperCase() })]
    // One that is new has not changed.
    await payFor(customerId)
    await settle(own, 'COMPLETED')
    await settle(ofCustomer, 'FAILED')
    await settle(own, 'RETURNED')
    const { id: later } = await payFor(customerId, ['FAILED'])
    expect(await ofOne(2)).toEqual([
      [ofCustomer, 'FAILED'],
      [later, 'FAILED'],
    ])
    expect(await all(3)).toEqual([
      [own, 'RETURNED'],
      [ofCustomer, 'FAILED'],
      [later, 'FAILED'],
    ])
  })

  test('takes a hundred ids', async () => {
    const { pay, watch } = await startWithPayouts(engine)
    const id = await pay('FAILED')
    expect(await (await watch({ payoutIds: Array(100).fill(id) }))(2)).toEqual([[id, 'FAILED'], null])
  })

  test('is refused for too many ids, for none, with a customer too, and for what is not there', async () => {
    const { app, pay, customerId } = await startWithPayouts(engine)
    const id = await pay()
    const refused = async (watched: Parameters<typeof watchPayouts>[1]) => {
      const { code, message, details } = await domainErrorOf(() => watchPayouts(app.context(), watched))
      const [fault] = details.fields ?? []
      return [code, fault ? `${fault.field} ${fault.code}: ${fault.message}` : message]
    }
    const count = 'ids INVALID_PARAMETER: must have 1 to 100 items'
    expect(await refused({ payoutIds: [] })).toEqual(['INVALID_INPUT', count])
    expect(await refused({ payoutIds: Array(101).fill(id) })).toEqual(['INVALID_INPUT', count])
    expect(await refused({ payoutIds: [id], customerId })).toEqual([
      'INVALID_INPUT',
      'customerId INVALID_PARAMETER: must not be given together with ids',
    ])
    for (const payoutIds of [[id, nobody], [id, 'x'], ['x'], [app.merchant.id]])
      expect(await refused({ payoutIds })).toEqual(['RESOURCE_NOT_FOUND', 'Payout not found.'])
    expect(await refused({ customerId: nobody })).toEqual(['RESOURCE_NOT_FOUND', 'Customer not found.'])
  })
})
