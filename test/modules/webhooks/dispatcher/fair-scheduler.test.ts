import { expect, onTestFinished, test, vi } from 'vitest'
import type { EndpointWorker } from '../../../../src/modules/webhooks/dispatcher/endpoint-worker.ts'
import { createFairScheduler } from '../../../../src/modules/webhooks/dispatcher/fair-scheduler.ts'
import { unthrottled } from './support/world.ts'

/** A scheduler of workers that always have an attempt to start; each attempt lasts until the test ends it. */
function startScheduler(throttle = unthrottled) {
  const scheduler = createFairScheduler(throttle)
  /** The attempts in flight, by merchant and endpoint, in the order of their start. */
  const attempts: { readonly name: string; readonly end: () => void }[] = []

  function join(merchant: string, unhealthy: readonly boolean[]) {
    const workers: Map<string, EndpointWorker> = new Map(
      unhealthy.map((isUnhealthy, i) => {
        const name = `${merchant}${i}`
        const startAttempt = () => {
          const { promise, resolve } = Promise.withResolvers<void>()
          attempts.push({ name, end: resolve })
          joined.send(isUnhealthy, () => promise)
          return true
        }
        return [name, { startAttempt, isUnhealthy: () => isUnhealthy } as Partial<EndpointWorker> as EndpointWorker]
      }),
    )
    const joined = scheduler.join(workers)
    return { ...joined, leave: () => workers.clear() }
  }

  /** Ends the first attempt in flight of this endpoint. */
  async function end(name: string): Promise<void> {
    const place = attempts.findIndex((attempt) => attempt.name === name)
    attempts.splice(place, 1)[0]?.end()
    await new Promise((resolve) => setImmediate(resolve))
  }

  return { join, end, stop: scheduler.stop, names: () => attempts.map(({ name }) => name) }
}

const letters = Array.from({ length: 20 }, (_, i) => String.fromCharCode(97 + i))

test('a merchant has at most eight webhook attempts in flight, and its endpoints take turns', async () => {
  const { join, end, names } = startScheduler()
  const merchant = join('a', [false, false, false])
  merchant.markReady()
  expect(names()).toEqual(['a0', 'a1', 'a2', 'a0', 'a1', 'a2', 'a0', 'a1'])
  await end('a0')
  merchant.markReady()
  merchant.markReady()
  expect(names()).toEqual(['a1', 'a2', 'a0', 'a1', 'a2', 'a0', 'a1', 'a2'])
})

test('at most four of a merchant’s attempts in flight go to unhealthy endpoints, and the rest to healthy endpoints', async () => {
  const { join, end, names } = startScheduler()
  const merchant = join('a', [true, false])
  merchant.markReady()
  expect(names().filter((name) => name === 'a0')).toHaveLength(4)
  expect(names()).toHaveLength(8)
  await end('a0')
  merchant.markReady()
  expect(names().filter((name) => name === 'a0')).toHaveLength(4)
})

test('a process has at most 32 attempts to unhealthy endpoints in flight, and the merchant that has waited longest is next', async () => {
  const { join, end, names } = startScheduler()
  for (const letter of letters.slice(0, 10)) join(letter, [true]).markReady()
  expect(names()).toHaveLength(32)
  for (let i = 0; i < 3; i++) await end('a0')
  expect(names().slice(-3)).toEqual(['i0', 'j0', 'i0'])
  join('z', [false]).markReady()
  expect(names().filter((name) => name === 'z0')).toHaveLength(8)
})

test('a process has at most 64 attempts in flight, and waiting merchants get the next attempts round-robin', async () => {
  const { join, end, names } = startScheduler()
  const merchants = letters.map((letter) => join(letter, [false]))
  for (const { markReady } of merchants) markReady()
  expect(names()).toHaveLength(64)
  merchants[9]?.leave()
  for (let i = 0; i < 3; i++) await end('a0')
  merchants[8]?.markReady()
  expect(names()).toHaveLength(64)
  expect(names().slice(-3)).toEqual(['i0', 'k0', 'l0'])
})

test('a merchant whose endpoints were removed while it waited does not delay the next merchant', async () => {
  const { join, end, names } = startScheduler()
  const merchants = letters.slice(0, 10).map((letter) => join(letter, [true]))
  for (const { markReady } of merchants) markReady()
  merchants[8]?.leave()
  await end('a0')
  expect(names().filter((name) => name === 'i0')).toEqual([])
  expect(names().at(-1)).toBe('j0')
})

test('healthy endpoints of a merchant keep taking turns while its unhealthy endpoints have reached their limit', async () => {
  const { join, end, names } = startScheduler()
  const merchant = join('a', [true, true, false, false])
  merchant.markReady()
  expect(names()).toEqual(['a0', 'a1', 'a2', 'a3', 'a0', 'a1', 'a2', 'a3'])
  for (const name of ['a2', 'a2', 'a3', 'a3']) await end(name)
  merchant.markReady()
  expect(names().slice(4)).toEqual(['a2', 'a3', 'a2', 'a3'])
})

test('a merchant without endpoints is skipped', () => {
  const { join, names } = startScheduler()
  join('a', []).markReady()
  join('b', [false]).markReady()
  expect(names()).toHaveLength(8)
})

test('a stopped scheduler starts no further attempt', () => {
  const { join, names, stop } = startScheduler()
  const merchant = join('a', [false])
  stop()
  merchant.markReady()
  expect(names()).toEqual([])
})

test('a throttled attempt starts at the end of the waiting time, which is computed once for each attempt', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  let waits = 0
  let started = 0
  const waitMs = () => {
    if (started <= waits) return 0
    waits++
    return 50
  }
  const { join, names } = startScheduler({ waitMs, recordStart: () => started++ })
  const merchant = join('a', [false])
  for (let i = 0; i < 3; i++) merchant.markReady()
  expect([names().length, waits]).toEqual([1, 1])
  vi.advanceTimersByTime(49)
  expect(names()).toHaveLength(1)
  vi.advanceTimersByTime(1)
  expect([names().length, waits]).toEqual([2, 2])
})
