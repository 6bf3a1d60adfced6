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
import { absentId, nigerian } from './payout-places.ts'

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
    const next = async (count: number) => {
      const received: ([id: string, status: PayoutStatus] | null)[] = []
      while (received.length < count) {
        const { value } = await payouts.next()
        received.push(value ? [value.id, value.status] : null)
      }
      return received
    }
    return next
  }
  return { app, customerId, pay, payFor, settle, watch }
}

describe.each(everyEngine)('watchPayouts on %s', (engine) => {
  test('yields each payout once with its current status, then each change until all statuses are final', async () => {
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
  ])('ends after the current status of payouts that %s, because that status is final', async (_, statuses) => {
    const { pay, watch } = await startWithPayouts(engine)
    const ids = [await pay(...statuses), await pay(...statuses)]
    const status = statuses.at(-1)
    expect(await (await watch({ payoutIds: ids }))(3)).toEqual([...ids.map((id) => [id, status]), null])
  })

  test('yields a payout once, with its current status, if it changed twice since the last read', async () => {
    const { pay, settle, watch } = await startWithPayouts(engine)
    const [watched, other] = [await pay(), await pay()]
    const [byId, all] = [await watch({ payoutIds: [watched, other] }), await watch({})]
    await byId(2)
    await settle(watched, 'COMPLETED')
    await settle(watched, 'RETURNED')
    await settle(other, 'FAILED')
    const current = [
      [watched, 'RETURNED'],
      [other, 'FAILED'],
    ]
    expect([await byId(3), await all(2)]).toEqual([[...current, null], current])
  })

  test('yields a payout once, with its new status, if it changes while the watch starts', async () => {
    const { app, pay, settle, watch } = await startWithPayouts(engine)
    const id = await pay()
    let statements = 0
    const reading = Promise.withResolvers<void>()
    const execute = async <Result>(query: Query, params: object) => {
      // After the latest event is read, and before the payouts are.
      if (++statements === 2) await settle(id, 'COMPLETED')
      const rows = await app.db.execute<Result>(query, params)
      if ('after' in params) reading.resolve()
      return rows
    }
    const next = await watch({ payoutIds: [id] }, { ...app.context(), db: { ...app.db, execute } })
    const received = next(3)
    // The event of the change that was already yielded.
    await reading.promise
    await settle(id, 'RETURNED')
    expect(await received).toEqual([[id, 'COMPLETED'], [id, 'RETURNED'], null])
  })

  test('yields changes to payouts of the merchant and all its customers, or of one customer', async () => {
    const { customerId, payFor, settle, watch } = await startWithPayouts(engine)
    const [own, customersPayout] = [(await payFor()).id, (await payFor(customerId)).id]
    const [all, customerWatch] = [
      await watch({}),
      await watch({ payoutIds: null, customerId: customerId.toUpperCase() }),
    ]
    await payFor(customerId)
    await settle(own, 'COMPLETED')
    await settle(customersPayout, 'FAILED')
    await settle(own, 'RETURNED')
    const { id: later } = await payFor(customerId, ['FAILED'])
    expect(await customerWatch(2)).toEqual([
      [customersPayout, 'FAILED'],
      [later, 'FAILED'],
    ])
    expect(await all(3)).toEqual([
      [own, 'RETURNED'],
      [customersPayout, 'FAILED'],
      [later, 'FAILED'],
    ])
  })

  test('accepts a hundred ids', async () => {
    const { pay, watch } = await startWithPayouts(engine)
    const id = await pay('FAILED')
    expect(await (await watch({ payoutIds: Array(100).fill(id) }))(2)).toEqual([[id, 'FAILED'], null])
  })

  test('rejects an empty list of ids, more than a hundred ids, ids together with a customer, and unknown objects', async () => {
    const { app, pay, customerId } = await startWithPayouts(engine)
    const id = await pay()
    const rejection = async (watched: Parameters<typeof watchPayouts>[1]) => {
      const { code, message, details } = await domainErrorOf(() => watchPayouts(app.context(), watched))
      const [fieldError] = details.fields ?? []
      return [code, fieldError ? `${fieldError.field} ${fieldError.code}: ${fieldError.message}` : message]
    }
    const count = 'ids INVALID_PARAMETER: must have 1 to 100 items'
    expect(await rejection({ payoutIds: [] })).toEqual(['INVALID_INPUT', count])
    expect(await rejection({ payoutIds: Array(101).fill(id) })).toEqual(['INVALID_INPUT', count])
    expect(await rejection({ payoutIds: [id], customerId })).toEqual([
      'INVALID_INPUT',
      'customerId INVALID_PARAMETER: must not be given together with ids',
    ])
    for (const payoutIds of [[id, absentId], [id, 'x'], ['x'], [app.merchant.id]])
      expect(await rejection({ payoutIds })).toEqual(['RESOURCE_NOT_FOUND', 'Payout not found.'])
    expect(await rejection({ customerId: absentId })).toEqual(['RESOURCE_NOT_FOUND', 'Customer not found.'])
  })
})
