import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { breachesOfLayout, findImportCycles, findLayerViolations, order, packagesOf } from './support/imports.ts'
import { choicesByKind } from './support/kinds.ts'
import { parseSource } from './support/source.ts'

const root = join(import.meta.dirname, '..')

/** The sources of the service: all of `src`, and what of `db` belongs to it. */
function readSources(): Record<string, string> {
  const paths = ['src', 'db'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .map((path) => join(folder, path)),
  )
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

test('the sources keep the house rules', () => {
  const sources = readSources()

  expect(Object.keys(sources).length).toBeGreaterThan(100)
  expect(findLayerViolations(sources)).toEqual([])
})

test('the imports of a file are all found', () => {
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

// Each file breaks one rule, as somebody might in good faith; none would be noticed if the rule were not enforced.
const broken: readonly [rule: string, path: string, source: string, breach: string][] = [
  [
    'an earlier module imports a later one',
    'src/modules/wallets/get-wallet.ts',
    `import { findPayout } from '../payouts/get-payout.ts'`,
    'imports src/modules/payouts/get-payout.ts: modules/payouts/ is above modules/wallets/',
  ],
  [
    'even for a type',
    'src/modules/ledger/account.ts',
    `import type { Wallet } from '../wallets/wallet.ts'`,
    'imports src/modules/wallets/wallet.ts: modules/wallets/ is above modules/ledger/',
  ],
  [
    'a folder that nobody put in the order',
    'src/helpers/text.ts',
    `import { parse } from '../input.ts'`,
    'is in no layer that the order knows',
  ],
  [
    'an operation imports its door',
    'src/modules/payouts/create-payout.ts',
    `import { payoutRoutes } from './rest.ts'`,
    'imports the door src/modules/payouts/rest.ts',
  ],
  [
    'an operation imports the program',
    'src/demo/load/seed.ts',
    `import { start } from '../../app/start.ts'`,
    'imports src/app/start.ts: app/ is above demo/',
  ],
  [
    'an operation imports the host',
    'src/demo/load/seed.ts',
    `import { createServer } from '../../server/host.ts'`,
    'imports src/server/host.ts, which puts the program together',
  ],
  [
    'the kit of a door imports a noun',
    'src/graphql/schema/node.ts',
    `import type { Wallet } from '../../modules/wallets/wallet.ts'`,
    'imports src/modules/wallets/wallet.ts: modules/wallets/ is above graphql/schema/',
  ],
  [
    'the host imports a door itself',
    'src/server/host.ts',
    `import { payoutRoutes } from '../modules/payouts/rest.ts'`,
    'imports the door src/modules/payouts/rest.ts',
  ],
  [
    'a door of GraphQL takes a helper from another',
    'src/modules/payouts/graphql.ts',
    `import { Customer, ownerOf } from '../customers/graphql.ts'`,
    'takes ownerOf from the door src/modules/customers/graphql.ts: what several doors need is in the kit',
  ],
  [
    'a further door of a noun takes a helper from its first',
    'src/modules/payouts/create-payout-graphql.ts',
    `import { Payout, lookupArguments } from './graphql.ts'`,
    'takes lookupArguments from the door src/modules/payouts/graphql.ts: what several doors need is in the kit',
  ],
  [
    'an operation imports a further door of its noun',
    'src/modules/payouts/create-payout.ts',
    `import { PayoutQuote } from './create-payout-graphql.ts'`,
    'imports the door src/modules/payouts/create-payout-graphql.ts',
  ],
  [
    'a further door queries',
    'src/modules/payouts/create-payout-rest.ts',
    `import { insertPayout } from './repository.ts'`,
    'is a door and imports the repository src/modules/payouts/repository.ts',
  ],
  [
    'a door that is too long',
    'src/modules/payouts/create-payout-graphql.ts',
    "import { Payout } from './graphql.ts'\n".repeat(260),
    'is a door of 261 lines, of 260 at most',
  ],
  [
    'a door queries',
    'src/modules/payouts/rest.ts',
    `import { insertPayout } from './repository.ts'`,
    'is a door and imports the repository src/modules/payouts/repository.ts',
  ],
  [
    'a door of GraphQL queries',
    'src/modules/payouts/graphql.ts',
    `import { insertPayout } from './repository.ts'`,
    'is a door and imports the repository src/modules/payouts/repository.ts',
  ],
  [
    'a door works with the database',
    'src/modules/payouts/rest.ts',
    `import { takeSequenceNumber } from '../../lists/sequence.ts'`,
    'is a door and imports the database',
  ],
  [
    'a repository calls an operation',
    'src/modules/payouts/repository.ts',
    `import { quotePayout } from './quote.ts'`,
    'is a repository and imports src/modules/payouts/quote.ts',
  ],
  [
    'an operation queries',
    'src/modules/payouts/quote.ts',
    `import { query, selectFrom } from '../../database/query.ts'`,
    'builds queries (query, selectFrom) and is no repository',
  ],
  [
    'an operation queries under another name',
    'src/modules/payouts/quote.ts',
    `import { queryOne as ask } from '../../database/query.ts'`,
    'builds queries (queryOne) and is no repository',
  ],
  [
    'a query locks under the name of a read',
    'src/modules/customers/repository.ts',
    `export const customerById = statementOne((p) => from('customers').forUpdate())`,
    'customerById locks, and its name does not say so',
  ],
  [
    'a read calls what locks',
    'src/modules/customers/get-customer.ts',
    `export function findCustomer(tx) {\n  return lockCustomerById(tx)\n}`,
    'findCustomer locks, and its name does not say so',
  ],
  [
    'Kysely outside repositories',
    'src/modules/payouts/quote.ts',
    `import { sql } from 'kysely'`,
    'imports kysely, which belongs to database/, lists/ and repositories',
  ],
  [
    'decimal.js outside core/money/',
    'src/modules/payouts/quote.ts',
    `import { Decimal } from 'decimal.js'`,
    'imports decimal.js, which belongs to core/money/',
  ],
  [
    'an engine outside database/',
    'src/modules/audit/audit.ts',
    `import Sqlite from 'better-sqlite3'`,
    'imports better-sqlite3, which belongs to an engine of database/',
  ],
  [
    'an engine in the part of database/ that all engines share',
    'src/database/query.ts',
    `import { Pool } from 'pg'`,
    'imports pg, which belongs to an engine of database/',
  ],
  [
    'a folder of an engine from outside',
    'src/modules/audit/audit.ts',
    `import { openConnection } from '../../database/sqlite/sqlite-connection.ts'`,
    'imports the engine src/database/sqlite/sqlite-connection.ts',
  ],
  [
    'an operation opens a database',
    'src/demo/load/seed.ts',
    `import { databaseEngines } from '../../database/engines.ts'`,
    'opens a database',
  ],
  [
    'an engine imports a migration',
    'src/database/sqlite/sqlite-checks.ts',
    `import { migrations } from '../../../db/migrations/index.ts'`,
    'imports db/migrations/index.ts: migrations/ is above database/',
  ],
  [
    'a command imports a migration',
    'src/cli/restore.ts',
    `import { migrations } from '../../db/migrations/index.ts'`,
    'imports migrations, which are handed in',
  ],
  [
    'a migration imports code of the program',
    'db/migrations/0001-merchants.ts',
    `import { columnKindsByTable } from '../../src/database/tables.ts'`,
    'is a migration and imports src/database/tables.ts',
  ],
  [
    'an operation knows a status',
    'src/modules/payouts/quote.ts',
    `throw Object.assign(new Error(), { statusCode: 422 })`,
    'knows an HTTP status (statusCode: 422)',
  ],
  [
    'a GraphQL door knows a status',
    'src/modules/payouts/graphql.ts',
    `if (answer.status === 404) throw refusal`,
    'knows an HTTP status (status === 404)',
  ],
  [
    'an operation asks for statuses',
    'src/modules/audit/audit.ts',
    `import { httpStatusByCode } from '../../core/api/http-status.ts'`,
    'knows HTTP statuses',
  ],
  [
    'an operation speaks HTTP',
    'src/modules/payouts/quote.ts',
    `import type { FastifyRequest } from 'fastify'`,
    'imports fastify, which belongs to server/, graphql/ and console/',
  ],
  [
    'GraphQL outside its door',
    'src/modules/payouts/payout.ts',
    `import { GraphQLError } from 'graphql'`,
    'imports graphql, which belongs to graphql/, each graphql.ts and what serves it',
  ],
  [
    'a loader in an operation',
    'src/modules/payouts/get-payout.ts',
    `const { default: DataLoader } = await import('dataloader')`,
    'imports dataloader, which belongs to graphql/, each graphql.ts and what serves it',
  ],
  ['the environment', 'src/app/logger.ts', `const level = process.env.LOG_LEVEL`, 'reads the environment'],
  [
    'the environment by another way',
    'src/app/logger.ts',
    `const { LOG_LEVEL } = process['env']`,
    'reads the environment',
  ],
  ['the environment taken apart', 'src/app/logger.ts', `const { env } = process`, 'reads the environment'],
  ['a clock', 'src/modules/payouts/quote.ts', `const at = Date.now()`, 'has a clock of its own'],
  [
    'another clock',
    'src/modules/payouts/quote.ts',
    'const at = `${' + 'new Date().toISOString()}`',
    'has a clock of its own',
  ],
  ['randomness', 'src/modules/payouts/quote.ts', `const id = crypto.randomUUID()`, 'has a randomness of its own'],
  [
    'code made of text',
    'src/graphql/execution/engine.ts',
    `const write = new Function('row', text)`,
    'makes code of text (Function()',
  ],
  [
    'code made without new',
    'src/graphql/execution/engine.ts',
    `const write = Function(text)`,
    'makes code of text (Function()',
  ],
  ['text that is run', 'src/graphql/execution/engine.ts', `const run = globalThis.eval`, 'makes code of text (eval)'],
  [
    'text that is run apart',
    'src/graphql/execution/engine.ts',
    `import { runInNewContext } from 'node:vm'`,
    'imports node:vm, which makes code of text',
  ],
  [
    'a class',
    'src/modules/payouts/quote.ts',
    `export class QuoteService { run() {} }`,
    'declares the class QuoteService',
  ],
  [
    'a class of a class of ours',
    'src/modules/payouts/quote.ts',
    `import { Service } from './service.ts'\nclass QuoteService extends Service {}`,
    'declares the class QuoteService',
  ],
  [
    'a nameless class',
    'src/modules/payouts/quote.ts',
    `const Quote = class { run() {} }`,
    'declares the class (nameless)',
  ],
  ['an interface', 'src/modules/payouts/quote.ts', `export interface Quote { rate: string }`, 'declares an interface'],
  ['an enum', 'src/modules/payouts/payout.ts', `export const enum Status { Done }`, 'has syntax that is not erasable'],
  ['a default export', 'src/modules/payouts/quote.ts', `export default function quote() {}`, 'has a default export'],
  [
    'a barrel',
    'src/modules/payouts/payout.ts',
    `export { createPayout } from './create-payout.ts'`,
    'is a barrel: it exports what another file declares',
  ],
  [
    'a barrel of everything',
    'src/modules/payouts/payout.ts',
    `export * from './create-payout.ts'`,
    'is a barrel: it exports what another file declares',
  ],
  ['a file that is a barrel by name', 'src/modules/payouts/index.ts', `const payouts = []`, 'is a barrel by its name'],
  [
    'an import without its ending',
    'src/modules/payouts/quote.ts',
    `import { parse } from '../input'`,
    'imports ../input without .ts',
  ],
]

describe('a breach is reported:', () => {
  test.each(broken)('%s', (_, path, source, breach) => {
    expect(findLayerViolations({ [path]: `${source}\n` })).toContain(`${path}: ${breach}`)
  })
})

// What the rules allow, though it looks like what they forbid.
const kept: readonly [what: string, path: string, source: string][] = [
  ['an error', 'src/core/errors.ts', `export class DomainError extends Error { readonly code = 1 }`],
  [
    'a subclass of a library',
    'src/database/sqlite/compile-for-sqlite.ts',
    `import { SqliteQueryCompiler } from 'kysely'\nclass Compiler extends SqliteQueryCompiler {}`,
  ],
  [
    'words in comments',
    'src/modules/payouts/quote.ts',
    `// process.env and class Quote { and Date.now()\n/* export default */`,
  ],
  ['words in texts', 'src/modules/payouts/quote.ts', `const text = 'reads process.env, class Quote {, status: 404'`],
  ['a number that is no status', 'src/modules/payouts/quote.ts', `const limit = 500\nconst status = row.status`],
  ['a status of its door', 'src/modules/payouts/rest.ts', `const created = { status: 201 }`],
  ['the type of a transaction', 'src/modules/payouts/quote.ts', `import type { Tx } from '../../database/query.ts'`],
  [
    'a type of a row for a door',
    'src/modules/payouts/rest.ts',
    `import type { RowOf } from '../../database/tables.ts'`,
  ],
  [
    'the repository of an earlier module',
    'src/modules/wallets/deposit-address.ts',
    `import { merchantById } from '../merchants/repository.ts'`,
  ],
  [
    'the type of its noun for a repository',
    'src/modules/payouts/repository.ts',
    `import type { PayoutStatus } from './payout.ts'`,
  ],
  [
    'a library’s type that is widened',
    'src/server/rest/endpoints.ts',
    `declare module 'fastify' {\n  interface Request { id: string }\n}`,
  ],
  [
    'the code that an engine makes of our own names',
    'src/database/sqlite/sqlite-connection.ts',
    `const make = new Function('values', body)`,
  ],
  [
    'a date that is given',
    'src/core/ids-and-clock.ts',
    `export const timestamp = (now) => new Date(now).toISOString()`,
  ],
]

describe('allowed is', () => {
  test.each(kept)('%s', (_, path, source) => {
    expect(findLayerViolations({ [path]: `${source}\n` })).toEqual([])
  })
})

test('every layer is named once and has files, and every file of src and db is in a layer', () => {
  const paths = Object.keys(readSources()).map((path) => path.replace(/^(src|db)\//, ''))

  expect(new Set(order).size).toBe(order.length)
  expect(order.filter((layer) => !paths.some((path) => path.startsWith(layer)))).toEqual([])
  expect(paths.filter((path) => !order.some((layer) => path.startsWith(layer)))).toEqual([])
})

const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

test('the service imports no package that npm leaves out of production', () => {
  expect(packagesOf(readSources()).filter((name) => !(name in dependencies))).toEqual([])
})

test('every imported package is found by its name', () => {
  const source = `import type { Pool } from 'pg'\nimport { x } from '@scope/name/path'\nimport { join } from 'node:path'`

  expect(packagesOf({ 'src/a.ts': source, 'src/b.ts': `await import('kysely/migration')` }).sort()).toEqual([
    '@scope/name',
    'kysely',
    'pg',
  ])
})

test('few files stand loose, and each has a name of its own', () => {
  const paths = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|js)$/.test(path))
    .map((path) => join('src', path))

  expect(breachesOfLayout(paths)).toEqual([])
})

test('no files import one another, for types neither', () => {
  expect(findImportCycles(readSources())).toEqual([])
})

test('a circle is reported', () => {
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

// `npm run lint` runs knip over the project; here it runs over a project that has each of the faults.
test('knip reports unused files, exports and packages, and packages that are not listed', () => {
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
  for (const fault of [
    /^Unused files \(1\)\s+src\/unused-file\.ts/m,
    /^Unused dependencies \(1\)\s+pg/m,
    /^Unlisted dependencies \(1\)\s+kysely/m,
    /^Unused exports \(1\)\s+unusedRate/m,
    /^Unused exported types \(1\)\s+UnusedRate/m,
  ]) {
    expect(report).toMatch(fault)
  }
})

test('a crowd at the root and two files of one name are reported', () => {
  const crowd = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => `src/${name}.ts`)
  const nouns = [
    'src/modules/payouts/rest.ts',
    'src/modules/wallets/rest.ts',
    'src/modules/payouts/list.ts',
    'src/modules/wallets/list.ts',
  ]
  const twins = ['src/core/errors.ts', 'src/rest/errors.ts', 'src/console/list.ts', 'src/cli/list.ts']

  expect(breachesOfLayout([...crowd, ...nouns])).toEqual(['src/ has 7 files, of which 2 may stand loose'])
  expect(breachesOfLayout([...nouns, ...twins])).toEqual([
    'errors.ts is the name of src/core/errors.ts and src/rest/errors.ts',
    'list.ts is the name of src/console/list.ts and src/cli/list.ts',
  ])
})

test('nothing is shown by a comparison with one of several kinds, so that a new kind does not compile', () => {
  expect(choicesByKind(readSources())).toEqual([])
})

test('a choice by one kind is reported, and one that names its reason or shows nothing is not', () => {
  const sources = {
    'src/modules/payouts/payout.ts': `
      export const payoutKinds = ['BANK', 'WALLET'] as const
      export const outcomes = defineEnum({ PAID: 'Paid.', 'not paid': 'Not paid.' })
      export type Side = 'debit' | 'credit'
    `,
    'src/modules/payouts/quote.ts': `
      const found = kind === 'BANK' ? account : address
      const turned = 'WALLET' !== kind ? account : address
      const told = outcome === 'not paid' ? { text: 'none' } : { text: 'all' }
      const sum = rows.map(({ side }) => (side === 'debit' ? -amount : amount))
      const isBank = kind === 'BANK'
      const named = isBank ? account : address
      const perhaps = kind === 'BANK' ? account : null
      const text = typeof kind === 'string' ? account : address
    `,
    'src/demo/load/fake-data.ts': `const invented = kind === 'BANK' ? account : address`,
  }
  const breach = (line: number, kind: string) =>
    `src/modules/payouts/quote.ts:${line}: chooses by one of ${kind}: use a Record of them, or name the comparison`

  expect(choicesByKind(sources).sort()).toEqual([
    breach(2, 'payoutKinds'),
    breach(3, 'payoutKinds'),
    breach(4, 'outcomes'),
    breach(5, 'Side'),
  ])
})
