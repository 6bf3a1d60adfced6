import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { AuditResult } from '../../../src/modules/audit/audit.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { cli, createEmptyInstallation } from '../../support/process.ts'

const key = 'a key that is nowhere else'
const accountNumber = '9081726354'

/** A copy of an SQLite file with one payout, in which one bit of one byte is flipped. */
async function damagedInstallation(offsetOfByte: (file: Buffer, merchantId: string) => number) {
  const app = await startApp('sqlite')
  await app.wallet({ balance: '100' })
  const body = { ...payoutBody, account_number: accountNumber }
  await app.rest('POST', '/api/payouts/banks', { body, headers: { 'idempotency-key': key } })
  const path = app.url.replace(/^sqlite:/, '')
  const connection = new Sqlite(path)
  connection.pragma('wal_checkpoint(TRUNCATE)')
  connection.close()
  const file = readFileSync(path)
  const offset = offsetOfByte(file, app.merchant.id)
  expect(offset).toBeGreaterThan(0)
  file[offset] = Number(file[offset]) ^ 1
  const damaged = await createEmptyInstallation()
  writeFileSync(damaged.file, file)
  return damaged
}

/** In the index the key follows the merchant id directly; in the row it does not. */
const offsetInIndex = (file: Buffer, merchantId: string) => file.indexOf(merchantId + key) + merchantId.length + 3
const offsetInRow = (file: Buffer) => file.indexOf(accountNumber) + 3

describe('one flipped bit in the SQLite file', () => {
  test('in the index of idempotency keys makes the audit and the backup fail', async () => {
    const installation = await damagedInstallation(offsetInIndex)

    const { code, json } = await cli(installation, 'audit', '--json')
    const { balanced, findings } = json() as AuditResult

    expect([code, balanced]).toEqual([1, false])
    const finding = findings.find(({ contradictions }) => contradictions > 0)
    expect(finding?.check).toBe('the database finds no damage in its files')
    expect(finding?.examples.join()).toContain('payouts_by_idempotency_key')

    const copy = join(installation.folder, 'copy.sqlite')
    const backup = await cli(installation, 'backup', copy)
    expect(backup).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The database is damaged, and nothing was copied'),
    })
    expect(existsSync(copy)).toBe(false)
  })

  test('in the account number of a payout makes the audit fail', async () => {
    const installation = await damagedInstallation(offsetInRow)

    const { code, json } = await cli(installation, 'audit', '--json')
    const { balanced, findings } = json() as AuditResult

    expect([code, balanced]).toEqual([1, false])
    expect(findings.filter(({ contradictions }) => contradictions > 0).map(({ check }) => check)).toEqual([
      // An index has the account number too.
      'the database finds no damage in its files',
      'every payout matches its checksum',
    ])
  })
})
