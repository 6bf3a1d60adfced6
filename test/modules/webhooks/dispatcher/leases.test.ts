import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { unavailable } from '../../../../src/core/errors.ts'
import { wallTimeAfter } from '../../../../src/core/ids-and-clock.ts'
import { createCustomer } from '../../../../src/modules/customers/create-customer.ts'
import { createLeases } from '../../../../src/modules/webhooks/dispatcher/leases.ts'
import type { Service } from '../../../../src/operations/context.ts'
import { createService } from '../../../../src/operations/context.ts'
import { everyEngine } from '../../../support/app.ts'
import { sampleCustomer } from '../../../support/bodies.ts'
import { perform } from '../../../support/perform.ts'
import { day, minute, second, startWorld } from './support/world.ts'

/** Returns the service, with a record of its writes and of the merchants whose lease it tries to acquire. */
function observe(service: Service) {
  const observed = { reads: 0, writes: 0, tried: [] as string[] }
  const { db } = service
  const execute: Service['db']['execute'] = (query, params) => {
    observed.reads++
    return db.execute(query, params)
  }
  const write: Service['db']['write'] = (operation, options) => {
    observed.writes++
    return db.write((tx) => {
      const executeInTx: typeof tx.execute = (query, params) => {
        if ('merchantId' in params) observed.tried.push(String(params.merchantId))
        return tx.execute(query, params)
      }
      return operation({ ...tx, execute: executeInTx })
    }, options)
  }
  return { observed, service: { ...service, db: { ...db, execute, write } } }
}

describe.each(everyEngine)('two processes on one database of %s', (engine) => {
  test('never send webhooks of one merchant simultaneously, and take over a merchant after the other process’s lease expires', async () => {
    const { app, dispatch, until, pass, merchants, receiver } = await startWorld(engine)
    const { url, got } = await receiver()
    const contexts = await merchants(4, { url, endpoints: 1 })
    // The first dies without releasing its leases.
    const held = createLeases(app.service, 'dead')
    const ids = contexts.map(({ merchantId }) => merchantId)
    expect((await held.acquire(ids)).size).toBe(4)
    const next = createLeases(app.service, 'next')
    expect((await next.acquire(ids)).size).toBe(0)
    dispatch({ leases: next })
    dispatch({ leases: createLeases(app.service, 'third') })
    for (const context of contexts) await perform(createCustomer, context, sampleCustomer)
    await until(() => true)
    await delay(50)
    expect(got).toEqual([])
    pass(31 * second)
    await until(() => got.length === 4)
    for (const context of contexts) await perform(createCustomer, context, sampleCustomer)
    await until(() => got.length === 8)
    await delay(50)
    expect(got.length).toBe(8)
  })

  test('lease 150 merchants to one process in two transactions, and no merchant to the other process', async () => {
    const { app, elapse } = await startWorld(engine)
    const ids = (await Promise.all(Array.from({ length: 150 }, app.otherMerchant))).map(({ id }) => id)
    const { observed, service } = observe(app.service)
    const leases = createLeases(service, 'one')
    expect((await leases.acquire(ids.toReversed())).size).toBe(150)
    // All processes acquire leases in the same order, otherwise two transactions could deadlock.
    expect([observed.writes, observed.tried]).toEqual([2, ids.toSorted()])
    expect((await createLeases(app.service, 'other').acquire(ids)).size).toBe(0)
    // All leases are renewed by one statement.
    elapse(10 * second)
    expect((await leases.acquire(ids)).size).toBe(150)
    expect([observed.writes, observed.tried.length]).toEqual([3, 150])
  })

  test('acquire a lease for each new merchant, and read nothing while they hold all leases', async () => {
    const { app } = await startWorld(engine)
    const [first, next] = [(await app.otherMerchant()).id, (await app.otherMerchant()).id]
    const { observed, service } = observe(app.service)
    const leases = createLeases(service, 'one')
    await leases.acquire([first])
    expect(await leases.acquire([first, next])).toEqual(new Set([first, next]))
    expect(observed.tried).toEqual([first, next])
    const { reads, writes } = observed
    await leases.acquire([first, next])
    expect([observed.reads, observed.writes]).toEqual([reads, writes])
  })

  test.each([
    ['while another process holds the lease', 0, 0],
    ['in the millisecond in which the lease of another process expires', 0, 30],
    ['while another process whose clock is 30 seconds ahead holds the lease', 30, 0],
  ])('write nothing %s', async (_, aheadSeconds, passedSeconds) => {
    const { app, pass } = await startWorld(engine)
    const { id } = await app.otherMerchant()
    const wallClock = () => wallTimeAfter(aheadSeconds * second, app.service.wallClock())
    await createLeases({ ...app.service, wallClock }, 'other').acquire([id])
    const { observed, service } = observe(app.service)
    const leases = createLeases(service, 'one')
    pass(passedSeconds * second)
    expect((await leases.acquire([id])).size).toBe(0)
    await leases.release()
    expect(observed.writes).toBe(0)
  })

  test('get no error when both acquire the same lease simultaneously, and one of them gets the lease', async () => {
    const { app } = await startWorld(engine)
    const { id } = await app.otherMerchant()
    const other = createLeases(app.service, 'other')
    // The other process acquires the lease after this process has read that the lease is free.
    const write: Service['db']['write'] = async (operation, options) => {
      await other.acquire([id])
      return app.db.write(operation, options)
    }
    const one = createLeases({ ...app.service, db: { ...app.db, write } }, 'one')
    expect((await one.acquire([id])).size).toBe(0)
    expect((await other.acquire([id])).size).toBe(1)
  })

  test('keep a lease although the response to the commit of the lease was lost', async () => {
    const { app } = await startWorld(engine)
    const { id } = await app.otherMerchant()
    let isLost = true
    const write: Service['db']['write'] = async (operation, options) => {
      const result = await app.db.write(operation, options)
      if (isLost) throw unavailable()
      return result
    }
    const leases = createLeases({ ...app.service, db: { ...app.db, write } }, 'one')
    await expect(leases.acquire([id])).rejects.toThrow()
    isLost = false
    expect((await leases.acquire([id])).size).toBe(1)
  })

  test('keep their leases although a clock was ahead for a while', async () => {
    const { app, pass } = await startWorld(engine)
    const { id } = await app.otherMerchant()
    let aheadMs = 0
    const clock = () => app.service.wallClock() + aheadMs
    const stepping = createService({ db: app.db, mode: 'sandbox', clock })
    const [one, other] = [createLeases(stepping, 'one'), createLeases(app.service, 'other')]
    aheadMs = day
    stepping.now()
    aheadMs = 0
    expect((await one.acquire([id])).size).toBe(1)
    pass(second)
    expect((await other.acquire([id])).size).toBe(0)
  })

  test('renew their leases every ten seconds, and release them when they stop', async () => {
    const { app, pass, elapse, merchants, nowhere } = await startWorld(engine)
    const ids = (await merchants(2, { url: nowhere, endpoints: 1 })).map(({ merchantId }) => merchantId)
    const [one, other] = [createLeases(app.service, 'one'), createLeases(app.service, 'other')]
    expect([...(await one.acquire(ids))].sort()).toEqual([...ids].sort())
    for (let renewals = 0; renewals < 5; renewals++) {
      pass(10 * second)
      elapse(10 * second)
      expect((await one.acquire(ids)).size).toBe(2)
    }
    expect(await other.acquire(ids)).toEqual(new Set())
    // Leases that are not yet due for renewal are not written.
    pass(29 * second)
    elapse(9 * second)
    await one.acquire(ids)
    pass(2 * second)
    expect((await other.acquire(ids.slice(0, 1))).size).toBe(1)
    // The first process loses a lease that the other took after its expiry.
    elapse(second)
    expect([...(await one.acquire(ids))]).toEqual(ids.slice(1))
    await one.release()
    await other.release()
    pass(1)
    const third = createLeases(app.service, 'third')
    expect((await third.acquire(ids)).size).toBe(2)
  })

  test('take over a lease that a wrong clock set to expire years later', async () => {
    const { app, endpoint, pass, contextOf, nowhere } = await startWorld(engine)
    const { id } = await app.otherMerchant()
    await endpoint(nowhere, {}, contextOf(id))
    const wrong: Service = { ...app.service, wallClock: () => wallTimeAfter(10 * 365 * day, app.service.wallClock()) }
    expect((await createLeases(wrong, 'wrong').acquire([id])).size).toBe(1)
    pass(minute)
    expect((await createLeases(app.service, 'right').acquire([id])).size).toBe(1)
  })
})
