import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startNewFile } from '../../src/database/private-file.ts'

function createTarget() {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { folder, target: join(folder, 'export.csv') }
}

test('a new file has a temporary name until it is published under its final name', () => {
  const { folder, target } = createTarget()
  const file = startNewFile(target)
  writeFileSync(file.path, 'whole', { mode: 0o600 })
  expect(readdirSync(folder)).not.toContain('export.csv')

  file.publish()
  file.remove()

  expect(readdirSync(folder)).toEqual(['export.csv'])
  expect([readFileSync(target, 'utf8'), statSync(target).mode & 0o777]).toEqual(['whole', 0o600])
})

test('a new file never replaces a file that another process created under the same name in the meantime', () => {
  const { folder, target } = createTarget()
  const file = startNewFile(target)
  writeFileSync(file.path, 'late')
  writeFileSync(target, 'precious')

  expect(() => file.publish()).toThrow('EEXIST')
  file.remove()

  expect(readdirSync(folder)).toEqual(['export.csv'])
  expect(readFileSync(target, 'utf8')).toBe('precious')
  expect(() => startNewFile(target)).toThrow('exists already')
})
