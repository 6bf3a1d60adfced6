import { basename } from 'node:path'
import type { Import, Node, Source, Sources } from './source.ts'
import { declaredIn, parseSource } from './source.ts'

/**
 * The layers of `src` and `db`, earliest first: a file may import its own layer and earlier ones (house rule 3). The longest
 * entry that is a prefix of a path is its layer.
 */
export const layers = [
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
  'modules/imports/',
  'modules/rail-orders/',
  'modules/payouts/',
  'modules/transactions/',
  'modules/exports/',
  'modules/webhooks/transport/',
  'modules/webhooks/endpoints/',
  'modules/rails/',
  'modules/events/',
  'modules/search/',
  'modules/operators/',
  'modules/webhooks/dispatcher/',
  'modules/payout-statistics/',
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

/** The two files that list the API files of every module. */
const apiRegistries = /^src\/server\/(rest\/routes|graphql\/schema)\.ts$/

// `rest.ts`, `graphql.ts`, and the files that a long one is split into, such as `create-payout-graphql.ts`.
const apiFiles = /^src\/modules\/(.+\/)?([\w-]+-)?(rest|graphql)\.ts$/
const graphqlFiles = /^src\/modules\/(.+\/)?([\w-]+-)?graphql\.ts$/
const repositories = /^src\/(.+\/)?repository\.ts$/
const inDatabase = /^src\/database\//
const inLists = /^src\/lists\//
const maybePromises = /^src\/core\/maybe-promise\.ts$/
const inModules = /^src\/modules\//
const maybeTypes = /\b(MaybePromise|mapMaybe)\b/
/** The files that may build queries. */
const buildsQueries = /^src\/(database\/|lists\/|(.+\/)?repository\.ts$)/
const engines = /^src\/database\/(sqlite|postgres)\//
const inRest = /^src\/rest\/|^src\/modules\/(.+\/)?([\w-]+-)?rest\.ts$/
/** `contract check` and `import` are clients of the REST API. */
const restClient = /^src\/cli\/(contract|import)\//
const inServer = /^src\/(server|console)\//
/** Who the operators are and what they have done, which no credential of a merchant may reach. */
const ofOperators =
  /^src\/modules\/operators\/(operator|manage-operators|sign-in|record-action|list-operator-actions|repository)\.ts$/
const reachedByCallers = /^src\/(server|rest|graphql)\//
const inGraphql = /^src\/graphql\/|^src\/modules\/(.+\/)?([\w-]+-)?graphql\.ts$/
const graphqlOfServer = /^src\/server\/(graphql\/[\w-]+|pages\/graphiql-page)\.ts$/
const statusTable = 'src/core/api/http-status.ts'
const configurationFile = 'src/app/config.ts'
const inMigrations = /^db\/migrations\//
const databaseOpener = 'src/app/open-database.ts'
const operatorTools = /^src\/(cli|demo)\//
const compositionRoots = /^src\/(app\/|cli\/|server\/host\.ts$)/

/** A GraphQL file may import only types of the schema from another; their names are capitalized. */
const schemaType = /^[A-Z]/

/** The maximum number of lines of a GraphQL file of a module. */
const maxGraphqlFileLines = 250

/** The functions of `database/query.ts` that build queries. */
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

/** Returns the violations of one rule by a file, and `false` for each check that passes. */
type Rule = (file: Source) => readonly (string | false)[]

/** Returns every violation of the house rules about imports and form, as `path: violation`. */
export function findLayerViolations(sources: Sources): string[] {
  return Object.entries(sources).flatMap(([path, text]) => {
    const file = parseSource(path, text)
    return rules
      .flatMap((rule) => rule(file).filter((violation) => violation !== false))
      .map((violation) => `${path}: ${violation}`)
  })
}

const rules: readonly Rule[] = [
  importsEarlierLayers,
  importsTowardsDatabase,
  keepsQueriesInRepositories,
  keepsPackagesInTheirFolders,
  keepsEnginesInDatabase,
  isolatesMigrations,
  keepsHttpInApis,
  readsNoGlobalSource,
  compilesNoText,
  namesWhatLocks,
  hasRequiredForm,
]

/** House rule 3: a layer imports only itself and earlier layers. */
function importsEarlierLayers({ path, imports }: Source) {
  return ownImports(imports).map((imported) => {
    const [own, other] = [layerOf(path), layerOf(imported.path)]
    if (own === null) return `is in no known layer`
    if (other === null) return `imports ${imported.path}, which is in no known layer`
    return (
      layers.indexOf(other) > layers.indexOf(own) && `imports ${imported.path}: ${other} is a later layer than ${own}`
    )
  })
}

/** House rule 3: imports go from API to operation to repository to database. */
function importsTowardsDatabase({ path, imports }: Source) {
  const isApiFile = apiFiles.test(path)
  const isRepository = repositories.test(path)
  return ownImports(imports).map(({ path: imported, names, isType }) => {
    // A type adds fields to the types of earlier modules, so one GraphQL file may import types from another.
    const isEdge = graphqlFiles.test(path) && graphqlFiles.test(imported)
    if (apiFiles.test(imported) && !apiRegistries.test(path) && !isEdge) return `imports the API file ${imported}`
    if (ofOperators.test(imported) && (isApiFile || reachedByCallers.test(path)))
      return `imports ${imported}: nothing about operators is for callers of the APIs`
    const helper = isEdge && names.find((name) => !schemaType.test(name))
    if (helper)
      return `imports ${helper} from the API file ${imported}: code that several API files share belongs in the toolkit`
    if (isApiFile && repositories.test(imported)) return `is an API file and imports the repository ${imported}`
    if (isApiFile && (inDatabase.test(imported) || inLists.test(imported)) && !isType)
      return `is an API file and imports the database`
    if (
      isRepository &&
      ![inDatabase, inLists, maybePromises, repositories].some((low) => low.test(imported)) &&
      !isType
    )
      return `is a repository and imports ${imported}`
    return (
      compositionRoots.test(imported) &&
      !compositionRoots.test(path) &&
      `imports ${imported}, which assembles the program`
    )
  })
}

/** House rule 4: only repositories and lists build queries. */
function keepsQueriesInRepositories({ path, imports }: Source) {
  if (buildsQueries.test(path)) return []
  return imports.map(({ path: imported, names }) => {
    const used = imported === 'src/database/query.ts' ? names.filter((name) => builders.includes(name)) : []
    return used.length > 0 && `builds queries (${used.join(', ')}) but is not a repository`
  })
}

const packageHomes: readonly { readonly packages: RegExp; readonly home: RegExp; readonly where: string }[] = [
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
  { packages: /^find-my-way$/, home: /^src\/server\/http\//, where: 'server/http/' },
  {
    packages: /^node:http$/,
    home: /^src\/(server|graphql|modules\/webhooks\/transport)\//,
    where: 'server/, graphql/ and modules/webhooks/transport/',
  },
  { packages: /^node:https$/, home: /^src\/modules\/webhooks\/transport\//, where: 'modules/webhooks/transport/' },
  {
    packages: /^(graphql|graphql-.*|@pothos\/.*|@graphql-.*|dataloader)(\/.*)?$/,
    home: new RegExp(`${inGraphql.source}|${graphqlOfServer.source}`),
    where: 'graphql/, each graphql.ts and server/graphql/',
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

/** House rule 4: a package with one purpose is imported only in the folder of that purpose. */
function keepsPackagesInTheirFolders({ path, imports }: Source) {
  return imports.map(({ from }) => {
    const home = packageHomes.find(({ packages }) => packages.test(from))
    return home !== undefined && !home.home.test(path) && `imports ${from}, which belongs to ${home.where}`
  })
}

/** House rule 4: only `database/` knows which engine runs, and only a composition root opens a database. */
function keepsEnginesInDatabase({ path, imports }: Source) {
  return ownImports(imports).map(({ path: imported }) => {
    if (engines.test(imported) && !inDatabase.test(path)) return `imports the engine ${imported}`
    return imported === 'src/database/engines.ts' && !compositionRoots.test(path) && 'opens a database'
  })
}

/** Migrations import only types from `src`, and one file passes them to the engines. */
function isolatesMigrations({ path, imports }: Source) {
  return ownImports(imports).map(({ path: imported, isType }) => {
    if (inMigrations.test(path))
      return !inMigrations.test(imported) && !isType && `is a migration and imports ${imported}`
    return (
      inMigrations.test(imported) &&
      path !== databaseOpener &&
      `imports migrations, which ${databaseOpener} passes to the engines`
    )
  })
}

/** House rule 15: no HTTP status outside the APIs. */
function keepsHttpInApis({ path, code, imports }: Source) {
  if ([inRest, inServer, restClient].some((each) => each.test(path)) || path === statusTable) return []
  const status = /\bstatus(?:Code)?\b\W{1,5}[1-5]\d\d\b|\.(?:code|status|writeHead)\(\s*[1-5]\d\d\b/.exec(code)?.[0]
  const importsStatus = imports.some(({ names }) => names.includes('httpStatusByCode'))
  return [
    status !== undefined && `knows an HTTP status (${status})`,
    importsStatus && 'imports the table of HTTP statuses',
  ]
}

const readsEnvironment = /\bprocess\s*(\??\.\s*env\b|(\?\.)?\[)|=\s*process\s*(;|\n|$)|\bimport\.meta\.env\b/

/** House rules 4 and 10: the environment, the clock and randomness are each read in one file. */
function readsNoGlobalSource({ path, code }: Source) {
  const isTool = operatorTools.test(path)
  return [
    path !== configurationFile && readsEnvironment.test(code) && 'reads the environment',
    path !== 'src/core/ids-and-clock.ts' &&
      !isTool &&
      /\bDate\.now\b|\bnew Date\(\s*\)/.test(code) &&
      'reads the clock outside src/core/ids-and-clock.ts',
    // Engines use a random backoff, which no stored value depends on.
    path !== 'src/core/ids-and-clock.ts' &&
      !engines.test(path) &&
      /\bMath\.random\b|\brandomUUID\b/.test(code) &&
      'generates random values outside src/core/ids-and-clock.ts',
  ]
}

const compilesText =
  /\b(?:Async|Generator|AsyncGenerator)?Function\s*(?:\(|\.\s*(?:call|apply|bind)\b)|\beval\b|\bReflect\.construct\b/

/** Compiling text to code is forbidden because a caller's input could reach it. Engines compile row readers from our own names. */
function compilesNoText({ path, code, imports }: Source) {
  if (engines.test(path)) return []
  const match = compilesText.exec(code)?.[0]
  return [
    match !== undefined && `compiles text to code (${match})`,
    ...imports.map(({ from }) => /^(node:)?vm$/.test(from) && `imports ${from}, which compiles text to code`),
  ]
}

/** House rule 12: the name of a function that locks a row until the transaction ends says so. */
function namesWhatLocks({ code }: Source) {
  const declared = code.split(/\n(?=(?:export\s+)?(?:async\s+)?(?:function|const)\s)/)
  return declared.map((text) => {
    const [, name = ''] = /\b(?:function|const)\s+(\w+)/.exec(text) ?? []
    const namesLock = /^(shareL|l)ock/.test(name)
    if (/\.for(NoKeyUpdate|Update|Share|KeyShare)\(/.test(text) && !namesLock)
      return `${name} locks a row, but its name does not say so`
    const isRead = /^(find|get|list|require)/.test(name)
    return isRead && /\b(lock|shareLock)[A-Z]\w*\b/.test(text) && `${name} locks a row, but its name does not say so`
  })
}

/** House rules 5 and 13: functions, named exports, no barrels, `.ts` in imports, `type` instead of `interface`, short GraphQL files. */
function hasRequiredForm({ path, text, code, nodes, program, imports }: Source) {
  const fromPackages = new Set(imports.filter((each) => each.path === null).flatMap(({ names }) => names))
  const isAllowed = (parent: string) =>
    /(^|\.)\w*Error$|^DomainError$/.test(parent) || fromPackages.has(parent.split('.')[0] as string)
  const lineCount = text.split('\n').length - 1
  return [
    ...nodes.filter(isClass).map(({ id, superClass: parent }) => {
      const extended = parent === null ? '' : text.slice((parent as Node).start, (parent as Node).end)
      return !isAllowed(extended) && `declares the class ${id === null ? '(anonymous)' : (id as Node).name}`
    }),
    nodes.some(isDefaultExport) && 'has a default export',
    program.some(isBarrel) && 'is a barrel: it re-exports declarations of another file',
    program.map(declaredIn).some(({ type }) => type === 'TSInterfaceDeclaration') && 'declares an interface',
    nodes.some(isNotErasable) && 'has TypeScript syntax that is not erasable',
    ...imports.map(({ from }) => from.startsWith('.') && !/\.(ts|json)$/.test(from) && `imports ${from} without .ts`),
    path.startsWith('src/') && path.endsWith('/index.ts') && 'is named like a barrel',
    inModules.test(path) && maybeTypes.test(code) && 'handles values that may be promises, instead of async and await',
    graphqlFiles.test(path) &&
      lineCount > maxGraphqlFileLines &&
      `is a GraphQL file of ${lineCount} lines; the maximum is ${maxGraphqlFileLines}`,
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

/** Returns true for an enum, a namespace or a parameter property. A module augmentation is erasable. */
function isNotErasable({ type, kind }: Node): boolean {
  return (
    type === 'TSEnumDeclaration' ||
    type === 'TSParameterProperty' ||
    (type === 'TSModuleDeclaration' && kind === 'namespace')
  )
}

/** File names that may occur once in each module's folder. */
const repeatableNames = /^src\/(modules|operations|observability|demo)\/(.+\/)?(repository|rest|graphql|list)\.ts$/

/** The maximum number of files directly in `src`: the two entry points. */
const maxRootFiles = 2

/** Returns the violations of the layout of `src` (house rule 2): too many files at its root, or two files with one name. */
export function findLayoutViolations(paths: readonly string[]): string[] {
  const rootFiles = paths.filter((path) => /^src\/[^/]+$/.test(path))
  const byName = Map.groupBy(
    paths.filter((path) => !repeatableNames.test(path)),
    (path) => basename(path),
  )
  const duplicates = [...byName].filter(([, files]) => files.length > 1)
  return [
    ...(rootFiles.length > maxRootFiles
      ? [`src/ has ${rootFiles.length} files at its root; the maximum is ${maxRootFiles}`]
      : []),
    ...duplicates.map(([name, files]) => `the name ${name} is used by ${files.join(' and ')}`),
  ]
}

/** Returns the names of the npm packages that the sources import. */
export function packagesOf(sources: Sources): string[] {
  const imported = Object.entries(sources).flatMap(([path, text]) => parseSource(path, text).imports)
  const packages = imported.filter(({ from, path }) => path === null && !from.startsWith('node:'))
  return [...new Set(packages.map(({ from }) => from.split('/', from.startsWith('@') ? 2 : 1).join('/')))]
}

/** Returns every import cycle, including cycles of type imports, as the sorted paths of its files. */
export function findImportCycles(sources: Sources): string[] {
  const imports = new Map(
    Object.entries(sources).map(([path, text]) => [
      path,
      ownImports(parseSource(path, text).imports).map(({ path }) => path),
    ]),
  )
  const reached = new Map([...imports.keys()].map((path) => [path, reachedFrom(path, imports)]))
  const cycles = [...reached].map(([path, targets]) =>
    [...targets].filter((other) => reached.get(other)?.has(path)).sort(),
  )
  return [...new Set(cycles.filter((cycle) => cycle.length > 0).map((cycle) => cycle.join(', ')))]
}

/** Returns the files that a file imports directly or indirectly; itself only if it is part of a cycle. */
function reachedFrom(start: string, imports: ReadonlyMap<string, readonly string[]>): Set<string> {
  const reached = new Set<string>()
  const pending = [start]
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const fresh = (imports.get(path) ?? []).filter((other) => !reached.has(other))
    for (const other of fresh) reached.add(other)
    pending.push(...fresh)
  }
  return reached
}

/** Returns the imports of files of this repository. */
function ownImports(imports: readonly Import[]): (Import & { path: string })[] {
  return imports.filter((each): each is Import & { path: string } => each.path !== null)
}

/** Returns the layer of a file, or `null` if `layers` does not list it. */
function layerOf(path: string): (typeof layers)[number] | null {
  const name = path.replace(/^(src|db)\//, '')
  const [layer] = layers.filter((prefix) => name.startsWith(prefix)).toSorted((one, other) => other.length - one.length)
  return layer ?? null
}
