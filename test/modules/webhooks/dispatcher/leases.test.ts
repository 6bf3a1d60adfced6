import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { laterBy } from '../../../../src/core/ids.ts'
import { createCustomer } from '../../../../src/modules/customers/create-customer.ts'
import { leases } from '../../../../src/modules/webhooks/dispatcher/leases.ts'
import type { Service } from '../../../../src/operations/context.ts'
import { createService } from '../../../../src/operations/context.ts'
import { dullCustomer, everyEngine } from '../../../support/app.ts'
import { perform } from '../../../support/perform.ts'
import { day, minute, second, startWorld } from './support/world.ts'

describe.each(everyEngine)('two processes on one database of %s', (engine) => {
  test('send for each merchant one at a time; who dies is followed once its lease is over', async () => {
    const { app, dispatch, until, pass, merchants, receiver } = await startWorld(engine)
    const { url, got } = await receiver()
    const contexts = await merchants(4, { url, endpoints: 1 })
    // The first dies: it never gives back what it has.
    const held = leases(app.service, 'dead')
    const ids = contexts.map(({ merchantId }) => merchantId)
    expect((await held.take(ids)).size).toBe(4)
    const next = leases(app.service, 'next')
    expect((await next.take(ids)).size).toBe(0)
    dispatch({ leases: next })
    dispatch({ leases: leases(app.service, 'third') })
    for (const context of contexts) await perform(createCustomer, context, dullCustomer)
    await until(() => true)
    await delay(50)
    expect(got).toEqual([])
    pass(31 * second)
    await until(() => got.length === 4)
    for (const context of contexts) await perform(createCustomer, context, dullCustomer)
    await until(() => got.length === 8)
    await delay(50)
    expect(got.length).toBe(8)
  })

  test('lease thousands of merchants in a few transactions: else the first would be over before the last is had', async () => {
    const { app } = await startWorld(engine)
    const ids = (await Promise.all(Array.from({ length: 150 }, app.otherMerchant))).map(({ id }) => id)
    let writes = 0
    const write: Service['db']['write'] = (operation, options) => {
      writes++
      return app.db.write(operation, options)
    }
    const counted = { ...app.service, db: { ...app.db, write } }
    expect((await leases(counted, 'one').take(ids)).size).toBe(150)
    expect(writes).toBe(2)
    expect((await leases(app.service, 'other').take([...ids].reverse())).size).toBe(0)
  })

  test('keep what they have leased when a clock of theirs was ahead for a while', async () => {
    const { app, pass } = await startWorld(engine)
    const { id } = await app.otherMerchant()
    let aheadMs = 0
    const clock = () => app.service.wallClock() + aheadMs
    const stepping = createService({ db: app.db, mode: 'sandbox', clock })
    const [one, other] = [leases(stepping, 'one'), leases(app.service, 'other')]
    aheadMs = day
    stepping.now()
    aheadMs = 0
    expect((await one.take([id])).size).toBe(1)
    pass(second)
    expect((await other.take([id])).size).toBe(0)
  })

  test('renew what they hold every ten seconds, and give it back when they stop', async () => {
    const { app, pass, elapse, merchants, nowhere } = await startWorld(engine)
    const ids = (await merchants(2, { url: nowhere, endpoints: 1 })).map(({ merchantId }) => merchantId)
    const [one, other] = [leases(app.service, 'one'), leases(app.service, 'other')]
    expect([...(await one.take(ids))].sort()).toEqual([...ids].sort())
    for (let renewals = 0; renewals < 5; renewals++) {
      pass(10 * second)
      elapse(10 * second)
      expect((await one.take(ids)).size).toBe(2)
    }
    expect(await other.take(ids)).toEqual(new Set())
    // Nothing is written in between.
    pass(29 * second)
    elapse(9 * second)
    await one.take(ids)
    pass(2 * second)
    expect((await other.take(ids.slice(0, 1))).size).toBe(1)
    // What another has taken meanwhile is not this one's any more.
    elapse(second)
    expect([...(await one.take(ids))]).toEqual(ids.slice(1))
    await one.giveBack()
    await other.giveBack()
    pass(1)
    const third = leases(app.service, 'third')
    expect((await third.take(ids)).size).toBe(2)
  })

  test('take what was leased by a clock that was wrong', async () => {
    const { app, endpoint, pass, contextOf, nowhere } = await startWorld(engine)
    const { id } = await app.otherMerchant()
    await endpoint(nowhere, {}, contextOf(id))
    const wrong: Service = { ...app.service, wallClock: () => laterBy(10 * 365 * day, app.service.wallClock()) }
    expect((await leases(wrong, 'wrong').take([id])).size).toBe(1)
    pass(minute)
    expect((await leases(app.service, 'right').take([id])).size).toBe(1)
  })
})
