import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { inspectDatabase, openDatabase } from '../../../src/app/open-database.ts'
import { ask, nodeRail } from '../../modules/deposits/support/node.ts'
import type { App } from '../../support/app.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { describePostgres } from '../../support/engines.ts'
import { corruptPostgresDatabase, newPostgresDatabase, runSql } from '../../support/postgres-database.ts'
import type { PostgresServer } from '../../support/postgres-server.ts'
import { startPostgresServer } from '../../support/postgres-server.ts'

/** Starts a primary, a standby, and a service configured with both. */
async function startPair(changes: readonly string[] = []) {
  const primary = await startPostgresServer(changes)
  const standby = await primary.startStandby()
  onTestFinished(standby.remove)
  const place = { url: urlOf(primary, standby), remove: primary.remove }
  const app = await startApp('postgres', { place, rails: [nodeRail] })
  await app.wallet({ balance: '1000' })
  return { app, primary, standby }
}

/** The URL as an operator writes it; the standby comes first, so the primary is not chosen by luck. */
function urlOf(primary: PostgresServer, standby: PostgresServer): string {
  const port = (server: PostgresServer) => new URL(server.url('postgres')).port
  return `postgres://postgres@127.0.0.1:${port(standby)},127.0.0.1:${port(primary)}/postgres?target_session_attrs=read-write`
}

const pay = (app: App, key: string) =>
  app.rest('POST', '/api/payouts/banks', {
    body: { ...payoutBody, amount: '1' },
    headers: { 'idempotency-key': key },
  })

/** Retries a payout until it is acknowledged, and returns how often each other status was returned. */
async function payAtLast(app: App, key: string) {
  const refused = new Set<number>()
  for (let attempt = 0; attempt < 300; attempt++) {
    const response = await pay(app, key)
    if (response.status === 200) return { response, refused }
    refused.add(response.status)
    await wait(50)
  }
  throw new Error(`${key} was never paid: ${[...refused]}`)
}

/** The sessions that wait for a standby with a committed payout; other waiting sessions may not have committed yet. */
const waitingCommits = (server: PostgresServer) =>
  runSql<{ pid: number }>(
    server.url('postgres'),
    `select pid from pg_stat_activity join pg_locks using (pid) where wait_event = 'SyncRep' and query = 'commit'
      and relation = 'payouts'::regclass`,
  )

const storedAs = (server: PostgresServer, key: string) =>
  runSql<{ id: string }>(server.url('postgres'), 'select id from payouts where idempotency_key = $1', [key])

async function until<Value>(look: () => Promise<Value>, holds: (value: Value) => boolean): Promise<Value> {
  for (let i = 0; i < 600; i++) {
    const value = await look()
    if (holds(value)) return value
    await wait(50)
  }
  throw new Error('what was waited for did not come')
}

describePostgres('several PostgreSQL servers', {}, () => {
  test('the service follows the server that accepts writes, and responds 503 during the failover', async () => {
    const { app, primary, standby } = await startPair(['synchronous_standby_names=*'])
    const { response: first } = await payAtLast(app, 'before')

    await primary.kill()
    const during = await pay(app, 'after')
    expect([during.status, during.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)])
    await runSql(standby.url('postgres'), 'select pg_promote()')
    const { response, refused } = await payAtLast(app, 'after')
    expect([...refused].filter((status) => status !== 503)).toEqual([])

    const again = await pay(app, 'before')
    expect([again.headers['idempotent-replayed'], again.body.data.id]).toEqual(['true', first.body.data.id])
    expect(response.body.data.id).not.toBe(first.body.data.id)
    expect((await app.rest('GET', '/readyz')).status).toBe(200)
    await app.expectBooksToBalance()
  })

  test('while the service is connected to a replaced primary, it does not reject a position that the new primary returned', async () => {
    const { app, standby } = await startPair(['synchronous_standby_names=*'])
    await payAtLast(app, 'before')
    // So the next request has nothing to write.
    await ask(app, '/rails/node/addresses?after=0')
    await runSql(standby.url('postgres'), 'select pg_promote()')
    const place = { url: standby.url('postgres'), remove: async () => {} }
    const other = await startApp('postgres', { place, rails: [nodeRail] })
    const key = app.merchant.apiKey
    const body = { currency: 'USDC', description: 'Made after the failover', network: 'solana' }
    for (const _ of ['first', 'second']) await other.rest('POST', '/api/wallets', { body, key })
    const { data } = (await other.rest('GET', '/api/events?limit=100', { key })).body
    const after = data.at(-2).sequence
    const { next } = (await ask(other, '/rails/node/addresses?after=0')).body.data

    const notYet = async (read: () => ReturnType<App['rest']>) => {
      expect([200, 503]).toContain((await read()).status)
      return (await until(read, ({ status }) => status === 200)).body.data
    }
    expect(await notYet(() => ask(app, `/rails/node/addresses?after=${next}`))).toEqual({ addresses: [], next })
    expect(await notYet(() => app.rest('GET', `/api/events?after=${after}`))).toEqual([data.at(-1)])
  })

  test('if no PostgreSQL server accepts writes, the error gives the reason for each server', async () => {
    const primary = await startPostgresServer([])
    onTestFinished(primary.remove)
    const standby = await primary.startStandby()
    onTestFinished(standby.remove)
    await primary.kill()

    const opening = openDatabase({ url: urlOf(primary, standby), onFatal: () => {} })
    await expect(opening).rejects.toThrow(
      /No server accepts writes \(127\S+: it is a standby; 127\S+: connect ECONNREFUSED/,
    )
  })
})

/** Warms the connections and records the use of the API key, so the next request needs neither. */
async function warmUp(app: App): Promise<void> {
  await payAtLast(app, 'before')
  await Promise.all(Array.from({ length: 8 }, () => app.rest('GET', '/api/payouts')))
}

describePostgres('a PostgreSQL commit that waits for a standby', {}, () => {
  test('a commit that waits for a standby is neither readable nor returned to a retry until the standby has received it', async () => {
    const { app, primary, standby } = await startPair(['synchronous_standby_names=*'])
    await warmUp(app)
    await standby.kill()
    const unclear = pay(app, 'key')
    await until(
      () => waitingCommits(primary),
      (rows) => rows.length > 0,
    )

    // The commit in progress becomes visible to everyone once the server is back.
    await primary.kill()
    expect((await unclear).status).toBe(503)
    await primary.start()
    const stored = await storedAs(primary, 'key')
    expect(stored).toHaveLength(1)
    expect((await pay(app, 'key')).status).toBe(503)
    expect((await app.rest('GET', '/api/payouts')).status).toBe(503)

    await standby.start()
    const { response } = await payAtLast(app, 'key')
    expect([response.headers['idempotent-replayed'], response.body.data.id]).toEqual(['true', stored[0]?.id])
  })

  test('a commit whose wait for a standby is cancelled is acknowledged neither to the request nor to a retry', async () => {
    const { app, primary, standby } = await startPair(['synchronous_standby_names=*'])
    await warmUp(app)
    await standby.kill()
    const cancelWait = async () => {
      await until(
        () => waitingCommits(primary),
        (rows) => rows.length > 0,
      )
      await runSql(
        primary.url('postgres'),
        `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`,
      )
    }

    for (const attempt of ['first', 'retry']) {
      const [response] = await Promise.all([pay(app, 'key'), cancelWait()])
      expect([attempt, response.status]).toEqual([attempt, 503])
    }
    expect(await storedAs(primary, 'key')).toHaveLength(1)

    await standby.start()
    const { response } = await payAtLast(app, 'key')
    expect(response.headers['idempotent-replayed']).toBe('true')
  })
})

describePostgres('the connection that listens for commits', {}, () => {
  test('the connection that listens for commits is replaced by exactly one connection after each loss', async () => {
    const { url, remove } = await newPostgresDatabase()
    corruptPostgresDatabase(url)
    onTestFinished(remove)
    const db = await openDatabase({ url, onFatal: () => {} })
    onTestFinished(() => db.close())
    db.watch('events', () => {})
    const listening = () =>
      runSql<{ pid: number }>(
        url,
        `select pid from pg_stat_activity where datname = current_database() and query like 'listen %'`,
      )

    for (let loss = 0; loss < 3; loss++) {
      const before = await until(listening, (rows) => rows.length > 0)
      expect(before).toHaveLength(1)
      await runSql(url, `select pg_terminate_backend(${before[0]?.pid})`)
      await until(listening, (rows) => rows.some(({ pid }) => pid !== before[0]?.pid))
      // Another connection would open equally late.
      await wait(200)
    }
    expect(await listening()).toHaveLength(1)
  })
})

describePostgres('the inspection of standby settings', {}, () => {
  const settingsOf = async (url: string) => {
    const { state, close } = await inspectDatabase(url)
    await close()
    return state.settings.filter(({ name }) => /standbys|standby_names/.test(name))
  }

  test('the inspection of PostgreSQL reports missing synchronous standbys, and settings with which a failover loses commits', async () => {
    const { primary, standby } = await startPair()
    const both = urlOf(primary, standby)
    expect(await settingsOf(primary.url('postgres'))).toMatchObject([
      {
        name: 'standbys',
        value: 'empty, with 1 standbys',
        advice: expect.stringContaining('can lose acknowledged commits'),
      },
    ])
    expect(await settingsOf(both)).toMatchObject([
      { name: 'synchronous_standby_names', advice: expect.stringContaining('A failover loses') },
    ])

    await runSql(primary.url('postgres'), `alter system set synchronous_standby_names = 'standby'`)
    await runSql(primary.url('postgres'), 'select pg_reload_conf()')
    const [setting] = await until(
      () => settingsOf(both),
      ([found]) => found?.advice === null,
    )
    expect(setting).toMatchObject({ name: 'synchronous_standby_names', value: 'standby' })

    await standby.kill()
    const [alone] = await until(
      () => settingsOf(both),
      ([found]) => found?.name === 'synchronous standbys',
    )
    expect(alone).toMatchObject({ value: 'none', advice: expect.stringContaining('nothing is stored') })
  })
})
