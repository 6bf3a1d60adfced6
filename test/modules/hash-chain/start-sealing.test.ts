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
import { startApp } from '../../support/app.ts'
import { sampleCustomer } from '../../support/bodies.ts'
import { perform } from '../../support/perform.ts'
import { tamperWith } from '../../support/stored.ts'
import { sealAll } from './support/tamperings.ts'

/** An app whose sealers run on fake timers. Reads and watches are counted, and writes take `writeMs`. */
async function startSealingApp() {
  const app = await startApp('sqlite')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const world = {
    ...{ reads: 0, watches: 0, writeMs: 0, fault: null as Error | null },
    beforeWrite: (): Promise<void> | undefined => undefined,
  }
  const execute = async <Result>(...[query, params]: Parameters<Reader['execute']>) => {
    world.reads++
    if (world.fault) throw world.fault
    return app.db.execute<Result>(query, params)
  }
  const write: typeof app.db.write = async (operation, options) => {
    vi.advanceTimersByTime(world.writeMs)
    const done = world.beforeWrite()
    if (done) await done
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
  const errors: string[] = []
  const start = (random = 0) => {
    const onFault = (error: unknown) => errors.push((error as Error).message)
    const sealer = startSealer({ service, onError: onFault, random: () => random })
    onTestFinished(sealer.stop)
    return sealer
  }
  return { app, world, errors, start, sealsOf: async () => (await verifyChain(app.db)).seals }
}

/** Advances the timers and waits until the poll that became due has scheduled the next one. */
async function advance(ms: number): Promise<void> {
  // Watchers of the database have been called after this turn.
  await nextTurn()
  const timerCount = vi.getTimerCount()
  vi.advanceTimersByTime(ms)
  const givenUpAt = Date.now() + 10_000
  while (vi.getTimerCount() < timerCount && Date.now() < givenUpAt) await nextTurn()
}

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

test('a hash chain sealer seals new events after one second, and reads nothing while there are no new events', async () => {
  const { app, world, start, sealsOf } = await startSealingApp()
  start()
  await app.customer()
  await advance(999)
  expect([world.reads, await sealsOf()]).toEqual([0, 0])
  await advance(1)
  expect(await sealsOf()).toBe(1)

  const { reads } = world
  for (let second = 0; second < 30; second++) await advance(1_000)
  expect(world.reads).toBe(reads)
  await app.customer()
  await advance(1_000)
  expect(await sealsOf()).toBe(2)
})

test('a hash chain sealer seals existing events one second after its start', async () => {
  const { app, start, sealsOf } = await startSealingApp()
  await app.customer()
  start()
  await advance(1_000)
  expect(await sealsOf()).toBe(1)
})

test('a hash chain sealer reports a failed attempt to seal, and retries after five seconds', async () => {
  const { app, world, errors, start, sealsOf } = await startSealingApp()
  start()
  world.fault = new Error('the disk is gone')
  await app.customer()
  await advance(1_000)
  await advance(4_999)
  expect(errors).toEqual(['the disk is gone'])
  await advance(1)
  expect(errors).toHaveLength(2)
  world.fault = null
  await advance(5_000)
  expect([errors.length, await sealsOf()]).toEqual([2, 1])
  await app.customer()
  await advance(1_000)
  expect(await sealsOf()).toBe(2)
})

test('a hash chain sealer pauses for twenty times the duration of its last run, but at least one and at most ten seconds', async () => {
  const { app, world, start, sealsOf } = await startSealingApp()
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
    await advance(pauseMs - 1)
    expect(await sealsOf()).toBe(seals)
    await advance(1)
    expect(await sealsOf()).toBe(++seals)
    pauseMs = nextPauseMs
  }
})

test('a hash chain sealer pauses for the same time after a seal with the maximum number of events as after any other seal', async () => {
  const { app, world, start, sealsOf } = await startSealingApp()
  await app.customer()
  await repeatEvents({ app, count: maxEventsPerSeal - 1 })
  start()
  world.writeMs = 100
  await advance(1_000)
  expect(await sealsOf()).toBe(1)
  await newCustomer(app)
  await advance(1_000)
  expect(await sealsOf()).toBe(2)
})

test('between two seals of a merchant, a hash chain sealer pauses for four times as long as a seal takes', async () => {
  const { app, world, start, sealsOf } = await startSealingApp()
  await app.customer()
  await repeatEvents({ app, count: maxEventsPerSeal })
  world.writeMs = 25
  const begunAt = Date.now()
  await start().poll()
  // The only pause in these tests on the real clock.
  expect(Date.now() - begunAt).toBeGreaterThanOrEqual(99)
  expect(await sealsOf()).toBe(2)
})

test('a hash chain sealer stores at most twenty seals of a merchant before it seals the events of all other merchants', async () => {
  const { app, start, sealsOf, errors } = await startSealingApp()
  const others = [await app.otherMerchant(), await app.otherMerchant(), await app.otherMerchant()]
  for (let i = 0; i < 3; i++) others.push(await app.otherMerchant())
  await app.customer()
  await repeatEvents({ app, count: 22 * maxEventsPerSeal })
  for (const { id } of others) await newCustomer(app, id)
  start()
  await advance(1_000)
  const { heads } = await verifyChain(app.db)
  expect(errors).toEqual([])
  expect(heads.map(({ number }) => number)).toEqual([20, ...others.map(() => 1)])
  expect((await latestSeals(app.db, { merchantId: app.merchant.id, limit: 1 }))[0]?.through).toBe(20 * maxEventsPerSeal)

  await advance(1_000)
  expect(await verifyChain(app.db)).toMatchObject({ seals: 23 + others.length, unsealed: 0, differences: [] })
  await advance(1_000)
  expect(await sealsOf()).toBe(23 + others.length)
})

test('a hash chain sealer that finds a seal of another process waits ten to twenty seconds before it seals again', async () => {
  const { app, start, sealsOf, errors } = await startSealingApp()
  const other = await app.otherMerchant()
  start(0.5)
  await app.customer()
  await newCustomer(app, other.id)
  await advance(1_000)
  expect(await sealsOf()).toBe(2)

  await newCustomer(app, other.id)
  await sealAll(app.service)
  await newCustomer(app, other.id)
  await app.customer()
  await advance(1_000)
  expect(await sealsOf()).toBe(3)
  await advance(14_999)
  expect(await sealsOf()).toBe(3)
  await advance(1)
  expect(await sealsOf()).toBe(5)
  await newCustomer(app, other.id)
  await advance(1_000)
  expect([await sealsOf(), errors]).toEqual([6, []])
})

test('a hash chain sealer stops its run if another process has stored the same seal', async () => {
  const { app, world, start, sealsOf, errors } = await startSealingApp()
  await app.customer()
  await repeatEvents({ app, count: 2 * maxEventsPerSeal })
  start()
  const stored = Promise.withResolvers<void>()
  world.beforeWrite = async () => {
    world.beforeWrite = () => undefined
    stored.resolve(sealAll(app.service))
    await stored.promise
  }
  await advance(1_000)
  await stored.promise
  await advance(0)
  expect([await sealsOf(), (await verifyChain(app.db)).differences, errors]).toEqual([3, [], []])
  await app.customer()
  await advance(9_999)
  expect(await sealsOf()).toBe(3)
  await advance(1)
  expect(await sealsOf()).toBe(4)
})

test('a stopped hash chain sealer ends after its current seal and does not start again', async () => {
  const { app, world, start, sealsOf } = await startSealingApp()
  const other = await app.otherMerchant()
  await app.customer()
  await repeatEvents({ app, count: 3 * maxEventsPerSeal })
  const timerCount = vi.getTimerCount()
  const sealer = start()
  let stopped: Promise<void> | undefined
  let writes = 0
  world.beforeWrite = async () => {
    if (++writes === 2) stopped = sealer.stop()
  }
  await sealer.poll()
  await stopped
  expect(await sealsOf()).toBe(2)
  await newCustomer(app, other.id)
  expect([vi.getTimerCount(), world.watches]).toEqual([timerCount, 0])
  await sealer.poll()
  expect(await sealsOf()).toBe(2)
})

test('stopping a hash chain sealer waits for the current attempt, whether or not the attempt fails', async () => {
  const { app, world, start, sealsOf } = await startSealingApp()
  await app.customer()
  const sealer = start()
  let stopped: Promise<unknown> | undefined
  world.beforeWrite = async () => {
    stopped = sealer.stop().then(sealsOf)
  }
  await sealer.poll()
  expect(await stopped).toBe(1)

  const failingSealer = start()
  world.fault = new Error('the disk is gone')
  const attempt = failingSealer.poll()
  await failingSealer.stop()
  await expect(attempt).rejects.toThrow('the disk is gone')
})

test('a hash chain sealer stores seals again at the next poll after a failed poll', async () => {
  const { app, world, start, sealsOf } = await startSealingApp()
  await app.customer()
  const sealer = start()
  world.fault = new Error('the disk is gone')
  await expect(sealer.poll()).rejects.toThrow('the disk is gone')
  world.fault = null
  await sealer.poll()
  expect(await sealsOf()).toBe(1)
})

test.each([
  ['in the middle', 3],
  ['at the end', 4],
])(
  'a hash chain sealer reports the number of an event that is missing %s of the events to be sealed, and stores no further seal',
  async (_, missing) => {
    const { app, errors, start, sealsOf } = await startSealingApp()
    await app.customer()
    await sealAll(app.service)
    for (let i = 0; i < 3; i++) await app.customer()
    await tamperWith(app, `delete from events where sequence = ${missing}`)
    app.db.refresh()
    const sealer = start()
    await sealer.poll()
    expect(errors).toEqual([
      `hash chain: event ${missing} of merchant ${app.merchant.id} is missing; run audit --chain`,
    ])
    expect(await sealsOf()).toBe(1)
  },
)

test('a hash chain sealer reports that its latest seal was replaced, even if the replacement has a valid hash', async () => {
  const { app, errors, start, sealsOf } = await startSealingApp()
  const sealer = start()
  await app.customer()
  await sealer.poll()
  const [seal] = await latestSeals(app.db, { merchantId: app.merchant.id, limit: 1 })
  const createdAt = '2020-01-01T00:00:00.000Z'
  const hash = computeSealHash({ ...(seal as Seal), createdAt }, genesisHead)
  await tamperWith(app, `update seals set created_at = '${createdAt}', hash = '${hash}'`)
  await app.customer()
  app.db.refresh()
  await sealer.poll()
  expect(errors).toEqual([`hash chain: seal 1 of merchant ${app.merchant.id} was altered; run audit --chain`])
  expect(await sealsOf()).toBe(2)
  await app.customer()
  await sealer.poll()
  expect([errors.length, await sealsOf()]).toEqual([1, 3])
})
