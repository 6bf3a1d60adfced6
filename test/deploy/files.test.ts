import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { takenOverExitCode } from '../../src/database/database.ts'
import { readDockerfile } from './support/dockerfile.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** The command of `npm start`, which every deployment must run. */
const started = JSON.parse(read('package.json')).scripts.start.replace('exec node ', '')
/** The maximum shutdown time of the service, with some margin. */
const maxShutdownSeconds = 11

const unit = read('deploy/payout-gateway.service')
const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]

describe('the systemd unit', () => {
  test('runs the command of npm start, allows time to stop, and does not restart a replaced service', () => {
    expect(setting('ExecStart')).toBe(`/opt/payout-gateway/node_modules/.bin/node ${started}`)
    expect(Number(setting('TimeoutStopSec'))).toBeGreaterThan(maxShutdownSeconds)
    expect(Number(setting('RestartPreventExitStatus'))).toBe(takenOverExitCode)
  })

  const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0

  test.skipIf(!hasSystemd && !process.env.CI)('is valid, and systemd-analyze rates its security as good enough', () => {
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

type Service = {
  image: string
  init?: boolean
  read_only: boolean
  cap_drop: string[]
  security_opt: string[]
  stop_grace_period: string
  ports?: string[]
  volumes?: string[]
}

const steps = readDockerfile(read('deploy/Dockerfile')).at(-1)?.steps ?? []
const step = (name: string) => steps.find((each) => each.name === name)

describe.each([
  ['compose.yaml', 1],
  ['compose.postgres.yaml', 2],
])('%s', (file, count) => {
  const { services } = parse(read(`deploy/${file}`), { merge: true }) as { services: Record<string, Service> }
  const ours = Object.values(services).filter(({ image }) => image === 'payout-gateway')

  test('drops every capability of every container', () => {
    for (const service of Object.values(services)) {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
    }
  })

  test('runs the unmodified image on loopback ports, and allows time to stop', () => {
    expect(ours).toHaveLength(count)
    expect(new Set(ours.flatMap(({ ports }) => ports)).size).toBe(count)
    for (const service of ours) {
      expect(service).not.toHaveProperty('command')
      expect(service).not.toHaveProperty('healthcheck')
      expect(service.init).toBe(true)
      expect(service.ports).toEqual([
        expect.stringMatching(new RegExp(`^127\\.0\\.0\\.1:\\d+:${step('EXPOSE')?.text}$`)),
      ])
      expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(maxShutdownSeconds)
    }
  })
})

test('the image runs the command of npm start, and compose.yaml mounts a volume at the data folder of the image', () => {
  expect(step('CMD')?.words).toEqual(['node', ...started.split(' ')])
  expect(parse(read('deploy/compose.yaml')).services.service.volumes).toEqual([`data:${step('VOLUME')?.text}`])
})
