import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { demoApiKey } from '../../../src/demo/demo.ts'
import { demoPayoutCount } from '../../../src/demo/demo-history.ts'
import { everyEngine, newDatabase, payoutBody } from '../../support/app.ts'
import type { TestInstallation } from '../../support/process.ts'
import { cli, createDemoInstallation, createEmptyInstallation, jsonOf, startService } from '../../support/process.ts'
import { isAlive, processesOf } from '../../support/processes.ts'

const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }

/** The processes of two workers besides the supervisor. */
const allRoles = ['reader', 'reader', 'sender', 'writer']

const rolesOf = (parent: number) =>
  processesOf(parent)
    .map(({ role }) => role)
    .sort()

/** Kills a process of this role, and waits for its replacement. */
async function replaced(parent: number, role: string): Promise<void> {
  const killed = processesOf(parent).find((each) => each.role === role)?.pid as number
  process.kill(killed, 'SIGKILL')
  await expect.poll(() => isAlive(killed) || rolesOf(parent), { timeout: 20_000 }).toEqual(allRoles)
}

/** Sends one payout; returns `null` if the connection broke. */
function payOnce(address: string, more: Record<string, string>): Promise<Response | null> {
  return fetch(`${address}/api/payouts/banks`, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: JSON.stringify({ ...payoutBody, amount: '0.01' }),
  }).catch(() => null)
}

/** Pays until stopped; like an integrator, retries each payout with its key until a response. */
async function pay(
  address: string,
  { clients, ids, isOver }: { clients: number; ids: string[]; isOver: () => boolean },
) {
  const statuses = new Set<number | string>()
  const client = async () => {
    while (!isOver()) {
      const key = randomUUID()
      let response: Response | null = null
      while (response?.status !== 200) {
        if (response !== null || statuses.has('broken')) await delay(20)
        response = await payOnce(address, { 'idempotency-key': key })
        statuses.add(response?.status ?? 'broken')
      }
      ids.push((await jsonOf(response)).data.id)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return statuses
}

/** Waits until the count has grown by that many. */
async function grown(list: readonly unknown[], by: number): Promise<void> {
  const before = list.length
  await expect.poll(() => list.length - before, { timeout: 30_000 }).toBeGreaterThanOrEqual(by)
}

async function payoutsIn(place: TestInstallation): Promise<number> {
  const { balanced, payouts } = (await cli(place, 'audit', '--json')).json() as { balanced: boolean; payouts: number }
  expect(balanced).toBe(true)
  return payouts
}

describe('a service with several processes on one SQLite file', () => {
  test('replaces killed processes without losing a payout, and finishes accepted requests when all processes get SIGTERM', async () => {
    const place = await createDemoInstallation({ WORKERS: '2' })
    const { child, ended, address } = await startService(place)
    const parent = child.pid as number
    expect(rolesOf(parent)).toEqual(allRoles)
    const paid = new Set<string>()

    for (const [role, expected] of [
      // Requests with a key succeed despite the writer's death.
      ['writer', [200]],
      ['reader', [200, 'broken']],
      // Requests do not depend on the webhook process.
      ['sender', [200]],
      [null, [200]],
    ] as const) {
      let isOver = false
      const ids: string[] = []
      const paying = pay(address, { clients: 8, ids, isOver: () => isOver })
      await grown(ids, 40)
      if (role === null) {
        // A terminal or systemd signals all processes.
        isOver = true
        for (const { pid } of processesOf(parent)) process.kill(pid, 'SIGTERM')
        child.kill('SIGTERM')
      } else {
        await replaced(parent, role)
        await grown(ids, 40)
        isOver = true
      }
      const statuses = await paying
      for (const id of ids) paid.add(id)
      for (const status of statuses) expect(expected).toContain(status)
    }
    const { code, stdout } = await ended
    expect(code).toBe(0)
    expect(await payoutsIn(place)).toBe(demoPayoutCount + paid.size)
    // The log entry names the process that died and the one that logs.
    const deaths = stdout.split('\n').filter((line) => line.includes('worker process died'))
    // A process that has just started dies of the signal that drains the others.
    const killed = deaths.map((line) => JSON.parse(line)).filter(({ signal }) => signal === 'SIGKILL')
    expect(killed).toMatchObject([
      { pid: parent, role: 'supervisor', child_pid: expect.any(Number), child_role: 'writer' },
      { pid: parent, role: 'supervisor', child_pid: expect.any(Number), child_role: 'reader' },
      { pid: parent, role: 'supervisor', child_pid: expect.any(Number), child_role: 'sender' },
    ])
  })

  test('reports an unknown outcome for writes without an idempotency key if the writer dies, and exits if the supervisor dies', async () => {
    const place = await createDemoInstallation({ WORKERS: '2' })
    const { child, address } = await startService(place)
    const second = { ...place, env: { ...place.env, PORT: new URL(address).port } }
    await expect(startService(second)).rejects.toThrow('EADDRINUSE')

    const parent = child.pid as number
    let isOver = false
    const statuses: number[] = []
    const client = async () => {
      while (!isOver) statuses.push((await payOnce(address, {}))?.status ?? 0)
    }
    const paying = Promise.all(Array.from({ length: 8 }, client))
    await grown(statuses, 40)
    // Whether it dies during a write is random.
    for (let deaths = 0; deaths < 20 && !statuses.includes(503); deaths++) await replaced(parent, 'writer')
    await grown(statuses, 40)
    isOver = true
    await paying
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    const acknowledged = statuses.filter((status) => status === 200).length

    const children = processesOf(parent)
    expect(children).toHaveLength(allRoles.length)
    child.kill('SIGKILL')
    await expect.poll(() => children.filter(({ pid }) => isAlive(pid)), { timeout: 10_000 }).toEqual([])
    expect(readdirSync(place.folder).filter((name) => name.startsWith('payout-gateway-'))).toEqual([])
    const stored = (await payoutsIn(place)) - demoPayoutCount
    expect(stored).toBeGreaterThanOrEqual(acknowledged)
    expect(stored).toBeLessThanOrEqual(statuses.length)
  })

  test('shows an acknowledged write immediately in every process', async () => {
    const { address } = await startService(await createDemoInstallation({ WORKERS: '3' }))
    for (let i = 0; i < 30; i++) {
      const created = await payOnce(address, { connection: 'close' })
      const { id } = (await jsonOf(created as Response)).data
      const seen = await fetch(`${address}/graphql`, {
        method: 'POST',
        headers: { ...headers, connection: 'close' },
        body: JSON.stringify({ query: `{ payout(id: "${id}") { status } }` }),
      })
      expect(await jsonOf(seen)).toMatchObject({ data: { payout: { status: 'PROCESSING' } } })
    }
  })
})

describe.each(everyEngine)('several processes of a service on %s', (engine) => {
  test('share the rate limit and the idempotency keys of a merchant', async () => {
    const { url, remove } = await newDatabase(engine)
    const place = await createEmptyInstallation({ WORKERS: '2', DATABASE_URL: url, RATE_LIMIT: '20' })
    const { child, ended, address } = await startService(place)
    const ask = (more: RequestInit = {}) =>
      fetch(`${address}/api/customers`, { ...more, headers: { ...headers, connection: 'close' } })
    const startedAt = performance.now()
    const statuses = await Promise.all(Array.from({ length: 120 }, async () => (await ask()).status))
    const seconds = (performance.now() - startedAt) / 1000
    const passed = statuses.filter((status) => status === 200).length
    expect(passed).toBeGreaterThanOrEqual(20)
    expect(passed).toBeLessThanOrEqual(20 + Math.ceil(20 * seconds))
    expect(new Set(statuses)).toEqual(new Set([200, 429]))

    const payouts = await Promise.all(
      Array.from({ length: 15 }, async () => {
        let response: Response | null = null
        const status = async () => {
          response = await payOnce(address, { 'idempotency-key': 'one', connection: 'close' })
          return response?.status
        }
        // Until the rate limit admits it again.
        await expect.poll(status, { timeout: 30_000, interval: 100 }).toBe(200)
        return (await jsonOf(response as unknown as Response)).data.id
      }),
    )
    expect(new Set(payouts).size).toBe(1)
    child.kill('SIGTERM')
    expect((await ended).code).toBe(0)
    expect(await payoutsIn(place)).toBe(demoPayoutCount + 1)
    await remove()
  })
})
