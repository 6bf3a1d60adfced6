import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { takenOverExitCode } from '../../src/database/database.ts'
import { readDockerfile } from './support/dockerfile.ts'
import { maxShutdownSeconds } from './support/shutdown.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The command of `npm start`, which every deployment must run. */
const started = JSON.parse(read('package.json')).scripts.start.replace('exec node ', '')

const unit = read('deploy/payout-gateway.service')
const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

describe('the systemd unit', () => {
  test('starts the service as npm does, leaves it time to stop, and does not restart a replaced service', () => {
    expect(setting('ExecStart')).toBe(`/opt/payout-gateway/node_modules/.bin/node ${started}`)
    expect(Number(setting('TimeoutStopSec'))).toBeGreaterThan(maxShutdownSeconds)
    expect(Number(setting('RestartPreventExitStatus'))).toBe(takenOverExitCode)
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

  test.skipIf(!hasSystemd && !process.env.CI)('is valid for systemd, which rates it as hardened', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'payout-gateway.service')
    const analyze = (text: string, ...words: string[]) => {
      // systemd checks that the executable exists.
      writeFileSync(path, text.replaceAll('/opt/payout-gateway', root))
      const { status, stdout, stderr } = spawnSync('systemd-analyze', [...words, path], { encoding: 'utf8' })
      return { status, said: stdout + stderr }
    }

    expect(analyze(unit, 'verify', '--man=no')).toEqual({ status: 0, said: '' })
    expect(analyze(unit.replace('ProtectClock', 'ProtectClocks'), 'verify', '--man=no').said).toContain('Unknown key')
    const security = ['security', '--offline=true', '--no-pager', '--threshold=20']
    expect(analyze(unit, ...security)).toMatchObject({ status: 0 })
    expect(analyze(unit.replace(/^SystemCallFilter=.*$/gm, ''), ...security).status).not.toBe(0)
  })
})

const steps = readDockerfile(read('deploy/Dockerfile')).at(-1)?.steps ?? []
const step = (name: string) => steps.find((each) => each.name === name)

test('the image runs the command of npm start', () => {
  expect(step('CMD')?.words).toEqual(['node', ...started.split(' ')])
})
