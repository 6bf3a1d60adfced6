import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { App } from '../../support/app.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { describePostgres } from '../../support/engines.ts'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { startPostgresServer } from '../../support/postgres-server.ts'

/** Starts a service on its own server, which commits to disk and may be killed. */
async function startOnOwnServer(): Promise<{ app: App; server: PostgresServer }> {
  const server = await startPostgresServer([])
  const app = await startApp('postgres', { place: { url: server.url('postgres'), remove: server.remove } })
  return { app, server }
}

describePostgres('a PostgreSQL server that is killed', {}, () => {
  test('a PostgreSQL server that is killed under load loses no acknowledged payout; the service responds 503 until it is back', async () => {
    const { app, server } = await startOnOwnServer()
    await app.wallet({ balance: '1000000' })
    const acknowledged = new Map<string, string>()
    const statuses = new Map<number, number>()
    let isOver = false
    const client = async (client: number) => {
      for (let i = 0; !isOver; i++) {
        const key = `${client} ${i}`
        const { status, body } = await app.rest('POST', '/api/payouts/banks', {
          body: { ...payoutBody, amount: '1' },
          headers: { 'idempotency-key': key },
        })
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        if (status === 200) acknowledged.set(key, body.data.id)
        else await wait(20)
      }
    }
    const load = Promise.all(Array.from({ length: 8 }, (_, i) => client(i)))

    for (let kill = 0; kill < 2; kill++) {
      await until(() => acknowledged.size > 30 * (kill + 1))
      await server.kill()
      expect((await app.rest('GET', '/readyz')).status).toBe(503)
      const refused = () => statuses.get(503) ?? 0
      const refusedBefore = refused()
      await until(() => refused() > refusedBefore)
      await server.start()
      const before = acknowledged.size
      await until(() => acknowledged.size > before + 30)
    }
    isOver = true
    await load

    expect([...statuses.keys()].sort()).toEqual([200, 503])
    const ids = new Set<string>()
    for (const [key, id] of acknowledged) {
      const again = await app.rest('POST', '/api/payouts/banks', {
        body: { ...payoutBody, amount: '1' },
        headers: { 'idempotency-key': key },
      })
      expect([again.headers['idempotent-replayed'], again.body.data.id]).toEqual(['true', id])
      ids.add(id)
    }
    expect(ids.size).toBe(acknowledged.size)
    await app.expectBooksToBalance()
  })

  test('a restart of PostgreSQL while the service is idle causes no error, because the next request reconnects', async () => {
    const { app, server } = await startOnOwnServer()
    expect((await app.rest('GET', '/api/customers')).status).toBe(200)

    await server.kill()
    await server.start()

    expect((await app.rest('GET', '/api/customers')).status).toBe(200)
    await app.customer()
  })
})

/** Waits up to a minute until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 3_000 && !holds(); i++) await wait(20)
  expect(holds()).toBe(true)
}
