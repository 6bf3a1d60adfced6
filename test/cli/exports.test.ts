import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { TestInstallation } from '../support/process.ts'
import { cli, createDemoInstallation } from '../support/process.ts'

const program = resolve(import.meta.dirname, '../../src/cli/cli.ts')

const firstDeposit = "select min(id) from transfers where kind = 'deposit'"

/** Creates a demo with books changed directly in the database. */
async function spoiltPlace(sql: string): Promise<TestInstallation> {
  const place = await createDemoInstallation()
  const database = new Sqlite(place.file)
  const triggers = database.prepare("select name from sqlite_master where type = 'trigger'").pluck().all()
  for (const name of triggers) database.exec(`drop trigger ${name}`)
  expect(database.prepare(sql).run().changes).toBe(1)
  database.close()
  return place
}

describe('`export`', () => {
  test('creates its file only when the content is complete, and reports the line count and closing balances', async () => {
    const place = await createDemoInstallation()
    const file = join(place.folder, 'payouts.csv')
    const to = new Date(Date.now() + 1_000).toISOString()
    const { code, json } = await cli(place, 'export', 'payouts', '--to', to, '--out', file, '--json')
    expect(code).toBe(0)
    const text = readFileSync(file, 'utf8')
    const { lines, closing } = json() as { lines: number; closing: { assetCode: string; balance: string }[] }
    expect(lines).toBeGreaterThan(5)
    expect(text.match(/^PAYOUT,/gm)).toHaveLength(lines)
    for (const { balance } of closing) expect(text).toMatch(new RegExp(`^CLOSING,.*,${balance}\r$`, 'm'))
    expect(text.trimEnd().split('\r\n').at(-1)).toMatch(new RegExp(`^END_NOT_FINAL,,${lines},`))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(dirname(file)).filter((name) => name.includes('partial'))).toEqual([])
    expect((await cli(place, 'export', 'payouts', '--to', to)).stdout).toBe(text)
  })

  test('never overwrites a file, and reports invalid options', async () => {
    const place = await createDemoInstallation()
    const ask = async (...words: string[]) => {
      const { code, stderr } = await cli(place, 'export', ...words)
      return [code, stderr]
    }
    expect(await ask('fees', '--out', place.file)).toEqual([1, expect.stringContaining('--out')])
    expect(await ask('fees', '--format', 'camt053')).toEqual([1, '--format must be one of csv, ndjson.\n'])
    expect(await ask('deposits', '--from', 'May')).toEqual([
      1,
      expect.stringContaining('--from must be a date and time'),
    ])
    expect(await ask('statement', '--wallet', 'none')).toEqual([1, 'Wallet not found.\n'])
  })

  test.each([
    ['payouts', 'update payouts set amount = amount + 1 where sequence = 2', 'and not'],
    ['deposits', 'update deposits set amount = amount + 1 where rowid = 1', 'and not'],
    ['fees', 'update payouts set fee = fee + 1 where id = (select min(id) from payouts where fee > 0)', 'and not'],
    [
      'payouts',
      'update transfers set fee = fee + 1 where id = (select transfer_id from payouts where sequence = 2)',
      'and not',
    ],
  ])('of %s fails and leaves no file after the data was tampered with: "%s"', async (kind, sql, said) => {
    const place = await spoiltPlace(sql)
    const file = join(place.folder, 'export.csv')
    const { code, stderr } = await cli(place, 'export', kind, '--out', file)
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)])
    expect(readdirSync(place.folder).filter((name) => name.startsWith('export.csv'))).toEqual([])
  })

  test('of a statement fails if one of its transfers was changed in the database', async () => {
    const place = await spoiltPlace(
      `update transfers set balance_after = balance_after + 1 where id = (${firstDeposit})`,
    )
    const database = new Sqlite(place.file, { readonly: true })
    const walletId = database.prepare(`select wallet_id from transfers where id = (${firstDeposit})`).pluck().get()
    database.close()
    const { code, stderr } = await cli(place, 'export', 'statement', '--wallet', String(walletId))
    expect([code, stderr]).toEqual([1, expect.stringContaining('add up')])
  })

  test('exits with an error message if its output pipe is closed', async () => {
    const place = await createDemoInstallation()
    const child = spawn(process.execPath, [program, 'export', 'payouts'], {
      env: place.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    let errors = ''
    child.stderr.on('data', (chunk) => {
      errors += chunk
    })
    const code = await new Promise((resolve) => child.on('close', resolve))
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(
        /^MODE=sandbox, sqlite:[^\n]*\nThe output is incomplete, because its reader closed it[^\n]*\n$/,
      ),
    ])
  })
})
