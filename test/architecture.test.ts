import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findImportCycles, findLayerViolations, findLayoutViolations, layers, packagesOf } from './support/imports.ts'
import { findKindTernaries } from './support/kinds.ts'
import { parseSource } from './support/source.ts'

const root = join(import.meta.dirname, '..')

/** Returns the TypeScript sources of `src` and `db` by path. */
function readSources(): Record<string, string> {
  const paths = ['src', 'db'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join(folder, path)),
  )
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

test('the sources follow the layer rules of docs/house-rules.md', () => {
  const sources = readSources()

  expect(Object.keys(sources).length).toBeGreaterThan(100)
  expect(findLayerViolations(sources)).toEqual([])
})

test('parseSource finds every import of a file', () => {
  const source = `
    import { query, type Params as P } from '../../database/query.ts'
    import type { Tx } from '../../database/query.ts'
    import Sqlite, { type Options } from 'better-sqlite3'
    import * as kysely from "kysely"
    import './side-effect.ts'
    // import { ignored } from './comment.ts'
    import {
      many,
      lines as of,
    } from '../../core/money/amount.ts'
    const text = "import { x } from './text.ts'"
    export { other } from './other.ts'
    await import('./lazy.ts')
    type Later = import('./type.ts').Later
  `

  expect(parseSource('src/modules/payouts/a.ts', source).imports).toEqual([
    { from: '../../database/query.ts', path: 'src/database/query.ts', names: ['query'], isType: false },
    { from: '../../database/query.ts', path: 'src/database/query.ts', names: [], isType: true },
    { from: 'better-sqlite3', path: null, names: ['Sqlite'], isType: false },
    { from: 'kysely', path: null, names: ['*', 'kysely'], isType: false },
    { from: './side-effect.ts', path: 'src/modules/payouts/side-effect.ts', names: ['*'], isType: false },
    { from: '../../core/money/amount.ts', path: 'src/core/money/amount.ts', names: ['many', 'lines'], isType: false },
    { from: './other.ts', path: 'src/modules/payouts/other.ts', names: ['other'], isType: false },
    { from: './lazy.ts', path: 'src/modules/payouts/lazy.ts', names: ['*'], isType: false },
    { from: './type.ts', path: 'src/modules/payouts/type.ts', names: [], isType: true },
  ])
})

// Each source violates one rule in a way that a review could miss.
const violatingSources: readonly [rule: string, path: string, source: string, violation: string][] = [
  [
    'an earlier module imports a later one',
    'src/modules/wallets/get-wallet.ts',
    `import { findPayout } from '../payouts/get-payout.ts'`,
    'imports src/modules/payouts/get-payout.ts: modules/payouts/ is a later layer than modules/wallets/',
  ],
  [
    'an earlier module imports a type of a later one',
    'src/modules/ledger/account.ts',
    `import type { Wallet } from '../wallets/wallet.ts'`,
    'imports src/modules/wallets/wallet.ts: modules/wallets/ is a later layer than modules/ledger/',
  ],
  [
    'a folder belongs to no layer',
    'src/helpers/text.ts',
    `import { parse } from '../input.ts'`,
    'is in no known layer',
  ],
  [
    'an operation imports its REST file',
    'src/modules/payouts/create-payout.ts',
    `import { payoutRoutes } from './rest.ts'`,
    'imports the API file src/modules/payouts/rest.ts',
  ],
  [
    'the load generator imports the program',
    'src/demo/load/seed.ts',
    `import { start } from '../../app/start.ts'`,
    'imports src/app/start.ts: app/ is a later layer than demo/',
  ],
  [
    'the load generator imports the host',
    'src/demo/load/seed.ts',
    `import { createServer } from '../../server/host.ts'`,
    'imports src/server/host.ts, which assembles the program',
  ],
  [
    'the GraphQL toolkit imports a module',
    'src/graphql/schema/node.ts',
    `import type { Wallet } from '../../modules/wallets/wallet.ts'`,
    'imports src/modules/wallets/wallet.ts: modules/wallets/ is a later layer than graphql/schema/',
  ],
  [
    'the host imports an API file',
    'src/server/host.ts',
    `import { payoutRoutes } from '../modules/payouts/rest.ts'`,
    'imports the API file src/modules/payouts/rest.ts',
  ],
  [
    'a GraphQL file imports a helper from another module’s',
    'src/modules/payouts/graphql.ts',
    `import { Customer, ownerOf } from '../customers/graphql.ts'`,
    'imports ownerOf from the API file src/modules/customers/graphql.ts: code that several API files share belongs in the toolkit',
  ],
  [
    'a second GraphQL file of a module imports a helper from the first',
    'src/modules/payouts/create-payout-graphql.ts',
    `import { Payout, lookupArguments } from './graphql.ts'`,
    'imports lookupArguments from the API file src/modules/payouts/graphql.ts: code that several API files share belongs in the toolkit',
  ],
  [
    'an operation imports the second GraphQL file of its module',
    'src/modules/payouts/create-payout.ts',
    `import { PayoutQuote } from './create-payout-graphql.ts'`,
    'imports the API file src/modules/payouts/create-payout-graphql.ts',
  ],
  [
    'a second REST file imports a repository',
    'src/modules/payouts/create-payout-rest.ts',
    `import { insertPayout } from './repository.ts'`,
    'is an API file and imports the repository src/modules/payouts/repository.ts',
  ],
  [
    'a GraphQL file is too long',
    'src/modules/payouts/create-payout-graphql.ts',
    "import { Payout } from './graphql.ts'\n".repeat(250),
    'is a GraphQL file of 251 lines; the maximum is 250',
  ],
  [
    'a REST file imports a repository',
    'src/modules/payouts/rest.ts',
    `import { insertPayout } from './repository.ts'`,
    'is an API file and imports the repository src/modules/payouts/repository.ts',
  ],
  [
    'a GraphQL file imports a repository',
    'src/modules/payouts/graphql.ts',
    `import { insertPayout } from './repository.ts'`,
    'is an API file and imports the repository src/modules/payouts/repository.ts',
  ],
  [
    'an API reaches the operators',
    'src/server/rest/routes.ts',
    `import { listOperators } from '../../modules/operators/manage-operators.ts'`,
    'imports src/modules/operators/manage-operators.ts: nothing about operators is for callers of the APIs',
  ],
  [
    'a REST file imports the list layer',
    'src/modules/payouts/rest.ts',
    `import { takeSequenceNumber } from '../../lists/sequence.ts'`,
    'is an API file and imports the database',
  ],
  [
    'a repository imports an operation',
    'src/modules/payouts/repository.ts',
    `import { quotePayout } from './quote.ts'`,
    'is a repository and imports src/modules/payouts/quote.ts',
  ],
  [
    'an operation builds a query',
    'src/modules/payouts/quote.ts',
    `import { query, selectFrom } from '../../database/query.ts'`,
    'builds queries (query, selectFrom) but is not a repository',
  ],
  [
    'an operation builds a query by a renamed import',
    'src/modules/payouts/quote.ts',
    `import { queryOne as ask } from '../../database/query.ts'`,
    'builds queries (queryOne) but is not a repository',
  ],
  [
    'the name of a locking query does not say that it locks',
    'src/modules/customers/repository.ts',
    `export const customerById = statementOne((p) => from('customers').forUpdate())`,
    'customerById locks a row, but its name does not say so',
  ],
  [
    'a function with the name of a read calls a locking query',
    'src/modules/customers/get-customer.ts',
    `export function findCustomer(tx) {\n  return lockCustomerById(tx)\n}`,
    'findCustomer locks a row, but its name does not say so',
  ],
  [
    'an operation imports Kysely',
    'src/modules/payouts/quote.ts',
    `import { sql } from 'kysely'`,
    'imports kysely, which belongs to database/, lists/ and repositories',
  ],
  [
    'an operation imports decimal.js',
    'src/modules/payouts/quote.ts',
    `import { Decimal } from 'decimal.js'`,
    'imports decimal.js, which belongs to core/money/',
  ],
  [
    'an operation imports a database driver',
    'src/modules/audit/audit.ts',
    `import Sqlite from 'better-sqlite3'`,
    'imports better-sqlite3, which belongs to an engine of database/',
  ],
  [
    'the shared part of database/ imports a database driver',
    'src/database/query.ts',
    `import { Pool } from 'pg'`,
    'imports pg, which belongs to an engine of database/',
  ],
  [
    'an operation imports a file of an engine',
    'src/modules/audit/audit.ts',
    `import { openConnection } from '../../database/sqlite/sqlite-connection.ts'`,
    'imports the engine src/database/sqlite/sqlite-connection.ts',
  ],
  [
    'the load generator opens a database',
    'src/demo/load/seed.ts',
    `import { databaseEngines } from '../../database/engines.ts'`,
    'opens a database',
  ],
  [
    'an engine imports a migration',
    'src/database/sqlite/sqlite-checks.ts',
    `import { migrations } from '../../../db/migrations/index.ts'`,
    'imports db/migrations/index.ts: migrations/ is a later layer than database/',
  ],
  [
    'a command imports a migration',
    'src/cli/restore.ts',
    `import { migrations } from '../../db/migrations/index.ts'`,
    'imports migrations, which src/app/open-database.ts passes to the engines',
  ],
  [
    'a migration imports a value from src',
    'db/migrations/0001-merchants.ts',
    `import { columnKindsByTable } from '../../src/database/tables.ts'`,
    'is a migration and imports src/database/tables.ts',
  ],
  [
    'an operation contains an HTTP status',
    'src/modules/payouts/quote.ts',
    `throw Object.assign(new Error(), { statusCode: 422 })`,
    'knows an HTTP status (statusCode: 422)',
  ],
  [
    'a GraphQL file contains an HTTP status',
    'src/modules/payouts/graphql.ts',
    `if (answer.status === 404) throw refusal`,
    'knows an HTTP status (status === 404)',
  ],
  [
    'an operation imports the table of HTTP statuses',
    'src/modules/audit/audit.ts',
    `import { httpStatusByCode } from '../../core/api/http-status.ts'`,
    'imports the table of HTTP statuses',
  ],
  [
    'an operation imports Fastify',
    'src/modules/payouts/quote.ts',
    `import type { FastifyRequest } from 'fastify'`,
    'imports fastify, which belongs to server/, graphql/ and console/',
  ],
  [
    'a type of a module imports graphql',
    'src/modules/payouts/payout.ts',
    `import { GraphQLError } from 'graphql'`,
    'imports graphql, which belongs to graphql/, each graphql.ts and server/graphql/',
  ],
  [
    'an operation imports DataLoader',
    'src/modules/payouts/get-payout.ts',
    `const { default: DataLoader } = await import('dataloader')`,
    'imports dataloader, which belongs to graphql/, each graphql.ts and server/graphql/',
  ],
  [
    'the logger reads an environment variable',
    'src/app/logger.ts',
    `const level = process.env.LOG_LEVEL`,
    'reads the environment',
  ],
  [
    'the logger reads an environment variable by index',
    'src/app/logger.ts',
    `const { LOG_LEVEL } = process['env']`,
    'reads the environment',
  ],
  ['the logger destructures the environment', 'src/app/logger.ts', `const { env } = process`, 'reads the environment'],
  [
    'an operation calls Date.now()',
    'src/modules/payouts/quote.ts',
    `const at = Date.now()`,
    'reads the clock outside src/core/ids-and-clock.ts',
  ],
  [
    'an operation calls new Date()',
    'src/modules/payouts/quote.ts',
    'const at = `${' + 'new Date().toISOString()}`',
    'reads the clock outside src/core/ids-and-clock.ts',
  ],
  [
    'an operation generates a random id',
    'src/modules/payouts/quote.ts',
    `const id = crypto.randomUUID()`,
    'generates random values outside src/core/ids-and-clock.ts',
  ],
  [
    'the GraphQL engine calls new Function()',
    'src/graphql/execution/engine.ts',
    `const write = new Function('row', text)`,
    'compiles text to code (Function()',
  ],
  [
    'the GraphQL engine calls Function()',
    'src/graphql/execution/engine.ts',
    `const write = Function(text)`,
    'compiles text to code (Function()',
  ],
  [
    'the GraphQL engine uses eval',
    'src/graphql/execution/engine.ts',
    `const run = globalThis.eval`,
    'compiles text to code (eval)',
  ],
  [
    'the GraphQL engine imports node:vm',
    'src/graphql/execution/engine.ts',
    `import { runInNewContext } from 'node:vm'`,
    'imports node:vm, which compiles text to code',
  ],
  [
    'an operation declares a class',
    'src/modules/payouts/quote.ts',
    `export class QuoteService { run() {} }`,
    'declares the class QuoteService',
  ],
  [
    'an operation declares a subclass of our own class',
    'src/modules/payouts/quote.ts',
    `import { Service } from './service.ts'\nclass QuoteService extends Service {}`,
    'declares the class QuoteService',
  ],
  [
    'an operation declares an anonymous class',
    'src/modules/payouts/quote.ts',
    `const Quote = class { run() {} }`,
    'declares the class (anonymous)',
  ],
  [
    'an operation handles values that may be promises',
    'src/modules/payouts/quote.ts',
    `import type { MaybePromise } from '../../core/maybe-promise.ts'`,
    'handles values that may be promises, instead of async and await',
  ],
  [
    'a file declares an interface',
    'src/modules/payouts/quote.ts',
    `export interface Quote { rate: string }`,
    'declares an interface',
  ],
  [
    'a file declares an enum',
    'src/modules/payouts/payout.ts',
    `export const enum Status { Done }`,
    'has TypeScript syntax that is not erasable',
  ],
  [
    'a file has a default export',
    'src/modules/payouts/quote.ts',
    `export default function quote() {}`,
    'has a default export',
  ],
  [
    'a file re-exports one declaration',
    'src/modules/payouts/payout.ts',
    `export { createPayout } from './create-payout.ts'`,
    'is a barrel: it re-exports declarations of another file',
  ],
  [
    'a file re-exports everything',
    'src/modules/payouts/payout.ts',
    `export * from './create-payout.ts'`,
    'is a barrel: it re-exports declarations of another file',
  ],
  ['a file is named index.ts', 'src/modules/payouts/index.ts', `const payouts = []`, 'is named like a barrel'],
  [
    'an import omits .ts',
    'src/modules/payouts/quote.ts',
    `import { parse } from '../input'`,
    'imports ../input without .ts',
  ],
]

describe('findLayerViolations reports a violation if', () => {
  test.each(violatingSources)('%s', (_, path, source, violation) => {
    expect(findLayerViolations({ [path]: `${source}\n` })).toContain(`${path}: ${violation}`)
  })
})

// Sources that resemble a violation and are allowed.
const allowedSources: readonly [form: string, path: string, source: string][] = [
  ['a subclass of Error', 'src/core/errors.ts', `export class DomainError extends Error { readonly code = 1 }`],
  [
    'a subclass of a library’s class',
    'src/database/sqlite/compile-for-sqlite.ts',
    `import { SqliteQueryCompiler } from 'kysely'\nclass Compiler extends SqliteQueryCompiler {}`,
  ],
  [
    'forbidden words in comments',
    'src/modules/payouts/quote.ts',
    `// process.env and class Quote { and Date.now()\n/* export default */`,
  ],
  [
    'forbidden words in strings',
    'src/modules/payouts/quote.ts',
    `const text = 'reads process.env, class Quote {, status: 404'`,
  ],
  [
    'a number that is not an HTTP status',
    'src/modules/payouts/quote.ts',
    `const limit = 500\nconst status = row.status`,
  ],
  ['an HTTP status in a REST file', 'src/modules/payouts/rest.ts', `const created = { status: 201 }`],
  [
    'an operation’s import of the transaction type',
    'src/modules/payouts/quote.ts',
    `import type { Tx } from '../../database/query.ts'`,
  ],
  [
    'a REST file’s import of a row type',
    'src/modules/payouts/rest.ts',
    `import type { RowOf } from '../../database/tables.ts'`,
  ],
  [
    'an import of the repository of an earlier module',
    'src/modules/wallets/deposit-address.ts',
    `import { merchantById } from '../merchants/repository.ts'`,
  ],
  [
    'a repository’s import of its module’s type',
    'src/modules/payouts/repository.ts',
    `import type { PayoutStatus } from './payout.ts'`,
  ],
  [
    'a module augmentation of a library',
    'src/server/rest/endpoints.ts',
    `declare module 'fastify' {\n  interface Request { id: string }\n}`,
  ],
  [
    'an engine’s compiled row reader',
    'src/database/sqlite/sqlite-connection.ts',
    `const make = new Function('values', body)`,
  ],
  [
    'new Date() of a given time',
    'src/core/ids-and-clock.ts',
    `export const timestamp = (now) => new Date(now).toISOString()`,
  ],
]

describe('findLayerViolations allows', () => {
  test.each(allowedSources)('%s', (_, path, source) => {
    expect(findLayerViolations({ [path]: `${source}\n` })).toEqual([])
  })
})

test('every file of src and db belongs to a layer, and every layer has files', () => {
  const paths = Object.keys(readSources()).map((path) => path.replace(/^(src|db)\//, ''))

  expect(new Set(layers).size).toBe(layers.length)
  expect(layers.filter((layer) => !paths.some((path) => path.startsWith(layer)))).toEqual([])
  expect(paths.filter((path) => !layers.some((layer) => path.startsWith(layer)))).toEqual([])
})

const { name: ownName, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('the sources import only packages that package.json lists as dependencies', () => {
  expect(packagesOf(readSources()).filter((name) => !(name in dependencies || name === ownName))).toEqual([])
})

test('packagesOf returns the name of every imported package', () => {
  const source = `import type { Pool } from 'pg'\nimport { x } from '@scope/name/path'\nimport { join } from 'node:path'`

  expect(packagesOf({ 'src/a.ts': source, 'src/b.ts': `await import('kysely/migration')` }).sort()).toEqual([
    '@scope/name',
    'kysely',
    'pg',
  ])
})

test('src has no more files at its root than allowed, and no two files with the same name', () => {
  const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|js)$/.test(path))
    .map((path) => join('src', path))

  expect(findLayoutViolations(paths)).toEqual([])
})

test('the sources have no import cycles, including cycles of types', () => {
  expect(findImportCycles(readSources())).toEqual([])
})

test('findImportCycles reports each import cycle', () => {
  const sources = {
    'src/modules/pricing/rates/rate.ts': `import { ratesEffectiveFrom } from './repository.ts'`,
    'src/modules/pricing/rates/repository.ts': `import type { Rate } from './terms.ts'`,
    'src/modules/pricing/rates/terms.ts': `import type { Rate } from './rate.ts'`,
    'src/modules/pricing/rates/set-rate.ts': `import { ratesEffectiveFrom } from './repository.ts'`,
    'src/modules/pricing/fees/fee.ts': `const { fee } = await import('./fee.ts')`,
  }

  expect(findImportCycles(sources)).toEqual([
    'src/modules/pricing/rates/rate.ts, src/modules/pricing/rates/repository.ts, src/modules/pricing/rates/terms.ts',
    'src/modules/pricing/fees/fee.ts',
  ])
})

// `npm run lint` runs knip on this project; the test runs it on a project with one violation of each kind.
test('knip reports unused files, exports and packages, and unlisted packages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-knip-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = {
    'knip.jsonc': readFileSync(join(root, 'knip.jsonc'), 'utf8'),
    'package.json': JSON.stringify({ name: 'faulty', type: 'module', dependencies: { pg: '1.0.0' } }),
    'src/main.js': `import './rate.ts'\nimport 'kysely'\n`,
    'src/rate.ts': `export const unusedRate = '1'\nexport type UnusedRate = string\n`,
    'src/unused-file.ts': `export const nothing = 1\n`,
  }
  mkdirSync(join(folder, 'src'))
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)

  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/knip'), ['--no-progress'], { cwd: folder })
  const report = String(stdout)

  expect(status).toBe(1)
  for (const finding of [
    /^Unused files \(1\)\s+src\/unused-file\.ts/m,
    /^Unused dependencies \(1\)\s+pg/m,
    /^Unlisted dependencies \(1\)\s+kysely/m,
    /^Unused exports \(1\)\s+unusedRate/m,
    /^Unused exported types \(1\)\s+UnusedRate/m,
  ]) {
    expect(report).toMatch(finding)
  }
})

test('findLayoutViolations reports too many files at the root, and two files with the same name', () => {
  const rootFiles = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `src/${name}.ts`)
  const moduleFiles = [
    'src/modules/payouts/rest.ts',
    'src/modules/wallets/rest.ts',
    'src/modules/payouts/list.ts',
    'src/modules/wallets/list.ts',
  ]
  const duplicates = ['src/core/errors.ts', 'src/rest/errors.ts', 'src/console/list.ts', 'src/cli/list.ts']

  expect(findLayoutViolations([...rootFiles, ...moduleFiles])).toEqual([
    'src/ has 7 files at its root; the maximum is 2',
  ])
  expect(findLayoutViolations([...moduleFiles, ...duplicates])).toEqual([
    'the name errors.ts is used by src/core/errors.ts and src/rest/errors.ts',
    'the name list.ts is used by src/console/list.ts and src/cli/list.ts',
  ])
})

test('the sources have no ternary that compares an enum with one of its values', () => {
  expect(findKindTernaries(readSources())).toEqual([])
})

test('findKindTernaries reports a ternary on an enum value, unless its condition is a named constant or a branch is null', () => {
  const sources = {
    'src/modules/payouts/payout.ts': `
      export const payoutKinds = ['BANK', 'WALLET'] as const
      export const outcomes = defineEnum({ PAID: 'Paid.', 'not paid': 'Not paid.' })
      export type Side = 'debit' | 'credit'
    `,
    'src/modules/payouts/quote.ts': `
      const target = kind === 'BANK' ? account : address
      const reversed = 'WALLET' !== kind ? account : address
      const message = outcome === 'not paid' ? { text: 'none' } : { text: 'all' }
      const sum = rows.map(({ side }) => (side === 'debit' ? -amount : amount))
      const isBank = kind === 'BANK'
      const byName = isBank ? account : address
      const optional = kind === 'BANK' ? account : null
      const text = typeof kind === 'string' ? account : address
    `,
    'src/demo/load/fake-data.ts': `const invented = kind === 'BANK' ? account : address`,
  }
  const violation = (line: number, kind: string) =>
    `src/modules/payouts/quote.ts:${line}: branches on one value of ${kind}: use a Record of all values, or name the comparison`

  expect(findKindTernaries(sources).sort()).toEqual([
    violation(2, 'payoutKinds'),
    violation(3, 'payoutKinds'),
    violation(4, 'outcomes'),
    violation(5, 'Side'),
  ])
})
