import { basename } from 'node:path'
import type { Import, Node, Source, Sources } from './source.ts'
import { declaredIn, parseSource } from './source.ts'

/**
 * The layers of `src` and `db`, lowest first: a file may import its own layer and those before it (house rule 3). The longest
 * entry that a path starts with is its layer.
 */
export const order = [
  'core/',
  'database/',
  'migrations/',
  'operations/',
  'lists/',
  'rest/',
  'graphql/schema/',
  'graphql/plan/',
  'graphql/documents/',
  'graphql/execution/',
  'modules/ledger/',
  'modules/installation/',
  'modules/trusted-documents/',
  'modules/outbox/',
  'modules/networks/',
  'modules/merchants/',
  'modules/asset-codes/',
  'modules/customers/',
  'modules/client-tokens/',
  'modules/pricing/',
  'modules/wallets/',
  'modules/deposits/',
  'modules/payout-methods/',
  'modules/rail-orders/',
  'modules/payouts/',
  'modules/exports/',
  'modules/webhooks/transport/',
  'modules/webhooks/endpoints/',
  'modules/rails/',
  'modules/events/',
  'modules/operators/',
  'modules/webhooks/dispatcher/',
  'modules/hash-chain/',
  'modules/audit/',
  'modules/diagnoses/',
  'server/',
  'observability/',
  'console/',
  'demo/',
  'app/',
  'cli/',
] as const

/** The files that name every noun's door. */
const gatherings = /^src\/server\/(rest\/routes|graphql\/schema)\.ts$/

// A noun's door, and the further ones that it has for what would make that too long: `create-payout-graphql.ts`.
const doors = /^src\/modules\/(.+\/)?([\w-]+-)?(rest|graphql)\.ts$/
const graphqlDoors = /^src\/modules\/(.+\/)?([\w-]+-)?graphql\.ts$/
const repositories = /^src\/(.+\/)?repository\.ts$/
const inDatabase = /^src\/database\//
const inLists = /^src\/lists\//
const maybePromises = /^src\/core\/maybe-promise\.ts$/
/** Where queries are built: from what a noun declares of a list, too. */
const buildsQueries = /^src\/(database\/|lists\/|(.+\/)?repository\.ts$)/
const engines = /^src\/database\/(sqlite|postgres)\//
const inRest = /^src\/rest\/|^src\/modules\/(.+\/)?([\w-]+-)?rest\.ts$/
const inServer = /^src\/(server|console)\//
const inGraphql = /^src\/graphql\/|^src\/modules\/(.+\/)?([\w-]+-)?graphql\.ts$/
const graphqlOfServer = /^src\/server\/(graphql\/[\w-]+|pages\/graphiql-page)\.ts$/
const statuses = 'src/core/api/http-status.ts'
const configuration = 'src/app/config.ts'
const inMigrations = /^db\/migrations\//
const opensDatabases = 'src/app/open-database.ts'
const operators = /^src\/(cli|demo)\//
const roots = /^src\/(app\/|cli\/|server\/host\.ts$)/

/** What a door of GraphQL takes from another: its types, which know what loads them and what they are called. */
const edges = /^[A-Z]/

/** Lines that a door may have. */
const longestDoor = 260

/** What builds queries: only repositories and `database/` may take these from `database/query.ts`. */
const builders = [
  'query',
  'queryOne',
  'queryWithFilters',
  'statement',
  'statementOne',
  'insertRow',
  'selectFrom',
  'insertInto',
  'updateTable',
  'deleteFrom',
  'listParam',
]

/** What is wrong with a file by one rule. */
type Rule = (file: Source) => readonly (string | false)[]

/** Every breach of the house rules about imports and forms, as `path: what is wrong`. */
export function findLayerViolations(sources: Sources): string[] {
  return Object.entries(sources).flatMap(([path, text]) => {
    const file = parseSource(path, text)
    return rules
      .flatMap((rule) => rule(file).filter((breach) => breach !== false))
      .map((breach) => `${path}: ${breach}`)
  })
}

const rules: readonly Rule[] = [
  importsEarlierParts,
  importsDownwards,
  keepsQueriesInRepositories,
  keepsPackagesWhereTheyBelong,
  keepsEnginesInDatabase,
  keepsMigrationsApart,
  keepsHttpInRest,
  readsOnlyItsOwnSources,
  makesNoCode,
  saysWhatLocks,
  hasTheForm,
]

/** House rule 3: between parts imports go to earlier ones only. */
function importsEarlierParts({ path, imports }: Source) {
  return ours(imports).map((imported) => {
    const [own, other] = [layerOf(path), layerOf(imported.path)]
    if (own === null) return `is in no layer that the order knows`
    if (other === null) return `imports ${imported.path}, which is in no layer that the order knows`
    return order.indexOf(other) > order.indexOf(own) && `imports ${imported.path}: ${other} is above ${own}`
  })
}

/** House rule 3: door, operation, repository, database, each of the next only. */
function importsDownwards({ path, imports }: Source) {
  const isDoor = doors.test(path)
  const isRepository = repositories.test(path)
  return ours(imports).map(({ path: imported, names, isType }) => {
    // A type of one module has fields that lead to types of earlier ones.
    const isEdge = graphqlDoors.test(path) && graphqlDoors.test(imported)
    if (doors.test(imported) && !gatherings.test(path) && !isEdge) return `imports the door ${imported}`
    const helper = isEdge && names.find((name) => !edges.test(name))
    if (helper) return `takes ${helper} from the door ${imported}: what several doors need is in the kit`
    if (isDoor && repositories.test(imported)) return `is a door and imports the repository ${imported}`
    if (isDoor && (inDatabase.test(imported) || inLists.test(imported)) && !isType)
      return `is a door and imports the database`
    if (
      isRepository &&
      ![inDatabase, inLists, maybePromises, repositories].some((low) => low.test(imported)) &&
      !isType
    )
      return `is a repository and imports ${imported}`
    return roots.test(imported) && !roots.test(path) && `imports ${imported}, which puts the program together`
  })
}

/** House rule 4: only repositories query. */
function keepsQueriesInRepositories({ path, imports }: Source) {
  if (buildsQueries.test(path)) return []
  return imports.map(({ path: imported, names }) => {
    const taken = imported === 'src/database/query.ts' ? names.filter((name) => builders.includes(name)) : []
    return taken.length > 0 && `builds queries (${taken.join(', ')}) and is no repository`
  })
}

const homes: readonly { readonly packages: RegExp; readonly home: RegExp; readonly where: string }[] = [
  { packages: /^decimal\.js$/, home: /^src\/core\/money\//, where: 'core/money/' },
  { packages: /^(better-sqlite3|pg|pg-protocol)$/, home: engines, where: 'an engine of database/' },
  {
    packages: /^kysely(\/|$)/,
    home: /^src\/(database\/|lists\/|(.+\/)?repository\.ts$)|^db\/migrations\//,
    where: 'database/, lists/ and repositories',
  },
  {
    packages: /^(fastify|@fastify\/.*)$/,
    home: /^src\/(server|graphql|console)\//,
    where: 'server/, graphql/ and console/',
  },
  {
    packages: /^node:http$/,
    home: /^src\/(server|graphql|modules\/webhooks\/transport)\//,
    where: 'server/, graphql/ and modules/webhooks/transport/',
  },
  { packages: /^node:https$/, home: /^src\/modules\/webhooks\/transport\//, where: 'modules/webhooks/transport/' },
  {
    packages: /^(graphql|graphql-.*|@pothos\/.*|@graphql-.*|dataloader)(\/.*)?$/,
    home: new RegExp(`${inGraphql.source}|${graphqlOfServer.source}`),
    where: 'graphql/, each graphql.ts and what serves it',
  },
  { packages: /^ibantools$/, home: /^src\/modules\/payout-methods\/checks\//, where: 'modules/payout-methods/checks/' },
  { packages: /^(csv-parse|saxes)$/, home: /^src\/modules\/rails\//, where: 'modules/rails/' },
  { packages: /^(commander|cli-progress|string-width)$/, home: /^src\/cli\//, where: 'cli/' },
  { packages: /^@scalar\//, home: /^src\/server\/pages\//, where: 'server/pages/' },
  { packages: /^(node:)?process$/, home: /^src\/app\/config\.ts$/, where: 'config.ts' },
  { packages: /^prom-client$/, home: /^src\/observability\/metrics\//, where: 'observability/metrics/' },
  { packages: /^@opentelemetry\//, home: /^src\/observability\/tracing\//, where: 'observability/tracing/' },
  { packages: /^pino$/, home: /^src\/app\/logger\.ts$/, where: 'logger.ts' },
]

/** House rule 4: a package of one purpose is imported where that purpose is. */
function keepsPackagesWhereTheyBelong({ path, imports }: Source) {
  return imports.map(({ from }) => {
    const home = homes.find(({ packages }) => packages.test(from))
    return home !== undefined && !home.home.test(path) && `imports ${from}, which belongs to ${home.where}`
  })
}

/** House rule 4: only `database/` knows which engine it is, and only what puts the program together opens it. */
function keepsEnginesInDatabase({ path, imports }: Source) {
  return ours(imports).map(({ path: imported }) => {
    if (engines.test(imported) && !inDatabase.test(path)) return `imports the engine ${imported}`
    return imported === 'src/database/engines.ts' && !roots.test(path) && 'opens a database'
  })
}

/** House rule 3: migrations take only types from `src`, and one file hands them to the engines. */
function keepsMigrationsApart({ path, imports }: Source) {
  return ours(imports).map(({ path: imported, isType }) => {
    if (inMigrations.test(path))
      return !inMigrations.test(imported) && !isType && `is a migration and imports ${imported}`
    return inMigrations.test(imported) && path !== opensDatabases && 'imports migrations, which are handed in'
  })
}

/** House rule 15: no HTTP status outside the doors. */
function keepsHttpInRest({ path, code, imports }: Source) {
  if (inRest.test(path) || inServer.test(path) || path === statuses) return []
  const status = /\bstatus(?:Code)?\b\W{1,5}[1-5]\d\d\b|\.(?:code|status|writeHead)\(\s*[1-5]\d\d\b/.exec(code)?.[0]
  const hasTakenStatus = imports.some(({ names }) => names.includes('httpStatusByCode'))
  return [status !== undefined && `knows an HTTP status (${status})`, hasTakenStatus && 'knows HTTP statuses']
}

const readsEnvironment = /\bprocess\s*(\??\.\s*env\b|(\?\.)?\[)|=\s*process\s*(;|\n|$)|\bimport\.meta\.env\b/

/** House rules 4 and 10: the environment, time and randomness each have one source. */
function readsOnlyItsOwnSources({ path, code }: Source) {
  const isTool = operators.test(path)
  return [
    path !== configuration && readsEnvironment.test(code) && 'reads the environment',
    path !== 'src/core/ids-and-clock.ts' &&
      !isTool &&
      /\bDate\.now\b|\bnew Date\(\s*\)/.test(code) &&
      'has a clock of its own',
    // An engine waits for a random time before it tries again: nothing that is stored depends on it.
    path !== 'src/core/ids-and-clock.ts' &&
      !engines.test(path) &&
      /\bMath\.random\b|\brandomUUID\b/.test(code) &&
      'has a randomness of its own',
  ]
}

const makesCode =
  /\b(?:Async|Generator|AsyncGenerator)?Function\s*(?:\(|\.\s*(?:call|apply|bind)\b)|\beval\b|\bReflect\.construct\b/

/** No text becomes code: what a caller wrote could reach it. An engine makes its readers of rows of our own names. */
function makesNoCode({ path, code, imports }: Source) {
  if (engines.test(path)) return []
  const found = makesCode.exec(code)?.[0]
  return [
    found !== undefined && `makes code of text (${found})`,
    ...imports.map(({ from }) => /^(node:)?vm$/.test(from) && `imports ${from}, which makes code of text`),
  ]
}

/** House rule 12: what holds a row until the transaction ends says so in its name. */
function saysWhatLocks({ code }: Source) {
  const declared = code.split(/\n(?=(?:export\s+)?(?:async\s+)?(?:function|const)\s)/)
  return declared.map((text) => {
    const [, name = ''] = /\b(?:function|const)\s+(\w+)/.exec(text) ?? []
    const isSaid = /^(shareL|l)ock/.test(name)
    if (/\.for(NoKeyUpdate|Update|Share|KeyShare)\(/.test(text) && !isSaid)
      return `${name} locks, and its name does not say so`
    const isRead = /^(find|get|list|require)/.test(name)
    return isRead && /\b(lock|shareLock)[A-Z]\w*\b/.test(text) && `${name} locks, and its name does not say so`
  })
}

/** House rules 5 and 13: functions, named exports, no barrels, `.ts` in imports, types and not interfaces, no long doors. */
function hasTheForm({ path, text, nodes, program, imports }: Source) {
  const fromPackages = new Set(imports.filter((each) => each.path === null).flatMap(({ names }) => names))
  const isAllowed = (parent: string) =>
    /(^|\.)\w*Error$|^DomainError$/.test(parent) || fromPackages.has(parent.split('.')[0] as string)
  const lineCount = text.split('\n').length - 1
  return [
    ...nodes.filter(isClass).map(({ id, superClass: parent }) => {
      const extended = parent === null ? '' : text.slice((parent as Node).start, (parent as Node).end)
      return !isAllowed(extended) && `declares the class ${id === null ? '(nameless)' : (id as Node).name}`
    }),
    nodes.some(isDefaultExport) && 'has a default export',
    program.some(isBarrel) && 'is a barrel: it exports what another file declares',
    program.map(declaredIn).some(({ type }) => type === 'TSInterfaceDeclaration') && 'declares an interface',
    nodes.some(isNotErasable) && 'has syntax that is not erasable',
    ...imports.map(({ from }) => from.startsWith('.') && !/\.(ts|json)$/.test(from) && `imports ${from} without .ts`),
    path.startsWith('src/') && path.endsWith('/index.ts') && 'is a barrel by its name',
    graphqlDoors.test(path) && lineCount > longestDoor && `is a door of ${lineCount} lines, of ${longestDoor} at most`,
  ]
}

function isClass({ type }: Node): boolean {
  return type === 'ClassDeclaration' || type === 'ClassExpression'
}

function isDefaultExport({ type, exported }: Node): boolean {
  return (
    type === 'ExportDefaultDeclaration' || (type === 'ExportSpecifier' && (exported as Node | null)?.name === 'default')
  )
}

function isBarrel({ type, source }: Node): boolean {
  return type === 'ExportAllDeclaration' || (type === 'ExportNamedDeclaration' && source !== null)
}

/** An enum, a namespace, or a parameter that is a property; a library's module that is widened is none. */
function isNotErasable({ type, kind }: Node): boolean {
  return (
    type === 'TSEnumDeclaration' ||
    type === 'TSParameterProperty' ||
    (type === 'TSModuleDeclaration' && kind === 'namespace')
  )
}

/** The names that each noun's folder may have a file of. */
const namesOfNouns = /^src\/(modules|operations|observability|demo)\/(.+\/)?(repository|rest|graphql|list)\.ts$/

/** How many files stand loose in `src`; whatever else there is, is in the folder of what it is for. */
const looseFiles = 2

/** Every breach of the layout by the files of `src`: a crowd at its root, or two files of one name. */
export function breachesOfLayout(paths: readonly string[]): string[] {
  const loose = paths.filter((path) => /^src\/[^/]+$/.test(path))
  const named = Map.groupBy(
    paths.filter((path) => !namesOfNouns.test(path)),
    (path) => basename(path),
  )
  const twins = [...named].filter(([, found]) => found.length > 1)
  return [
    ...(loose.length > looseFiles ? [`src/ has ${loose.length} files, of which ${looseFiles} may stand loose`] : []),
    ...twins.map(([name, found]) => `${name} is the name of ${found.join(' and ')}`),
  ]
}

/** The packages that files import. */
export function packagesOf(sources: Sources): string[] {
  const imported = Object.entries(sources).flatMap(([path, text]) => parseSource(path, text).imports)
  const packages = imported.filter(({ from, path }) => path === null && !from.startsWith('node:'))
  return [...new Set(packages.map(({ from }) => from.split('/', from.startsWith('@') ? 2 : 1).join('/')))]
}

/** Every circle of imports, those of types too, as its files in alphabetical order: whoever reads one of them reads all. */
export function findImportCycles(sources: Sources): string[] {
  const imports = new Map(
    Object.entries(sources).map(([path, text]) => [
      path,
      ours(parseSource(path, text).imports).map(({ path }) => path),
    ]),
  )
  const reached = new Map([...imports.keys()].map((path) => [path, reachedFrom(path, imports)]))
  const circles = [...reached].map(([path, found]) =>
    [...found].filter((other) => reached.get(other)?.has(path)).sort(),
  )
  return [...new Set(circles.filter((circle) => circle.length > 0).map((circle) => circle.join(', ')))]
}

/** The files that a file leads to; itself only where it is in a circle. */
function reachedFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>()
  const ahead = [start]
  for (let path = ahead.pop(); path !== undefined; path = ahead.pop()) {
    const fresh = (imports.get(path) ?? []).filter((other) => !reached.has(other))
    for (const other of fresh) reached.add(other)
    ahead.push(...fresh)
  }
  return reached
}

/** The imports that lead to files of ours. */
function ours(imports: readonly Import[]): (Import & { path: string })[] {
  return imports.filter((each): each is Import & { path: string } => each.path !== null)
}

/** The layer that a file belongs to; `null` for one that the order does not know. */
function layerOf(path: string): (typeof order)[number] | null {
  const name = path.replace(/^(src|db)\//, '')
  const [layer] = order.filter((prefix) => name.startsWith(prefix)).toSorted((one, other) => other.length - one.length)
  return layer ?? null
}
