import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connectToWriter } from '../../../src/app/workers/remote-writer.ts'
import { unavailableDatabase } from '../../../src/database/database.ts'
import { writeTimeoutMs } from '../../../src/database/group-commit.ts'
import { demoApiKey } from '../../../src/demo/demo.ts'
import { demoPayoutCount } from '../../../src/demo/demo-history.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import { defineInternalOperation } from '../../../src/operations/define-operation.ts'
import { payoutBody } from '../../support/app.ts'
import type { TestInstallation } from '../../support/process.ts'
import { cli, createDemoInstallation, createEmptyInstallation, jsonOf, startService } from '../../support/process.ts'
import { isAlive, processesOf } from '../../support/processes.ts'

// Processes that are stopped (SIGSTOP) and resume later, as on a paused or starved machine: they still hold
// earlier requests.

/** Longer than any request may take: a request without a response by then never gets one. */
const silenceMs = writeTimeoutMs + 5_000

/** Returns the response to one payout; `null` if the connection broke. */
type Answered = { readonly status: number; readonly message: string } | null

async function payOnce(address: string, key: string | null = null): Promise<Answered> {
  const request = fetch(`${address}/api/payouts/banks`, {
    method: 'POST',
    headers: {
      'x-api-key': demoApiKey,
      'content-type': 'application/json',
      connection: 'close',
      ...(key !== null && { 'idempotency-key': key }),
    },
    body: JSON.stringify({ ...payoutBody, amount: '0.01' }),
    signal: AbortSignal.timeout(silenceMs),
  })
  try {
    const response = await request
    return { status: response.status, message: (await jsonOf(response)).message }
  } catch (error) {
    if ((error as Error).name === 'TimeoutError') throw new Error('a request was never answered', { cause: error })
    return null
  }
}

const times = <Result>(count: number, ask: () => Promise<Result>) => Promise.all(Array.from({ length: count }, ask))

const isReady = async (address: string) =>
  (await fetch(`${address}/readyz`, { headers: { connection: 'close' } })).status === 200

/** Stops a process, and kills it when the test ends. */
function stop(pid: number): void {
  process.kill(pid, 'SIGSTOP')
  onTestFinished(() => {
    if (isAlive(pid)) process.kill(pid, 'SIGKILL')
  })
}

function pidOf(parent: number, role: string): number {
  return processesOf(parent).find((each) => each.role === role)?.pid as number
}

async function newPayoutsIn(place: TestInstallation): Promise<number> {
  const { balanced, payouts } = (await cli(place, 'audit', '--json')).json() as { balanced: boolean; payouts: number }
  expect(balanced).toBe(true)
  return payouts - demoPayoutCount
}

describe('a suspended writer process', () => {
  test('commits nothing and exits when it resumes after another service has taken over the database', async () => {
    const place = await createDemoInstallation({ WORKERS: '2' })
    const { child, ended, address } = await startService(place)
    const writer = pidOf(child.pid as number, 'writer')
    const readers = processesOf(child.pid as number).filter(({ role }) => role === 'reader')
    stop(writer)
    const responses = times(5, () => payOnce(address))
    // The reader's log line follows its requests to the writer, so the writer holds them.
    for (const _ of readers) expect(await isReady(address)).toBe(false)
    child.kill('SIGKILL')
    expect(await responses).toEqual(Array(5).fill(null))
    await expect.poll(() => readers.filter(({ pid }) => isAlive(pid)), { timeout: 10_000 }).toEqual([])

    const next = await startService(place)
    expect(await newPayoutsIn(place)).toBe(0)
    const again = await times(5, () => payOnce(next.address))
    expect(again.map((response) => response?.status)).toEqual(Array(5).fill(200))

    process.kill(writer, 'SIGCONT')
    // Its output ends with the last of its processes.
    await ended
    expect(await newPayoutsIn(place)).toBe(5)
    // The service that holds the database continues.
    expect((await payOnce(next.address))?.status).toBe(200)
  })

  test('is replaced, and then requests with an idempotency key succeed and requests without a key report an unknown outcome', async () => {
    const place = await createDemoInstallation({ WORKERS: '2' })
    const { child, address } = await startService(place)
    const parent = child.pid as number
    const [writer, reader] = [pidOf(parent, 'writer'), pidOf(parent, 'reader')]
    stop(writer)
    const keyed = times(4, () => payOnce(address, randomUUID()))
    const unkeyed = times(4, () => payOnce(address))
    // One reader is enough to serve reads and reject writes.
    expect(await isReady(address)).toBe(false)
    stop(reader)

    for (const response of await unkeyed) {
      if (response === null) continue
      expect(response.status).toBe(503)
      expect(response.message).toContain('may be stored')
    }
    for (const response of await keyed) expect([200, undefined]).toContain(response?.status)
    await expect.poll(() => processesOf(parent).length, { timeout: 20_000 }).toBe(4)
    const replacing = processesOf(parent).map(({ pid }) => pid)
    expect(replacing).not.toContain(writer)
    await expect.poll(() => isReady(address), { timeout: 20_000 }).toBe(true)
    await expect.poll(() => isAlive(reader), { timeout: 20_000 }).toBe(false)
  })

  test('that never responds makes writes fail with UNAVAILABLE instead of blocking them', async () => {
    const { folder } = await createEmptyInstallation()
    const path = join(folder, 'writer')
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(path, resolve))
    const line = connectToWriter(path, () => {}, 300)
    onTestFinished(() => {
      line.close()
      silent.close()
    })
    const context = createContext(createService({ db: unavailableDatabase(), mode: 'sandbox' }), 'merchant', 'key')
    const write = defineInternalOperation('storeSeal', async () => {})

    await expect(line.perform(write, context, {})).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('may be stored'),
    })
    // Nothing was to be stored, so the outcome is known.
    await expect(line.ping()).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The writer process does not respond.',
    })
  })
})

describe('a service', () => {
  test('that resumes after another service took over its database commits nothing, rejects its pending requests, and exits', async () => {
    const place = await createDemoInstallation()
    const first = await startService(place)
    stop(first.child.pid as number)
    const responses = times(3, () => payOnce(first.address))
    const second = await startService(place)
    expect((await payOnce(second.address))?.status).toBe(200)

    first.child.kill('SIGCONT')

    for (const response of await responses) {
      expect(response).toMatchObject({ status: 503, message: expect.stringContaining('taken over the database') })
    }
    expect(await first.ended).toMatchObject({ code: 3 })
    expect(await newPayoutsIn(place)).toBe(1)
    expect((await payOnce(second.address))?.status).toBe(200)
  })

  test('with several processes exits with code 3 when another service takes over its database', async () => {
    const place = await createDemoInstallation({ WORKERS: '2' })
    const first = await startService(place)
    await startService(place)

    // It may have noticed by itself and have exited.
    expect([503, undefined]).toContain((await payOnce(first.address))?.status)
    expect(await first.ended).toMatchObject({ code: 3 })
  })

  test('does not lose its database when another service fails to start on the same port, or when a command runs', async () => {
    const place = await createDemoInstallation()
    const { address } = await startService(place)
    const twice = { ...place, env: { ...place.env, PORT: new URL(address).port } }
    await expect(startService(twice)).rejects.toThrow('EADDRINUSE')
    expect((await cli(place, 'merchant', 'create', 'Another')).code).toBe(0)
    expect((await payOnce(address))?.status).toBe(200)
  })
})

test('requests get 503 while the supervisor is suspended, and the supervisor kills no process when it resumes', async () => {
  const { child, address } = await startService(await createDemoInstallation({ WORKERS: '2', RATE_LIMIT: '20' }))
  const before = processesOf(child.pid as number)
  child.kill('SIGSTOP')
  const refused = await times(4, () => payOnce(address))
  for (const response of refused) expect(response).toMatchObject({ status: 503 })
  expect(await isReady(address)).toBe(true)

  child.kill('SIGCONT')
  await expect.poll(async () => (await payOnce(address))?.status, { timeout: 10_000 }).toBe(200)
  expect(processesOf(child.pid as number)).toEqual(before)
})
