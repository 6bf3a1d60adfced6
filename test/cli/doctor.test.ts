import { chmodSync, readdirSync, rmSync, statfsSync, truncateSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { diagnose } from '../../src/app/doctor/doctor.ts'
import type { Diagnosis } from '../../src/modules/diagnoses/diagnosis.ts'
import { claimMode } from '../../src/modules/installation/installation.ts'
import { deleteRoute, setRoute } from '../../src/modules/rails/orders/rail-routes.ts'
import { createWebhookEndpoint } from '../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { describePostgres } from '../support/engines.ts'
import { perform } from '../support/perform.ts'
import { corruptPostgresDatabase } from '../support/postgres-database.ts'
import { cli, createDemoInstallation, createEmptyInstallation, createLiveInstallation } from '../support/process.ts'

const ownKey = Buffer.alloc(32, 7).toString('base64')
const otherKey = Buffer.alloc(32, 8).toString('base64')
const dayMs = 86_400_000

/** Creates a healthy live installation: it has paid, has a webhook, and its service runs. */
async function startInstallation(engine: Engine) {
  const app = await startApp(engine)
  await app.fee('1')
  await setRoute(app.service, { rail: 'sandbox' })
  await app.wallet({ balance: '100' })
  expect((await app.rest('POST', '/api/payouts/banks', { body: payoutBody })).status).toBe(200)
  await deleteRoute(app.service, {})
  await perform(createWebhookEndpoint, app.context(), { url: 'https://example.com/hooks' })
  await claimMode(app.service)
  const spoil = (sql: string) => spoilAt(app.url, sql)
  await spoil(`update installation set mode = 'live'`)
  await spoil(`update api_keys set mode = 'live'`)
  const environment = { DATABASE_URL: app.url, MODE: 'live', SECRETS_KEY: ownKey }
  const look = (changes: Record<string, string> = {}, laterMs = 0) =>
    diagnose(readConfig({ ...environment, ...changes }), Date.now() + laterMs)
  return { path: app.url.replace(/^sqlite:/, ''), spoil, look }
}

async function spoilAt(url: string, sql: string): Promise<void> {
  if (url.startsWith('sqlite:')) {
    const database = new Sqlite(url.replace(/^sqlite:/, ''))
    database.exec(sql)
    database.close()
    return
  }
  corruptPostgresDatabase(url)
  const client = new pg.Client(url)
  await client.connect()
  await client.query(`set app.every_merchant = 'on'`)
  await client.query(sql)
  await client.end()
}

/** Checks of the tests' server, which runs without durability; a separate test covers them. */
const careless = ['fsync', 'full_page_writes']

const bad = (found: readonly Diagnosis[]) =>
  found.filter(({ check, state }) => state !== 'ok' && !careless.includes(check))

/** A fault in the database, in the environment, or by elapsed time. */
type Spoilt = { readonly sql?: string; readonly environment?: Record<string, string>; readonly laterMs?: number }

const spoilt: readonly [check: string, state: 'warning' | 'fault', Spoilt, advice: RegExp][] = [
  [
    'clock',
    'fault',
    { sql: `update sequences set latest_time = latest_time + ${dayMs} where latest_time > 0` },
    /chrony/,
  ],
  ['keys of the mode', 'fault', { sql: `update api_keys set mode = 'sandbox'` }, /key revoke/],
  [
    'unused keys',
    'warning',
    { sql: `update api_keys set created_at = '2026-01-01T00:00:00.000Z', last_used_at = null` },
    /key revoke/,
  ],
  [
    'ending keys',
    'warning',
    { sql: `update api_keys set expires_at = '${new Date(Date.now() + dayMs).toISOString()}'` },
    /key create/,
  ],
  ['rates', 'fault', { sql: `update rates set cancelled_at = effective_at` }, /rate set/],
  ['age of rates', 'warning', { laterMs: 2 * dayMs }, /rate set/],
  ['fees', 'warning', { sql: `update fees set cancelled_at = effective_at` }, /fee set/],
  [
    'disabled webhooks',
    'warning',
    { sql: `update webhook_endpoints set status = 'disabled', disabled_reason = 'failing'` },
    /webhook enable/,
  ],
  [
    'failing webhooks',
    'warning',
    { sql: `update webhook_endpoints set failing_since = '2026-01-01T00:00:00.000Z'` },
    /webhook deliveries/,
  ],
  [
    'paused rails',
    'warning',
    { sql: `insert into paused_rails values ('bank', '2026-01-01T00:00:00.000Z')` },
    /rail resume/,
  ],
  [
    'routes',
    'fault',
    { sql: `insert into rail_routes (asset_code, currency, country, rail) values ('*', '*', '*', 'gone')` },
    /RAILS/,
  ],
  ['attention', 'warning', { sql: `update payout_transfers set state = 'ATTENTION', due_at = null` }, /attention list/],
  ['secrets', 'fault', { environment: { SECRETS_KEY: '' } }, /SECRETS_KEY/],
  ['secrets', 'fault', { environment: { SECRETS_KEY: otherKey } }, /webhook rotate/],
  ['mode', 'fault', { environment: { MODE: 'sandbox' } }, /Set MODE=live/],
  ['origins', 'warning', { environment: { CORS_ORIGINS: '*' } }, /CORS_ORIGINS/],
  ['schema', 'fault', { sql: 'drop index payouts_by_idempotency_key' }, /restore a backup from before/],
  [
    'migrations',
    'fault',
    { sql: `insert into migrations values ('9999-later', '2026-01-01T00:00:00.000Z')` },
    /later version/,
  ],
  [
    'migrations',
    'warning',
    { sql: `delete from migrations where name like '%-trusted-documents'` },
    /migrate --backup/,
  ],
]

describe.each(everyEngine)('`doctor` on %s', (engine) => {
  test('performs every check and reports no fault on a healthy installation', async () => {
    const { look } = await startInstallation(engine)

    const diagnoses = await look()

    expect(bad(diagnoses)).toEqual([])
    expect(diagnoses.map(({ check }) => check)).toEqual(expect.arrayContaining(spoilt.map(([check]) => check)))
  })

  test('reports no fault if a webhook endpoint is disabled because its merchant disabled it', async () => {
    const { spoil, look } = await startInstallation(engine)
    await spoil(`update webhook_endpoints set status = 'disabled', disabled_reason = 'by_request'`)

    expect(bad(await look())).toEqual([])
  })

  test.each(spoilt)(
    'reports the failed check "%s" as a %s, and no other check',
    async (check, state, { sql, environment, laterMs }, advice) => {
      const { spoil, look } = await startInstallation(engine)
      if (sql !== undefined) await spoil(sql)

      expect(bad(await look(environment, laterMs))).toEqual([
        { check, state, message: expect.any(String), advice: expect.stringMatching(advice) },
      ])
    },
  )
})

describe('`doctor` on a SQLite file', () => {
  test.each<[check: string, (path: string) => void, advice: RegExp]>([
    ['permissions', (path) => chmodSync(path, 0o644), /^chmod 600 .*payouts\.sqlite /],
    ['disk', (path) => truncateSync(path, 2 * freeBytes(path)), /Make room/],
    ['journal_mode', leaveWriteAheadLog, /next start/],
  ])('warns if the check of %s fails, and exits with 0', async (check, spoil, advice) => {
    const place = await createLiveInstallation()
    spoil(place.file)

    const { code, json } = await cli(place, 'doctor', '--json')

    expect(bad(json() as Diagnosis[])).toEqual([
      { check, state: 'warning', message: expect.any(String), advice: expect.stringMatching(advice) },
    ])
    expect(code).toBe(0)
  })

  test('reports no fault in the demo, and leaves no files behind', async () => {
    const place = await createDemoInstallation()
    const names = readdirSync(place.folder)

    const { code, json, stderr } = await cli(place, 'doctor', '--json')

    expect([code, bad(json() as Diagnosis[]), stderr]).toEqual([0, [], ''])
    expect(readdirSync(place.folder)).toEqual(names)
    rmSync(`${place.file}.secrets-key`)
    expect(bad((await cli(place, 'doctor', '--json')).json() as Diagnosis[])).toMatchObject([{ check: 'secrets' }])
  })

  test('fails if the database does not exist, and does not create one', async () => {
    const place = await createEmptyInstallation()

    const { code, json } = await cli(place, 'doctor', '--json')

    expect([code, bad(json() as Diagnosis[])]).toMatchObject([1, [{ check: 'database', state: 'fault' }]])
    expect(readdirSync(place.folder)).toEqual([])
  })
})

function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path))
  return bavail * bsize
}

function leaveWriteAheadLog(path: string): void {
  const database = new Sqlite(path)
  database.pragma('journal_mode = DELETE')
  database.close()
}

describePostgres('`doctor` on PostgreSQL', {}, () => {
  test('`doctor` reports settings of PostgreSQL that can lose commits', async () => {
    const app = await startApp('postgres')
    await claimMode(app.service)

    const diagnoses = await diagnose(readConfig({ DATABASE_URL: app.url }), Date.now())

    expect(diagnoses.filter(({ state }) => state !== 'ok')).toEqual(
      careless.map((check) => {
        const message = expect.stringMatching(new RegExp(`^PostgreSQL .*: ${check} is off`))
        return { check, state: 'fault', message, advice: expect.stringContaining('set it to on') }
      }),
    )
  })

  test('`doctor` reports a pool that exceeds PostgreSQL’s connection limit, and a server that it cannot reach', async () => {
    const app = await startApp('postgres')
    await claimMode(app.service)
    const lookAt = (url: string) => diagnose(readConfig({ DATABASE_URL: url }), Date.now())
    const at = (change: (url: URL) => void) => {
      const url = new URL(app.url)
      change(url)
      return url.href
    }

    const many = await lookAt(at((url) => url.searchParams.set('pool', '5000')))
    expect(bad(many)).toMatchObject([
      { check: 'max_connections', advice: expect.stringContaining('WORKERS times pool') },
    ])
    const away = await lookAt(at((url) => (url.port = '1')))
    expect(bad(away)).toMatchObject([{ check: 'database', state: 'fault' }])
  })
})
