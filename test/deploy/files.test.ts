import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { takenOverExitCode } from '../../src/database/database.ts'
import { startOptions } from '../support/start-options.ts'
import { readDockerfile } from './support/dockerfile.ts'
import { maxShutdownSeconds } from './support/shutdown.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const unit = read('deploy/payout-gateway.service')
const installedCommand = '/opt/payout-gateway/node_modules/.bin/payout-gateway'
const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

test('the installed command starts the service with the Node options of npm start, and runs other commands without Node options', () => {
  expect(startOptions.length).toBeGreaterThan(1)
  const launches = read('bin/payout-gateway').match(/(?<=exec "\$node" ).*?(?= *"\$package)/g)
  expect(launches).toEqual(['', startOptions.join(' ')])
})

describe('the systemd unit', () => {
  test('starts the installed command, gives the service enough time to stop, and does not restart a service that lost its database', () => {
    expect(setting('ExecStart')).toBe(installedCommand)
    expect(Number(setting('TimeoutStopSec'))).toBeGreaterThan(maxShutdownSeconds)
    expect(Number(setting('RestartPreventExitStatus'))).toBe(takenOverExitCode)
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

  test.skipIf(!hasSystemd && !process.env.CI)('is valid, and systemd-analyze rates its security as acceptable', () => {
    const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'payout-gateway.service')
    const analyze = (text: string, ...words: string[]) => {
      // systemd checks that the executable exists.
      writeFileSync(path, text.replace(installedCommand, join(root, 'bin/payout-gateway')))
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

test('the image runs the installed command', () => {
  expect(step('CMD')?.words).toEqual(['payout-gateway'])
})
