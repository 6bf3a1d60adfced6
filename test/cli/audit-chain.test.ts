import { hash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import { createService } from '../../src/operations/context.ts'
import { sealAll } from '../modules/hash-chain/support/tamperings.ts'
import { cli, createEmptyInstallation } from '../support/process.ts'

/** Creates a demo with a sealed history. */
async function sealedPlace() {
  const place = await createEmptyInstallation()
  await cli(place, 'demo')
  const fail = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url: `sqlite:${place.file}`, onFatal: fail })
  await sealAll(createService({ db, mode: 'sandbox' }))
  await db.close()
  return place
}

function change(file: string, ...statements: string[]) {
  const database = new Sqlite(file)
  const triggers = database.prepare<[], { name: string; sql: string }>(
    `select name, sql from sqlite_schema where type = 'trigger'`,
  )
  const dropped = triggers.all()
  for (const { name } of dropped) database.exec(`drop trigger ${name}`)
  for (const statement of statements) database.exec(statement)
  for (const { sql } of dropped) database.exec(sql)
  database.close()
}

const chainOf = async (place: Awaited<ReturnType<typeof sealedPlace>>, ...words: string[]) => {
  const { code, json } = await cli(place, 'audit', '--chain', ...words, '--json')
  return { code, ...(json() as { findings: { examples: string[] }[]; chain: Record<string, unknown> }) }
}

test('`audit --chain` writes the chain heads to a file, and detects differences from an earlier heads file or from a backup', async () => {
  const place = await sealedPlace()
  const [heads, backup] = [join(place.folder, 'heads'), join(place.folder, 'backup.sqlite')]
  const { code, chain } = await chainOf(place, '--keep-heads', heads)
  expect([code, chain.differences, chain.unsealed, chain.isKept]).toEqual([0, [], 0, true])
  expect(hash('sha256', await readFile(heads), 'hex')).toBe(chain.root)
  expect((await cli(place, 'audit', '--chain', '--keep-heads', heads)).stderr).toContain('EEXIST')
  await cli(place, 'backup', backup)
  for (const keptFile of [heads, backup]) expect(await chainOf(place, '--heads', keptFile)).toMatchObject({ code: 0 })

  change(place.file, 'delete from seals')
  expect(await chainOf(place)).toMatchObject({ code: 0 })
  for (const keptFile of [heads, backup]) {
    const cut = await chainOf(place, '--heads', keptFile, '--keep-heads', join(place.folder, 'later'))
    expect(cut).toMatchObject({ code: 1, chain: { isKept: false, differences: [{ table: 'seals', done: 'missing' }] } })
  }
})

test('`audit --chain` reports the first changed row, and `restore` rejects a backup that contains a changed row', async () => {
  const place = await sealedPlace()
  const backup = join(place.folder, 'backup.sqlite')
  change(
    place.file,
    `update transfers set created_at = '2020-01-01T00:00:00.000Z' where id = (select min(id) from transfers where kind = 'payout')`,
  )
  const { code, findings } = await chainOf(place)
  expect(code).toBe(1)
  expect(findings[0]?.examples[0]).toMatch(/^merchant [0-9a-f-]{36}, event \d+: transfers [0-9a-f-]{36} changed$/)
  await cli(place, 'backup', backup)
  const restored = await cli(await createEmptyInstallation(), 'restore', backup)
  expect(restored.code).toBe(1)
  expect(restored.stderr).toContain('the check "the history matches its seals" failed, for example for merchant ')
})

test('`audit` rejects --heads without --chain, and a --heads file that contains no heads', async () => {
  const place = await sealedPlace()
  const file = join(place.folder, 'heads')
  await writeFile(file, 'no heads\n')
  expect((await cli(place, 'audit', '--heads', file)).stderr).toContain('--chain')
  expect((await cli(place, 'audit', '--chain', '--heads', file)).stderr).toContain('in line 1')
})
