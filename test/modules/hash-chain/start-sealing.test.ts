import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Reader } from '../../../src/database/query.ts'
import { createCustomer } from '../../../src/modules/customers/create-customer.ts'
import { latestSeals } from '../../../src/modules/hash-chain/repository.ts'
import type { Seal } from '../../../src/modules/hash-chain/seal.ts'
import { computeSealHash, genesisHead, maxEventsPerSeal } from '../../../src/modules/hash-chain/seal.ts'
import { startSealer } from '../../../src/modules/hash-chain/sealer.ts'
import { verifyChain } from '../../../src/modules/hash-chain/verify-chain.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { sampleCustomer, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { tamperWith } from '../../support/stored.ts'
import { sealAll } from './support/tamperings.ts'

/** A service in whose process only the test lets time pass; its reads are counted and its writes take time. */
async function startWorld() {
  const app = await startApp('sqlite')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const world = { reads: 0, watches: 0, writeMs: 0, fault: null as Error | null, beforeWrite: () => {} }
  const execute = async <Result>(...[query, params]: Parameters<Reader['execute']>) => {
    world.reads++
    if (world.fault) throw world.fault
    return app.db.execute<Result>(query, params)
  }
  const write: typeof app.db.write = async (operation, options) => {
    vi.advanceTimersByTime(world.writeMs)
    world.beforeWrite()
    return app.db.write(operation, options)
  }
  const watch: typeof app.db.watch = (table, call) => {
    world.watches++
    const end = app.db.watch(table, call)
    return () => {
      world.watches--
      end()
    }
  }
  const service = { ...app.service, db: { ...app.db, execute, write, watch } }
  const faults: string[] = []
  const start = (random = 0) => {
    const onFault = (error: unknown) => faults.push((error as Error).message)
    const sealing = startSealer({ service, onError: onFault, random: () => random })
    onTestFinished(sealing.stop)
    return sealing
  }
  return { app, world, faults, start, sealsOf: async () => (await verifyChain(app.db)).seals }
}

/** Lets time pass, and waits for what is due then until it has planned what is next. */
async function pass(ms: number): Promise<void> {
  // Whoever watches the database has been called by then.
  await nextTurn()
  const planned = vi.getTimerCount()
  vi.advanceTimersByTime(ms)
  const givenUpAt = Date.now() + 10_000
  while (vi.getTimerCount() < planned && Date.now() < givenUpAt) await nextTurn()
}

/** Adds events that say the same as the first of the merchant's, as if as much had happened. */
async function repeatEvents({ app, count }: { app: App; count: number }): Promise<void> {
  await tamperWith(
    app,
    `insert into events (merchant_id, sequence, type, object_id, version, time, data)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      select merchant_id, 1 + n, type, object_id, 1 + n, time, data from events, numbers
      where merchant_id = '${app.merchant.id}' and sequence = 1`,
    `update sequences set latest = 1 + ${count} where merchant_id = '${app.merchant.id}' and name = 'events'`,
  )
  app.db.refresh()
}

const newCustomer = (app: App, merchantId = app.merchant.id) =>
  perform(createCustomer, createContext(app.service, merchantId), sampleCustomer)

test('history is sealed a second after it happened, and nothing is read while nothing happens', async () => {
  const { app, world, start, sealsOf } = await startWorld()
  start()
  await app.customer()
  await pass(999)
  expect([world.reads, await sealsOf()]).toEqual([0, 0])
  await pass(1)
  expect(await sealsOf()).toBe(1)

  const { reads } = world
  for (let second = 0; second < 30; second++) await pass(1_000)
  expect(world.reads).toBe(reads)
  await app.customer()
  await pass(1_000)
  expect(await sealsOf()).toBe(2)
})

test('history that was there before sealing started is sealed after a second', async () => {
  const { app, start, sealsOf } = await startWorld()
  await app.customer()
  start()
  await pass(1_000)
  expect(await sealsOf()).toBe(1)
})

test('a failed attempt to seal is reported, and repeated after five seconds', async () => {
  const { app, world, faults, start, sealsOf } = await startWorld()
  start()
  world.fault = new Error('the disk is gone')
  await app.customer()
  await pass(1_000)
  await pass(4_999)
  expect(faults).toEqual(['the disk is gone'])
  await pass(1)
  expect(faults).toHaveLength(2)
  world.fault = null
  await pass(5_000)
  expect([faults.length, await sealsOf()]).toEqual([2, 1])
  await app.customer()
  await pass(1_000)
  expect(await sealsOf()).toBe(2)
})

test('sealing pauses for twenty times as long as it took, for one second to ten', async () => {
  const { app, world, start, sealsOf } = await startWorld()
  start()
  let seals = 0
  let pauseMs = 1_000
  for (const [writeMs, nextPauseMs] of [
    [100, 2_000],
    [600, 10_000],
    [0, 1_000],
    [10, 1_000],
  ] as const) {
    world.writeMs = writeMs
    await app.customer()
    await pass(pauseMs - 1)
    expect(await sealsOf()).toBe(seals)
    await pass(1)
    expect(await sealsOf()).toBe(++seals)
    pauseMs = nextPauseMs
  }
})

test('seals of as many events as one can have do not make the pause longer', async () => {
  const { app, world, start, sealsOf } = await startWorld()
  await app.customer()
  await repeatEvents({ app, count: maxEventsPerSeal - 1 })
  start()
  world.writeMs = 100
  await pass(1_000)
  expect(await sealsOf()).toBe(1)
  await newCustomer(app)
  await pass(1_000)
  expect(await sealsOf()).toBe(2)
})

test('between two seals of a merchant others have four times as long as one took', async () => {
  const { app, world, start, sealsOf } = await startWorld()
  await app.customer()
  await repeatEvents({ app, count: maxEventsPerSeal })
  world.writeMs = 25
  const begunAt = Date.now()
  await start().poll()
  // This pause is the only one in these tests that takes its time.
  expect(Date.now() - begunAt).toBeGreaterThanOrEqual(99)
  expect(await sealsOf()).toBe(2)
})

test('a merchant gets twenty seals in its turn, and the rest once all others have had theirs', async () => {
  const { app, start, sealsOf, faults } = await startWorld()
  const others = [await app.otherMerchant(), await app.otherMerchant(), await app.otherMerchant()]
  for (let more = 0; more < 3; more++) others.push(await app.otherMerchant())
  await app.customer()
  await repeatEvents({ app, count: 22 * maxEventsPerSeal })
  for (const { id } of others) await newCustomer(app, id)
  start()
  await pass(1_000)
  const { heads } = await verifyChain(app.db)
  expect(faults).toEqual([])
  expect(heads.map(({ number }) => number)).toEqual([20, ...others.map(() => 1)])
  expect((await latestSeals(app.db, { merchantId: app.merchant.id, limit: 1 }))[0]?.through).toBe(20 * maxEventsPerSeal)

  await pass(1_000)
  expect(await verifyChain(app.db)).toMatchObject({ seals: 23 + others.length, unsealed: 0, differences: [] })
  await pass(1_000)
  expect(await sealsOf()).toBe(23 + others.length)
})

test('a process that finds history sealed by another waits ten to twenty seconds before it seals again', async () => {
  const { app, start, sealsOf, faults } = await startWorld()
  const other = await app.otherMerchant()
  start(0.5)
  await app.customer()
  await newCustomer(app, other.id)
  await pass(1_000)
  expect(await sealsOf()).toBe(2)

  await newCustomer(app, other.id)
  await sealAll(app.service)
  await newCustomer(app, other.id)
  await app.customer()
  await pass(1_000)
  expect(await sealsOf()).toBe(3)
  await pass(14_999)
  expect(await sealsOf()).toBe(3)
  await pass(1)
  expect(await sealsOf()).toBe(5)
  await newCustomer(app, other.id)
  await pass(1_000)
  expect([await sealsOf(), faults]).toEqual([6, []])
})

test('a process whose seal another has stored meanwhile leaves the rest to it', async () => {
  const { app, world, start, sealsOf, faults } = await startWorld()
  await app.customer()
  await repeatEvents({ app, count: 2 * maxEventsPerSeal })
  start()
  const stored = Promise.withResolvers<void>()
  world.beforeWrite = () => {
    world.beforeWrite = () => {}
    stored.resolve(sealAll(app.service))
  }
  await pass(1_000)
  await stored.promise
  expect([await sealsOf(), (await verifyChain(app.db)).differences, faults]).toEqual([3, [], []])
  await app.customer()
  await pass(9_999)
  expect(await sealsOf()).toBe(3)
  await pass(1)
  expect(await sealsOf()).toBe(4)
})

test('sealing that is stopped ends after the seal it is at, and does not begin again', async () => {
  const { app, world, start, sealsOf } = await startWorld()
  const other = await app.otherMerchant()
  await app.customer()
  await repeatEvents({ app, count: 3 * maxEventsPerSeal })
  const planned = vi.getTimerCount()
  const sealing = start()
  let stopped: Promise<void> | undefined
  let writes = 0
  world.beforeWrite = () => {
    if (++writes === 2) stopped = sealing.stop()
  }
  await sealing.poll()
  await stopped
  expect(await sealsOf()).toBe(2)
  await newCustomer(app, other.id)
  expect([vi.getTimerCount(), world.watches]).toEqual([planned, 0])
  await sealing.poll()
  expect(await sealsOf()).toBe(2)
})

test('sealing that is stopped waits for the attempt that is under way, whether or not it fails', async () => {
  const { app, world, start, sealsOf } = await startWorld()
  await app.customer()
  const sealing = start()
  let stopped: Promise<unknown> | undefined
  world.beforeWrite = () => {
    stopped = sealing.stop().then(sealsOf)
  }
  await sealing.poll()
  expect(await stopped).toBe(1)

  const failing = start()
  world.fault = new Error('the disk is gone')
  const attempt = failing.poll()
  await failing.stop()
  await expect(attempt).rejects.toThrow('the disk is gone')
})

test('an attempt to seal is made though the one before it failed', async () => {
  const { app, world, start, sealsOf } = await startWorld()
  await app.customer()
  const sealing = start()
  world.fault = new Error('the disk is gone')
  await expect(sealing.poll()).rejects.toThrow('the disk is gone')
  world.fault = null
  await sealing.poll()
  expect(await sealsOf()).toBe(1)
})

test.each([
  ['in the middle', 3],
  ['at the end', 4],
])('a missing event %s is reported with its number, and not sealed over', async (_, missing) => {
  const { app, faults, start, sealsOf } = await startWorld()
  await app.customer()
  await sealAll(app.service)
  for (let more = 0; more < 3; more++) await app.customer()
  await tamperWith(app, `delete from events where sequence = ${missing}`)
  app.db.refresh()
  const sealing = start()
  await sealing.poll()
  expect(faults).toEqual([`hash chain: event ${missing} of merchant ${app.merchant.id} is missing; run audit --chain`])
  expect(await sealsOf()).toBe(1)
})

test('a process reports that a seal of its own is another, also one that is whole', async () => {
  const { app, faults, start, sealsOf } = await startWorld()
  const sealing = start()
  await app.customer()
  await sealing.poll()
  const [seal] = await latestSeals(app.db, { merchantId: app.merchant.id, limit: 1 })
  const createdAt = '2020-01-01T00:00:00.000Z'
  const hash = computeSealHash({ ...(seal as Seal), createdAt }, genesisHead)
  await tamperWith(app, `update seals set created_at = '${createdAt}', hash = '${hash}'`)
  await app.customer()
  app.db.refresh()
  await sealing.poll()
  expect(faults).toEqual([`hash chain: seal 1 of merchant ${app.merchant.id} was altered; run audit --chain`])
  expect(await sealsOf()).toBe(2)
  await app.customer()
  await sealing.poll()
  expect([faults.length, await sealsOf()]).toEqual([1, 3])
})
