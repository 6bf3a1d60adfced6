import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { AuditResult } from '../../../src/modules/audit/audit.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { cli, createEmptyInstallation } from '../../support/process.ts'

const key = 'a key that is nowhere else'
const accountNumber = '9081726354'

/** A copy of a file with one payout, as a disk gives it back that has turned the last bit of one byte. */
async function damagedPlace(placeOfByte: (file: Buffer, merchantId: string) => number) {
  const app = await startApp('sqlite')
  await app.wallet({ balance: '100' })
  const body = { ...payoutBody, account_number: accountNumber }
  await app.rest('POST', '/api/payouts/banks', { body, headers: { 'idempotency-key': key } })
  const path = app.url.replace(/^sqlite:/, '')
  const beside = new Sqlite(path)
  beside.pragma('wal_checkpoint(TRUNCATE)')
  beside.close()
  const file = readFileSync(path)
  const place = placeOfByte(file, app.merchant.id)
  expect(place).toBeGreaterThan(0)
  file[place] = Number(file[place]) ^ 1
  const damaged = await createEmptyInstallation()
  writeFileSync(damaged.file, file)
  return damaged
}

/** The index has the key right behind the merchant, the row has it elsewhere. */
const inIndex = (file: Buffer, merchantId: string) => file.indexOf(merchantId + key) + merchantId.length + 3
const inRow = (file: Buffer) => file.indexOf(accountNumber) + 3

describe('one bit that a disk has turned', () => {
  test('in the index of keys, where it would make the key pay again, is found and not copied', async () => {
    const place = await damagedPlace(inIndex)

    const { code, json } = await cli(place, 'audit', '--json')
    const { balanced, findings } = json() as AuditResult

    expect([code, balanced]).toEqual([1, false])
    const found = findings.find(({ contradictions }) => contradictions > 0)
    expect(found?.check).toBe('the database finds nothing wrong with its files')
    expect(found?.examples.join()).toContain('payouts_by_idempotency_key')

    const copy = join(place.folder, 'copy.sqlite')
    const backup = await cli(place, 'backup', copy)
    expect(backup).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('The database is damaged, and nothing was copied'),
    })
    expect(existsSync(copy)).toBe(false)
  })

  test('in the row of a payout, where it changes the account, is found', async () => {
    const place = await damagedPlace(inRow)

    const { code, json } = await cli(place, 'audit', '--json')
    const { balanced, findings } = json() as AuditResult

    expect([code, balanced]).toEqual([1, false])
    expect(findings.filter(({ contradictions }) => contradictions > 0).map(({ check }) => check)).toEqual([
      'every payout says what was written',
    ])
  })
})
