import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Runs the help command with the compile cache in a folder, or in the default one. */
function help(kept?: string) {
  const { NODE_COMPILE_CACHE, ...environment } = process.env
  const env = kept === undefined ? environment : { ...environment, NODE_COMPILE_CACHE: kept }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/cli.js', '--help'], {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name))
}

const explained = { status: 0, stdout: expect.stringContaining('Usage: npm run'), stderr: '' }

test('the compile cache is in node_modules/.cache, and a command runs without a cache if the cache folder cannot be created', () => {
  expect(help()).toEqual(explained)
  expect(filesIn(join(root, 'node_modules/.cache/payout-gateway')).length).toBeGreaterThan(10)

  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  expect(help(join(file, 'kept'))).toEqual(explained)
})

test('a damaged compile cache is not executed', () => {
  const folder = newFolder()
  expect(help(folder)).toEqual(explained)
  const cachedFiles = filesIn(folder)
  expect(cachedFiles.length).toBeGreaterThan(10)
  for (const path of cachedFiles) {
    const content = readFileSync(path)
    // Flipped bits after the header, and then truncated files.
    for (let at = 40; at < content.length; at += 97) content.writeUInt8(content.readUInt8(at) ^ 4, at)
    writeFileSync(path, content)
  }
  expect(help(folder)).toEqual(explained)
  for (const path of filesIn(folder)) writeFileSync(path, readFileSync(path).subarray(0, 50))
  expect(help(folder)).toEqual(explained)
  for (const path of filesIn(folder)) writeFileSync(path, '')
  expect(help(folder)).toEqual(explained)
})
