import { copyFileSync, readFileSync, renameSync, rmSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { demoPayoutCount } from '../../src/demo/demo-history.ts'
import { payoutBody } from '../support/app.ts'
import type { TestInstallation } from '../support/process.ts'
import { cli, createDemoInstallation, jsonOf, startService } from '../support/process.ts'

const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }

async function startAt(place: TestInstallation) {
  const service = await startService(place)
  const pay = (): Promise<Response> =>
    fetch(`${service.address}/api/payouts/banks`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...payoutBody, amount: '0.01' }),
    })
  const ready = async () => {
    const response = await fetch(`${service.address}/readyz`)
    return [response.status, (await jsonOf(response)).error?.message]
  }
  return { ...service, pay, ready }
}

/** Pays from eight clients until each is rejected, while it calls `remove`; returns the acknowledged counts before and after. */
async function payUntilRefused(pay: () => Promise<Response>, remove: () => void) {
  let acknowledged = 0
  let acknowledgedLate = 0
  let isRemoved = false
  const refusals = new Set<number>()
  const client = async () => {
    for (;;) {
      const isLate = isRemoved
      const { status } = await pay()
      if (status !== 200) return refusals.add(status)
      if (++acknowledged === 40) {
        remove()
        isRemoved = true
      }
      if (isLate && acknowledgedLate++ > 20) return
    }
  }
  await Promise.all(Array.from({ length: 8 }, client))
  return { acknowledged, acknowledgedLate, refusals: [...refusals] }
}

/** Kills the service, and counts the payouts that a new one finds. */
async function payoutsAfterCrash(place: TestInstallation, { child, ended }: Awaited<ReturnType<typeof startAt>>) {
  child.kill('SIGKILL')
  await ended
  const { balanced, payouts } = (await cli(place, 'audit', '--json')).json() as { balanced: boolean; payouts: number }
  expect(balanced).toBe(true)
  return payouts
}

describe('a running service', () => {
  test('whose WAL is removed keeps acknowledged writes and rejects every further request', async () => {
    const place = await createDemoInstallation()
    const service = await startAt(place)

    const paid = await payUntilRefused(service.pay, () => rmSync(`${place.file}-wal`))

    expect(paid).toMatchObject({ acknowledgedLate: 0, refusals: [503] })
    expect(await service.ready()).toEqual([
      503,
      'The write-ahead log of the database (-wal) was removed while the service had it open. All acknowledged writes are saved in the database file. Nothing is read or stored until the service is restarted.',
    ])
    expect((await fetch(`${service.address}/api/customers`, { headers })).status).toBe(503)
    // The outcome of a group in progress is unknown.
    const payouts = await payoutsAfterCrash(place, service)
    expect(payouts).toBeGreaterThanOrEqual(demoPayoutCount + paid.acknowledged)
    expect(payouts).toBeLessThanOrEqual(demoPayoutCount + paid.acknowledged + 8)
  })

  test('whose WAL is removed rejects requests in all processes', async () => {
    const place = await createDemoInstallation({ WORKERS: '2' })
    const { pay, ready, address, child, ended } = await startAt(place)
    for (let i = 0; i < 10; i++) expect((await pay()).status).toBe(200)

    rmSync(`${place.file}-wal`)

    expect((await pay()).status).toBe(503)
    await expect.poll(async () => (await fetch(`${address}/api/customers`, { headers })).status).toBe(503)
    expect(await ready()).toEqual([
      503,
      expect.stringContaining('The write-ahead log of the database (-wal) was removed'),
    ])
    child.kill('SIGTERM')
    await ended
    expect((await cli(place, 'audit', '--json')).json()).toMatchObject({
      balanced: true,
      payouts: demoPayoutCount + 10,
    })
  })

  test('that is idle when its WAL is removed keeps earlier writes, and commands fail instead of creating another WAL', async () => {
    const place = await createDemoInstallation()
    const service = await startAt(place)
    const ids: string[] = []
    for (let i = 0; i < 10; i++) ids.push((await jsonOf(await service.pay())).data.id)
    const isInFile = (id: string) => readFileSync(place.file).includes(id)
    expect(ids.some(isInFile)).toBe(false)

    rmSync(`${place.file}-wal`)
    const created = await cli(place, 'merchant', 'create', 'Another')
    expect([created.code, created.stderr]).toEqual([1, expect.stringContaining("can't be opened")])
    await expect.poll(() => ids.every(isInFile), { timeout: 30_000 }).toBe(true)
    // Later pages of the file may still be in flight; all of them are stored before the next response.
    expect(await service.ready()).toEqual([503, expect.stringContaining('All acknowledged writes are saved')])

    expect(await payoutsAfterCrash(place, service)).toBe(demoPayoutCount + 10)
  })

  test('whose WAL index (-shm file) is removed does not lose a deposit that the command `deposit` writes afterwards', async () => {
    const place = await createDemoInstallation()
    const { pay, ready, child, ended } = await startAt(place)
    expect((await pay()).status).toBe(200)
    const reader = new Sqlite(place.file, { readonly: true })
    const walletId = String(reader.prepare('select wallet_id from payouts limit 1').pluck().get())
    reader.close()

    rmSync(`${place.file}-shm`)
    const deposit = await cli(place, 'deposit', walletId, '5', '--reference', 'once', '--json')
    expect(deposit.code).toBe(0)

    expect((await pay()).status).toBe(503)
    expect(await ready()).toEqual([503, expect.stringMatching(/^The index of the write-ahead log \(-shm\) was re/)])
    child.kill('SIGTERM')
    await ended
    const again = await cli(place, 'deposit', walletId, '5', '--reference', 'once', '--json')
    expect(again.json()).toEqual(deposit.json())
    expect((await cli(place, 'audit', '--json')).json()).toMatchObject({ balanced: true, payouts: demoPayoutCount + 1 })
  })

  test.each([
    ['removed', (file: string) => renameSync(file, `${file}.gone`)],
    [
      'replaced',
      (file: string) => {
        copyFileSync(file, `${file}.copy`)
        renameSync(`${file}.copy`, file)
      },
    ],
  ])('whose database file is %s acknowledges no more writes, even after the file is restored', async (fate, remove) => {
    const place = await createDemoInstallation()
    const service = await startAt(place)

    const paid = await payUntilRefused(service.pay, () => remove(place.file))

    expect(paid).toMatchObject({ acknowledgedLate: 0, refusals: [503] })
    expect(paid.acknowledged).toBeGreaterThan(0)
    expect(await service.ready()).toEqual([
      503,
      `The database file was ${fate} while the service had it open. Nothing is read or stored until the service is restarted.`,
    ])
    if (fate === 'removed') renameSync(`${place.file}.gone`, place.file)
    expect((await service.pay()).status).toBe(503)
    if (fate === 'removed') {
      expect(await payoutsAfterCrash(place, service)).toBeGreaterThanOrEqual(demoPayoutCount + paid.acknowledged)
    }
  })
})
