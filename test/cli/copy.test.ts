import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { copyDatabase } from '../../src/app/open-database.ts'
import { databaseName } from '../../src/database/engines.ts'
import { insertRow } from '../../src/database/query.ts'
import type { Diagnosis } from '../../src/modules/diagnoses/diagnosis.ts'
import { claimMode } from '../../src/modules/installation/installation.ts'
import { sealAll } from '../modules/hash-chain/support/tamperings.ts'
import type { App, Engine } from '../support/app.ts'
import { bankMethodBody, payoutBody, startApp } from '../support/app.ts'
import { describePostgres } from '../support/engines.ts'
import { corruptPostgresDatabase, newPostgresDatabase, runSql } from '../support/postgres-database.ts'
import type { TestInstallation } from '../support/process.ts'
import {
  cli,
  createDemoInstallation,
  createEmptyInstallation,
  jsonOf,
  startService,
  waitUntilReady,
} from '../support/process.ts'
import { readStoredRows, tamperWith } from '../support/stored.ts'

const root = resolve(import.meta.dirname, '../..')
const secretsKey = Buffer.alloc(32, 7).toString('base64')
const insertDelivery = insertRow('webhookDeliveries')

/** Creates the place of a target: a file that does not exist, or an empty database. */
async function newTarget(engine: Engine): Promise<string> {
  if (engine === 'postgres') {
    const { url, remove } = await newPostgresDatabase({ isMigrated: false })
    onTestFinished(remove)
    return url
  }
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return `sqlite:${join(folder, 'target.sqlite')}`
}

/** Starts a service whose database a copy may fence. */
async function startSource(engine: Engine, onLog?: (line: string) => void): Promise<App> {
  const app = await startApp(engine, { ...(onLog && { onLog }) })
  await claimMode(app.service)
  // The fence is a change of the schema, so the database is not reused.
  if (engine === 'postgres') corruptPostgresDatabase(app.url)
  return app
}

const startTarget = (engine: Engine, url: string) =>
  startApp(engine, { place: { url, remove: async () => {} }, rates: [] })

/** Starts a service as an ordinary user who owns the tables. */
async function startOwnedSource(url: string): Promise<App> {
  const app = await startApp('postgres', { place: { url, remove: async () => {} } })
  await claimMode(app.service)
  return app
}

/** Runs `copy` from one database to another. */
async function copy(source: string, target: string, ...options: string[]) {
  const place = await createEmptyInstallation({ DATABASE_URL: source, SECRETS_KEY: secretsKey })
  return cli(place, 'copy', target, ...options)
}

/** Calls the copy itself, with a hook at each step of its progress; it throws what the hook throws. */
function copyWith(
  source: string,
  target: string,
  hooks: { onStep?: (label: string) => void; onEqual?: () => unknown },
) {
  return copyDatabase({
    ...{ source, target, copyId: '0198c2de-0000-7000-8000-000000000057', now: () => '2026-11-26T12:00:00.000Z' },
    mustBeDurable: false,
    onBegin: async () => {},
    inspect: async () => void (await hooks.onEqual?.()),
    onProgress: (label) => hooks.onStep?.(label),
  })
}

/** Runs a copy that ends after it has marked the source as moved, and before it opens the target. */
async function copyUntilSourceIsMarked(source: string, target: string, to: Engine): Promise<void> {
  if (to === 'sqlite') {
    const database = new Sqlite(target.replace('sqlite:', ''))
    const copied = copyWith(source, target, { onEqual: () => void database.exec('begin immediate') })
    await expect(copied).rejects.toThrow('database is locked')
    database.close()
    return
  }
  const locking = new pg.Client(target)
  await locking.connect()
  const onEqual = () => locking.query('begin; lock table merchants in access share mode')
  const copied = expect(copyWith(source, target, { onEqual })).rejects.toThrow()
  const endWaiting = `select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(() => runSql(target, endWaiting), { timeout: 60_000 }).toHaveLength(1)
  await copied
  await locking.end()
}

const placeOf = (url: string) => createEmptyInstallation({ DATABASE_URL: url, SECRETS_KEY: secretsKey })

/** Returns the message and the advice of doctor about a copy; `null` if none blocks the database. */
async function blockingCopyIn(place: TestInstallation): Promise<string | null> {
  const diagnoses = (await cli(place, 'doctor', '--json')).json() as Diagnosis[]
  const { state, message, advice } = diagnoses.find(({ check }) => check === 'copy') as Diagnosis
  return state === 'ok' ? null : `${message} ${advice}`
}

/** Creates a database that belongs to an ordinary user; returns the URLs of that user and of a superuser. */
async function newOwnedDatabase(): Promise<{ readonly url: string; readonly adminUrl: string }> {
  const { url, remove } = await newPostgresDatabase({ isMigrated: false })
  const owned = new URL(url)
  const name = owned.pathname.slice(1)
  owned.username = `owner_${name}`
  await runSql(url, `create role ${owned.username} login; alter database ${name} owner to ${owned.username}`)
  onTestFinished(remove)
  return { url: owned.href, adminUrl: url }
}

/** Values at the edges of what a column can have. */
const oddDetails = '{"b" :1.0,  "a":[1e400,"\\u0000","\\ud83d\\ude00"],\n"b":9007199254740993}'
const oddText = `quotes ' " and \\ and \t tab, ümläut, 漢字, 🚀, "{},NULL"`

async function addOddRows(app: App): Promise<void> {
  const text = oddText.replaceAll("'", "''")
  const other = await app.otherMerchant()
  await tamperWith(
    app,
    `insert into operator_actions values ('0198c2de-0000-7000-8000-000000000001', null, '1999-12-31T23:59:59.999Z', 'ada', 'command', 'test', '', '', '${oddDetails}')`,
    `insert into merchant_clocks values ('${app.merchant.id}', 9223372036854775807)`,
    `insert into merchant_clocks values ('${other.id}', -9223372036854775807)`,
    `insert into rail_reports values ('bank', '', '${text}', '2026-01-01T00:00:00.000Z', null)`,
    `insert into rail_reports values ('bank', 'B', '${'long '.repeat(200_000)}', '2026-01-01T00:00:00.000Z', null)`,
    `insert into rail_reports values ('bank', 'a', 'NULL', '9999-12-31T23:59:59.999Z', null)`,
    `insert into rail_reports values ('bank', 'ä', '', '0001-01-01T00:00:00.000Z', null)`,
    `update customers set birth_date = '0004-02-29T00:00:00.000Z'`,
  )
}

/** Returns the rows of both databases that must be equal, with columns in one order. */
async function readCopied({ url }: Pick<App, 'url'>) {
  const { migrations, database_copies: _, ...stored } = await readStoredRows({ url })
  return Object.fromEntries(
    Object.entries(stored)
      .filter(([table]) => !table.startsWith('sqlite_'))
      .map(([table, rows]) => [table, rows.map(sortColumns).toSorted()]),
  )
}

function sortColumns(row: string): string {
  return JSON.stringify(Object.entries(JSON.parse(row)).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** Returns the definitions in a PostgreSQL database. */
async function indexesAndForeignKeysOf(url: string): Promise<readonly string[]> {
  const rows = await runSql<{ definition: string }>(
    url,
    `select indexdef as definition from pg_indexes where schemaname = 'public'
      union all
      select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) from pg_constraint where contype = 'f'
      order by 1`,
  )
  return rows.map(({ definition }) => definition)
}

const directions: [Engine, Engine][] = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
]

describePostgres('the command `copy`', {}, () => {
  test.each(directions)(
    '`copy` from %s to %s copies every row byte for byte, and the books of the target balance',
    async (from, to) => {
      const source = await startSource(from)
      await source.customer()
      await source.wallet({ balance: '9007199254.740993' })
      await source.rest('POST', '/api/payouts/banks', { body: payoutBody })
      await source.rest('POST', '/api/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
      await sealAll(source.service)
      await addOddRows(source)
      const target = await newTarget(to)

      const copied = await copy(source.url, target, '--json', '--reason', 'Outgrown')

      expect(copied.stderr).toBe('')
      expect(copied.json()).toMatchObject({
        ...{ source: databaseName(source.url), target: databaseName(target), wasComplete: false, chainHeads: 1 },
        tables: expect.arrayContaining([
          { table: 'payouts', rows: 1, sums: expect.anything(), checksum: expect.stringMatching(/^[0-9a-f]{64}$/) },
        ]),
      })
      expect(await readCopied({ url: target })).toEqual(await readCopied(source))
      const place = await createEmptyInstallation({ DATABASE_URL: target, SECRETS_KEY: secretsKey })
      expect((await cli(place, 'audit', '--json')).json()).toMatchObject({ balanced: true, payouts: 1 })
      expect((await cli(place, 'audit', '--chain', '--json')).json()).toMatchObject({ balanced: true })
      // The same command again finds that it is done.
      expect((await copy(source.url, target, '--json')).json()).toMatchObject({ wasComplete: true })
    },
  )

  test.each(directions)(
    'after a `copy` from %s to %s, API keys, idempotency keys, cursors, tokens and pending deliveries still work',
    async (from, to) => {
      const lines: string[] = []
      const source = await startSource(from, (line) => lines.push(line))
      await source.wallet({ balance: '1000' })
      const pay = (app: App, key: string) =>
        app.rest('POST', '/api/payouts/banks', {
          ...{ key: source.merchant.apiKey, body: payoutBody, headers: { 'idempotency-key': key } },
        })
      const [first] = [await pay(source, 'one'), await pay(source, 'two'), await pay(source, 'three')]
      const methodRequest = { body: bankMethodBody, headers: { 'idempotency-key': 'method' } }
      const method = await source.rest('POST', '/api/payout/methods/banks', methodRequest)
      const endpoint = await source.rest('POST', '/api/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
      const token = await source.rest('POST', '/api/client-tokens', { body: { scopes: ['read'] } })
      const list = `query ($after: String) { payouts(first: 1, after: $after) { edges { node { transactionId } } pageInfo { endCursor } } }`
      const { data: page } = await source.graphql(list)
      const feed = await source.rest('GET', '/api/events?limit=2')
      const delivery = {
        ...{
          merchantId: source.merchant.id,
          endpointId: endpoint.body.data.id,
          sequence: 1,
          objectId: first?.body.data.id,
        },
        ...{
          status: 'pending',
          attempts: 3,
          attemptsBefore: 0,
          nextAttemptAt: 1n,
          createdAt: '2026-01-01T00:00:00.000Z',
        },
      } as never
      await source.db.write((tx) => insertDelivery(tx, delivery))
      const target = await newTarget(to)
      expect((await copy(source.url, target)).code).toBe(0)

      // The previous service stores nothing, says why, and still reads.
      const refused = await pay(source, 'four')
      expect([refused.status, refused.body.error.code]).toEqual([503, 'UNAVAILABLE'])
      expect(refused.body.message).toContain('The database is being moved')
      expect(refused.text).not.toContain(databaseName(target))
      expect((await source.rest('GET', '/readyz', { key: null })).status).toBe(503)
      expect((await source.rest('GET', '/api/payouts')).body.data).toHaveLength(3)
      expect(lines.join('')).toContain('the database is being copied to')

      const moved = await startTarget(to, target)
      const key = source.merchant.apiKey
      expect((await moved.rest('GET', '/readyz', { key: null })).status).toBe(200)
      const retried = await pay(moved, 'one')
      expect([retried.status, retried.body.data]).toEqual([first?.status, first?.body.data])
      const methodAgain = await moved.rest('POST', '/api/payout/methods/banks', { ...methodRequest, key })
      expect(methodAgain.body).toEqual(method.body)
      const { data: nextPage } = await moved.graphql(list, { after: page.payouts.pageInfo.endCursor }, { key })
      const { data: expectedPage } = await source.graphql(list, { after: page.payouts.pageInfo.endCursor })
      expect(nextPage).toEqual(expectedPage)
      expect(nextPage.payouts.edges).toHaveLength(1)
      const after = `/api/events?after=${feed.body.data.at(-1).sequence}`
      expect((await moved.rest('GET', after, { key })).body.data).toEqual((await source.rest('GET', after)).body.data)
      const withToken = { key: null, headers: { authorization: `Bearer ${token.body.data.token}` } }
      expect((await moved.rest('GET', '/api/payouts', withToken)).body.data).toHaveLength(3)
      const { webhook_deliveries: deliveries } = await readStoredRows({ url: target })
      expect(deliveries?.map((row) => JSON.parse(row))).toMatchObject([{ status: 'pending', attempts: '3' }])
      // New rows continue the numbers of the old ones.
      const next = await pay(moved, 'four')
      expect(next.status).toBe(200)
      expect((await moved.rest('GET', '/api/payouts', { key })).body.data).toHaveLength(4)
      await moved.expectBooksToBalance()
    },
  )

  test.each(directions)('`copy` from %s to %s continues after an interruption at any table', async (from, to) => {
    const source = await startSource(from)
    await source.customer()
    await source.wallet({ balance: '100' })
    await source.rest('POST', '/api/payouts/banks', { body: payoutBody })
    const target = await newTarget(to)
    let steps = 0
    const interruptAt = (step: number) => (label: string) => {
      if (label.startsWith('rows') && ++steps === step) throw new Error('interrupted')
    }
    for (const step of [1, 2, 3, 4, 5]) {
      steps = 0
      await expect(copyWith(source.url, target, { onStep: interruptAt(step) })).rejects.toThrow('interrupted')
      // Until the end, neither database stores anything else.
      const place = await createEmptyInstallation({ DATABASE_URL: target, SECRETS_KEY: secretsKey })
      expect((await cli(place, 'merchant', 'create', 'Other')).code).toBe(1)
      await expect(source.otherMerchant()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    }
    const interrupt = () => {
      throw new Error('interrupted')
    }
    await expect(copyWith(source.url, target, { onEqual: interrupt })).rejects.toThrow('interrupted')

    expect((await copy(source.url, target, '--json')).json()).toMatchObject({ wasComplete: false })
    expect(await readCopied({ url: target })).toEqual(await readCopied(source))
  })

  test('`copy` recreates the indexes and foreign keys that it dropped from PostgreSQL, even after an interruption', async () => {
    const source = await startSource('sqlite')
    await source.wallet({ balance: '100' })
    const migrated = await startSource('postgres')
    const target = await newTarget('postgres')
    for (const interruptedAt of ['rows', 'indexes and foreign keys', 'indexes and foreign keys']) {
      let steps = 0
      const onStep = (label: string) => {
        if (label.startsWith(interruptedAt) && ++steps === 3) throw new Error('interrupted')
      }
      await expect(copyWith(source.url, target, { onStep })).rejects.toThrow('interrupted')
      expect(await indexesAndForeignKeysOf(target)).not.toEqual(await indexesAndForeignKeysOf(migrated.url))
    }

    expect((await copy(source.url, target)).stderr).toBe('')

    expect(await indexesAndForeignKeysOf(target)).toEqual(await indexesAndForeignKeysOf(migrated.url))
  })

  test.each(directions)(
    'if `copy` from %s to %s stops before the target is marked complete, both databases are blocked until `copy` runs again',
    async (from, to) => {
      const source = await startSource(from)
      await source.wallet({ balance: '100' })
      const target = await newTarget(to)
      await copyUntilSourceIsMarked(source.url, target, to)
      const [moved, incomplete] = await Promise.all([placeOf(source.url), placeOf(target)])

      expect(await blockingCopyIn(moved)).toMatch(/^This database was moved to .* Point DATABASE_URL there/)
      expect(await blockingCopyIn(incomplete)).toMatch(/^This database is an incomplete copy of .* run .* copy.* again/)
      expect((await cli(moved, 'merchant', 'create', 'Other')).code).toBe(1)
      expect((await cli(incomplete, 'merchant', 'create', 'Other')).code).toBe(1)
      await expect(startService(moved)).rejects.toThrow('This database was moved to')
      const waiting = startWaitingService(incomplete.env)
      await expect.poll(waiting.errors, { timeout: 20_000 }).toContain('is an incomplete copy of')

      expect((await copy(source.url, target, '--json')).json()).toMatchObject({ wasComplete: false })

      await waitUntilReady(waiting.child)
      expect(await readCopied({ url: target })).toMatchObject({ wallets: [expect.anything()] })
      expect((await cli(incomplete, 'merchant', 'create', 'Other')).code).toBe(0)
      expect((await cli(moved, 'merchant', 'create', 'Other')).code).toBe(1)
      expect(await blockingCopyIn(moved)).toContain('This database was moved to')
      expect(await blockingCopyIn(incomplete)).toBeNull()
    },
  )

  test('`doctor` reports an incomplete copy on both databases, and does not report the indexes that the copy will create', async () => {
    const source = await startSource('sqlite')
    const target = await newTarget('postgres')
    const [fenced, incomplete] = await Promise.all([placeOf(source.url), placeOf(target)])
    expect(await blockingCopyIn(fenced)).toBeNull()
    const onStep = (label: string) => {
      if (label.startsWith('rows')) throw new Error('interrupted')
    }
    await expect(copyWith(source.url, target, { onStep })).rejects.toThrow('interrupted')

    expect(await blockingCopyIn(fenced)).toMatch(/^This database is being copied to .* run .* copy.* again, or give up/)
    expect(await blockingCopyIn(incomplete)).toMatch(/^This database is an incomplete copy of .* run .* copy.* again/)
    const diagnoses = (await cli(incomplete, 'doctor', '--json')).json() as { check: string }[]
    expect(diagnoses.map(({ check }) => check)).not.toContain('schema')
  })

  test.each(directions)(
    '`copy` from %s to %s copies every row if row-level security applies to its database role',
    async (from, to) => {
      const owned = await newOwnedDatabase()
      const source = from === 'postgres' ? await startOwnedSource(owned.url) : await startSource('sqlite')
      await source.wallet({ balance: '100' })
      await source.rest('POST', '/api/payouts/banks', { body: payoutBody })
      const target = to === 'postgres' ? owned.url : await newTarget('sqlite')

      const copied = await copy(source.url, target, '--json')

      expect(copied.stderr).toBe('')
      expect(copied.json()).toMatchObject({
        tables: expect.arrayContaining([expect.objectContaining({ table: 'payouts', rows: 1 })]),
      })
      const readAsAdmin = (url: string) => readCopied({ url: url === owned.url ? owned.adminUrl : url })
      expect(await readAsAdmin(target)).toEqual(await readAsAdmin(source.url))
    },
  )

  test('`copy` rejects a source whose row-level security policies may hide rows', async () => {
    const owned = await newOwnedDatabase()
    const source = await startOwnedSource(owned.url)
    await source.wallet({ balance: '100' })
    await runSql(owned.url, 'create policy support on wallets as restrictive using (false)')

    const copied = await copy(owned.url, await newTarget('sqlite'))

    expect(copied.code).toBe(1)
    expect(copied.stderr).toContain(
      'The row-level security policies of wallets are not those of this service, and may hide rows',
    )
    await source.otherMerchant()
  })

  test.each(directions)(
    '`copy` from %s to %s fails if a value was changed in the target, and does not mark the target complete',
    async (from, to) => {
      const source = await startSource(from)
      const wallet = await source.wallet({ balance: '100' })
      const target = await newTarget(to)
      const interrupt = () => {
        throw new Error('interrupted')
      }
      await expect(copyWith(source.url, target, { onEqual: interrupt })).rejects.toThrow('interrupted')
      const { merchant } = source
      const changes: [change: string, undo: string, message: string][] = [
        [
          'update accounts set balance = balance + 1 where balance is not null',
          'update accounts set balance = balance - 1 where balance is not null',
          `accounts ${merchant.id} ${wallet}: balance differs`,
        ],
        [
          `update merchants set name = 'test merchant'`,
          `update merchants set name = 'Test merchant'`,
          `merchants ${merchant.id}: name differs`,
        ],
        [
          `insert into paused_rails values ('bank', '2026-01-01T00:00:00.000Z')`,
          `delete from paused_rails`,
          'paused_rails bank: only the target has it',
        ],
      ]
      for (const [change, undo, message] of changes) {
        await tamperWith({ url: target } as App, change)
        const compared = await copy(source.url, target)
        expect([compared.code, compared.stderr]).toEqual([1, `The copy differs from the source: ${message}.\n`])
        await tamperWith({ url: target } as App, undo)
      }
      await tamperWith({ url: target } as App, `delete from asset_networks where network = 'solana'`)
      expect((await copy(source.url, target)).stderr).toContain('asset_networks: the source has')
      const restart = await createEmptyInstallation({ DATABASE_URL: target, SECRETS_KEY: secretsKey })
      expect((await cli(restart, 'merchant', 'create', 'Other')).code).toBe(1)
    },
  )

  test('`copy` rejects every target that is not empty, without blocking the source', async () => {
    const source = await startSource('sqlite')
    const foreign = await newTarget('postgres')
    await runSql(foreign, 'create table letters (text text)')
    const used = await startSource('postgres')
    const unsupported = 'mysql://localhost/payouts'

    expect((await copy(source.url, foreign)).stderr).toContain('it has letters, which this service did not create')
    expect(await runSql(foreign, `select to_regclass('merchants') as name`)).toEqual([{ name: null }])
    expect((await copy(source.url, used.url)).stderr).toContain('is not empty: merchants has rows')
    expect((await copy(source.url, await newTarget('sqlite'))).stderr).toContain(
      'must be a database of the other engine',
    )
    expect((await copy(source.url, unsupported)).stderr).toBe(
      '<target database url> must be sqlite:<path> or postgres://….\n',
    )
    await source.otherMerchant()
    await used.otherMerchant()
  })

  test('`copy` accepts a migrated target without rows, and rejects an incomplete copy if its source was unblocked', async () => {
    const source = await startSource('sqlite')
    const target = await newTarget('postgres')
    const targetPlace = await createEmptyInstallation({ DATABASE_URL: target, SECRETS_KEY: secretsKey })
    expect((await cli(targetPlace, 'migrate')).code).toBe(0)
    const useSourceAgain = () => {
      // As `--anyway` does.
      const database = new Sqlite(source.url.replace('sqlite:', ''))
      database.exec('delete from database_copies')
      database.pragma('user_version = 1000')
      database.close()
    }
    await expect(copyWith(source.url, target, { onEqual: useSourceAgain })).rejects.toThrow(
      'is no longer blocked for this copy, so it has not moved',
    )
    await source.otherMerchant()

    expect((await copy(source.url, target)).stderr).toContain('is an incomplete copy of')
    await source.otherMerchant()
    const other = await newTarget('postgres')
    expect((await copy(source.url, other)).code).toBe(0)
    expect((await copy(source.url, await newTarget('postgres'))).stderr).toContain(
      `was moved to ${databaseName(other)} at`,
    )
  })

  test('after a `copy`, a service does not start on the source database unless it is started with --anyway', async () => {
    const place = await createDemoInstallation()
    const target = await newTarget('postgres')
    const running = await startService(place)
    const answerTo = (address: string, path: string, init: RequestInit = {}) =>
      fetch(address + path, { ...init, headers: { 'x-api-key': demoKeyIn(running.greeting) } })
    expect((await answerTo(running.address, '/api/customers')).status).toBe(200)

    const copied = await cli(place, 'copy', target, '--json')

    expect(copied.json()).toMatchObject({ next: [expect.stringContaining('Set SECRETS_KEY'), expect.anything()] })
    const refused = await fetch(`${running.address}/readyz`)
    expect([refused.status, (await jsonOf(refused)).error]).toEqual([503, expect.anything()])
    running.child.kill('SIGTERM')
    await running.ended
    await expect(startService(place)).rejects.toThrow(
      `This database was moved to ${databaseName(target)} at ${(copied.json() as { movedAt: string }).movedAt}`,
    )
    const again = await startAnyway(place.env)
    expect((await answerTo(again.address, '/api/customers')).status).toBe(200)
    expect((await cli(place, 'merchant', 'create', 'Later')).code).toBe(0)
    again.child.kill('SIGTERM')
    await again.ended
    // The mark is gone.
    expect((await startService(place)).greeting).toContain('is ready')
  })

  test('a service that starts on the source database during a `copy` waits, and exits when the copy is complete', async () => {
    const place = await createDemoInstallation()
    const target = await newTarget('postgres')
    const interrupt = () => {
      throw new Error('interrupted')
    }
    const source = place.env.DATABASE_URL ?? ''
    await expect(copyWith(source, target, { onEqual: interrupt })).rejects.toThrow('interrupted')
    const { child, errors } = startWaitingService(place.env)
    const ended = new Promise((resolve) => child.on('close', resolve))
    await expect.poll(errors, { timeout: 20_000 }).toContain('is being copied to')

    expect((await cli(place, 'copy', target)).code).toBe(0)

    expect(await ended).toBe(1)
    expect(errors()).toContain('This database was moved to')
  })
})

function demoKeyIn(greeting: string): string {
  return /x-api-key: (\S+)/.exec(greeting)?.[1] ?? ''
}

/** Starts a service that a copy keeps waiting. */
function startWaitingService(env: NodeJS.ProcessEnv) {
  const child = spawn(process.execPath, ['src/app/main.ts'], {
    ...{ cwd: root, env: { PORT: '0', ...env }, stdio: ['ignore', 'ignore', 'pipe'] },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let errors = ''
  child.stderr?.on('data', (chunk) => {
    errors += chunk
  })
  return { child, errors: () => errors }
}

function startAnyway(env: NodeJS.ProcessEnv) {
  return waitUntilReady(
    spawn(process.execPath, ['src/app/main.ts', '--anyway'], {
      ...{ cwd: root, env: { PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
    }),
  )
}
