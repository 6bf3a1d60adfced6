import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { demoPayoutCount } from '../../src/demo/demo-history.ts'
import { payoutBody } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import type { Image } from './support/build.ts'
import { buildImage } from './support/build.ts'
import { baseNode, containerSkipReason, firstProcessOf, runInside } from './support/container.ts'
import { isIgnored } from './support/ignored-files.ts'
import { linkPackages } from './support/linked-packages.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
/** `npm run image:rehearse` installs the packages by npm, as a builder would. */
const isRehearsal = process.env.IMAGE_PACKAGES === 'npm'
const install = isRehearsal ? null : (command: string, folder: string) => linkPackages(root, command, folder)

test('the build context contains the files of the image, and no database or key', () => {
  const ignore = read('.dockerignore')
  const given = (path: string) => !isIgnored(path, ignore)

  const secret = [
    'db/payouts.sqlite',
    'db/payouts.sqlite-wal',
    'db/payouts.sqlite.secrets-key',
    'src/a/b.sqlite.1.partial',
  ]
  const others = [
    '.git/config',
    '.env',
    'deploy/.env',
    'node_modules/pg/package.json',
    'test/core/ids.test.ts',
    'docs/package.json',
  ]
  expect([...secret, ...others].filter(given)).toEqual([])
  const tracked = execFileSync('git', ['ls-files', 'bin', 'src', 'db'], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
  const needed = ['.npmrc', 'LICENSE', 'package.json', 'package-lock.json', 'build.ts', 'deploy/warm-up.js']
  expect([...needed, ...tracked].filter((path) => !given(path))).toEqual([])
})

// On other machines it is skipped; CI and a direct run report the reason.
const isLeftOut = containerSkipReason !== null && !isRehearsal && !process.env.CI

describe.skipIf(isLeftOut)('the image', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-image-'))
  let image: Image

  beforeAll(async () => {
    expect(containerSkipReason).toBeNull()
    image = await buildImage(join(root, 'deploy/Dockerfile'), { context: root, folder, install })
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Runs a command of the image as its user, on a read-only file system with a new volume. */
  function start(words: readonly string[], { environment = {}, data = newVolume() }: Started) {
    const child = runInside(image, {
      ...image,
      words,
      environment: { ...image.environment, ...environment },
      volumes: { '/data': data },
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stderr?.on('data', (chunk) => (output += chunk))
    child.stdout?.on('data', (chunk) => (output += chunk))
    const ended = once(child, 'close').then(([code]) => ({ code, said: output }))
    return { child, data, ended, said: () => output }
  }
  type Started = { environment?: Record<string, string>; data?: string }

  /** Creates a volume as a copy of the image's folder. */
  function newVolume(): string {
    const data = mkdtempSync(join(folder, 'volume-'))
    execFileSync('cp', ['-a', '--attributes-only', '-T', join(image.folder, image.volumes[0] ?? ''), data])
    return data
  }

  test('has the labels of package.json, and a data volume that only its user can read', () => {
    const { version, license, description } = JSON.parse(read('package.json'))
    expect(image.labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.licenses': license,
      'org.opencontainers.image.description': description,
    })
    expect(image.volumes).toEqual(['/data'])
    const { uid, gid, mode } = statSync(join(image.folder, '/data'))
    expect([`${uid}:${gid}`, mode & 0o777]).toEqual([image.user, 0o700])
    expect(uid).toBeGreaterThan(999)
  })

  /** Runs the image's command and waits until it is ready; `pay` returns the status of a payout. */
  async function serve(workers: string) {
    const port = await freePort()
    const environment = { HOST: '127.0.0.1', PORT: String(port), WORKERS: workers }
    const { child, said, ...started } = start(image.command, { environment })
    await expect.poll(said).toContain('payout-gateway is ready')
    const pay = async () => {
      const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }
      const body = JSON.stringify(payoutBody)
      return (await fetch(`http://127.0.0.1:${port}/api/payouts/banks`, { method: 'POST', headers, body })).status
    }
    const checkHealth = async () => (await start(image.healthcheck, { environment }).ended).code
    return { ...started, pid: firstProcessOf(child), pay, checkHealth }
  }

  test('serves as PID 1 without capabilities, has a health check, and ends on SIGTERM', async () => {
    const { pid, ended, pay, checkHealth } = await serve('1')
    expect(readlinkSync(`/proc/${pid}/exe`)).toBe(join(image.folder, baseNode))
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    expect(status).toMatch(new RegExp(`^Uid:\\t${image.user.split(':')[0]}\\t`, 'm'))
    expect(status).toMatch(/^NSpid:\t\d+\t1$/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(await pay()).toBe(200)
    expect(await checkHealth()).toBe(0)

    process.kill(pid, 'SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
    expect(await checkHealth()).toBe(1)
  })

  test("serves with several processes while an operator's command runs", async () => {
    const { pid, ended, data, pay, checkHealth } = await serve('2')
    expect(await pay()).toBe(200)
    expect(await checkHealth()).toBe(0)
    const audited = await start(['payout-gateway', 'audit', '--json'], { data }).ended
    expect(audited).toMatchObject({ code: 0, said: expect.stringContaining(`"payouts":${demoPayoutCount + 1}`) })

    process.kill(pid, 'SIGTERM')
    expect(await ended).toMatchObject({ code: 0 })
  })

  test('runs every module of a command from the compile cache in the image, which the user of the image cannot change', async () => {
    const environment = { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
    const { said } = await start(['payout-gateway', '--version'], { environment }).ended
    const uses = said.split('\n').filter((line) => /V8 code cache for .*\/app\/dist\/.* was /.test(line))
    expect(uses.length).toBeGreaterThan(100)
    expect(uses.filter((line) => !line.includes('was accepted'))).toEqual([])
    expect(statSync(join(image.folder, '/app/node_modules/.cache/payout-gateway'))).toMatchObject({ uid: 0, gid: 0 })
  })

  test('can write only to its data folder', async () => {
    const places = ['/app/x', '/app/src/x', '/tmp/x', '/x', '/etc/x', '/data/x']
    const script = `for (const place of ${JSON.stringify(places)}) try { require('fs').writeFileSync(place, ''); console.log(place) } catch {}`
    expect(await start(['node', '-e', script], {}).ended).toEqual({ code: 0, said: '/data/x\n' })
  })
})
