import { basename, dirname, join, normalize } from 'node:path'

/** Source files by their path from the project's root, such as `src/payouts/rest.ts`. */
export type Sources = Readonly<Record<string, string>>

/** One import (or re-export) of a file; `names` are those that it takes as values, none when only types are taken. */
export type Import = {
  readonly from: string
  /** The path of a file of ours, or `null` for a package. */
  readonly path: string | null
  readonly names: readonly string[]
  readonly isType: boolean
}

/**
 * The parts of `src`, each of which may import itself and those before it (house rule 3). A part is a folder or a file at
 * the top: what everything is written with, the kits of the doors, the nouns, what puts all doors together, the program.
 */
export const order = [
  'ids',
  'money',
  'errors',
  'input',
  'doors',
  'database',
  'callers',
  'secrets',
  'context',
  'lists',
  'rest',
  'graphql',
  'ledger',
  'installation',
  'trusted-documents',
  'idempotency',
  'events',
  'networks',
  'merchants',
  'asset-codes',
  'customers',
  'client-tokens',
  'rates',
  'fees',
  'wallets',
  'deposits',
  'payout-methods',
  'payout-transfers',
  'payouts',
  'exports',
  'delivery',
  'webhooks',
  'rails',
  'feed',
  'operators',
  'dispatch',
  'seals',
  'audit',
  'diagnoses',
  'server',
  'metrics',
  'tracing',
  'console',
  'fill',
  'demo',
  'app',
] as const

/** The files that name every noun's door. */
const gatherings = /^src\/server\/(rest-routes|graphql-schema)\.ts$/

// A noun's door, and the further ones that it has for what would make that too long: `create-payout-graphql.ts`.
const doors = /^src\/(?!rest\/|graphql\/|server\/)[^/]+\/([\w-]+-)?(rest|graphql)\.ts$/
const graphqlDoors = /^src\/(?!rest\/|graphql\/|server\/)[^/]+\/([\w-]+-)?graphql\.ts$/
const repositories = /^src\/[^/]+\/repository\.ts$/
const inDatabase = /^src\/database\//
const inLists = /^src\/lists\//
/** Where queries are built: from what a noun declares of a list, too. */
const buildsQueries = /^src\/(database\/|lists\/|[^/]+\/repository\.ts$)/
const engines = /^src\/database\/(sqlite|postgres)\//
const inRest = /^src\/rest\/|^src\/[^/]+\/([\w-]+-)?rest\.ts$/
const inServer = /^src\/(server|console)\//
const inGraphql = /^src\/graphql\/|^src\/[^/]+\/([\w-]+-)?graphql\.ts$/
const graphqlOfServer = /^src\/server\/(graphql-[\w-]+|pages\/graphiql-page)\.ts$/
const statuses = 'src/doors/http-status.ts'
const configuration = 'src/app/config.ts'
const operators = /^src\/(app\/cli(\/|\.ts$)|fill\/)|^db\/demo\//
const roots = /^src\/(app\/|server\/host\.ts$)/

/** What a door of GraphQL takes from another: its types, which know what loads them and what they are called. */
const edges = /^[A-Z]/

/** Lines that a door may have. */
const longestDoor = 250

/** What builds queries: only repositories and `database/` may take these from `database/query.ts`. */
const builders = [
  'query',
  'queryOne',
  'queryWithFilters',
  'statement',
  'statementOne',
  'insertRow',
  'from',
  'into',
  'change',
  'remove',
  'list',
]

type File = {
  readonly path: string
  readonly code: string
  readonly lineCount: number
  readonly imports: readonly Import[]
}

type Rule = (file: File) => readonly (string | false)[]

/** Every breach of the house rules about imports and forms, as `path: what is wrong`. */
export function breachesOf(sources: Sources): string[] {
  return Object.entries(sources).flatMap(([path, source]) => {
    const lineCount = source.split('\n').length - 1
    const file = { path, code: withoutCommentsAndTexts(source), lineCount, imports: importsOf(path, source) }
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
  keepsHttpInRest,
  readsOnlyItsOwnSources,
  makesNoCode,
  saysWhatLocks,
  hasTheForm,
]

/** House rule 3: between parts imports go to earlier ones only. */
function importsEarlierParts({ path, imports }: File) {
  return ours(imports).map((imported) => {
    const [own, other] = [partOf(path), partOf(imported.path)]
    if (own === null) return `is in no part that the order knows`
    if (other === null) return `imports ${imported.path}, which is in no part that the order knows`
    // The database begins with its migrations, which know nothing of it but their own type.
    return order.indexOf(other) > order.indexOf(own) && `imports ${imported.path}: ${other} comes after ${own}`
  })
}

/** House rule 3: door, operation, repository, database, each of the next only. */
function importsDownwards({ path, imports }: File) {
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
    if (isRepository && !inDatabase.test(imported) && !inLists.test(imported) && !isType)
      return `is a repository and imports ${imported}`
    return roots.test(imported) && !roots.test(path) && `imports ${imported}, which puts the program together`
  })
}

/** House rule 4: only repositories query. */
function keepsQueriesInRepositories({ path, imports }: File) {
  if (buildsQueries.test(path)) return []
  return imports.map(({ path: imported, names }) => {
    const taken = imported === 'src/database/query.ts' ? names.filter((name) => builders.includes(name)) : []
    return taken.length > 0 && `builds queries (${taken.join(', ')}) and is no repository`
  })
}

const homes: readonly { readonly packages: RegExp; readonly home: RegExp; readonly where: string }[] = [
  { packages: /^decimal\.js$/, home: /^src\/money\//, where: 'money/' },
  { packages: /^(better-sqlite3|pg|pg-protocol)$/, home: engines, where: 'an engine of database/' },
  {
    packages: /^kysely(\/|$)/,
    home: /^src\/(database\/|lists\/|[^/]+\/repository\.ts$)|^db\/migrations\//,
    where: 'database/, lists/ and repositories',
  },
  {
    packages: /^(fastify|@fastify\/.*)$/,
    home: /^src\/(server|graphql|console)\//,
    where: 'server/, graphql/ and console/',
  },
  {
    packages: /^node:http$/,
    home: /^src\/(server|graphql|delivery)\//,
    where: 'server/, graphql/ and delivery/',
  },
  { packages: /^(node:https|request-filtering-agent)$/, home: /^src\/delivery\//, where: 'delivery/' },
  {
    packages: /^(graphql|graphql-.*|@pothos\/.*|@graphql-.*|dataloader)(\/.*)?$/,
    home: new RegExp(`${inGraphql.source}|${graphqlOfServer.source}`),
    where: 'graphql/, each graphql.ts and what serves it',
  },
  { packages: /^ibantools$/, home: /^src\/payout-methods\/checks\//, where: 'payout-methods/checks/' },
  { packages: /^(csv-parse|saxes)$/, home: /^src\/rails\//, where: 'rails/' },
  { packages: /^(node:)?process$/, home: /^src\/app\/config\.ts$/, where: 'config.ts' },
  { packages: /^prom-client$/, home: /^src\/metrics\//, where: 'metrics/' },
  { packages: /^@opentelemetry\//, home: /^src\/tracing\//, where: 'tracing/' },
  { packages: /^pino$/, home: /^src\/app\/logger\.ts$/, where: 'logger.ts' },
]

/** House rule 4: a package of one purpose is imported where that purpose is. */
function keepsPackagesWhereTheyBelong({ path, imports }: File) {
  return imports.map(({ from }) => {
    const home = homes.find(({ packages }) => packages.test(from))
    return home !== undefined && !home.home.test(path) && `imports ${from}, which belongs to ${home.where}`
  })
}

/** House rule 4: only `database/` knows which engine it is, and only what puts the program together opens it. */
function keepsEnginesInDatabase({ path, imports }: File) {
  return ours(imports).map(({ path: imported }) => {
    if (engines.test(imported) && !inDatabase.test(path)) return `imports the engine ${imported}`
    return imported === 'src/database/open-database.ts' && !roots.test(path) && 'opens a database'
  })
}

/** House rule 15: no HTTP status outside the doors. */
function keepsHttpInRest({ path, code, imports }: File) {
  if (inRest.test(path) || inServer.test(path) || path === statuses) return []
  const status = /\bstatus(?:Code)?\b\W{1,5}[1-5]\d\d\b|\.(?:code|status|writeHead)\(\s*[1-5]\d\d\b/.exec(code)?.[0]
  const hasTakenStatus = imports.some(({ names }) => names.includes('statusOfCode'))
  return [status !== undefined && `knows an HTTP status (${status})`, hasTakenStatus && 'knows HTTP statuses']
}

const readsEnvironment = /\bprocess\s*(\??\.\s*env\b|(\?\.)?\[)|=\s*process\s*(;|\n|$)|\bimport\.meta\.env\b/

/** House rules 4 and 10: the environment, time and randomness each have one source. */
function readsOnlyItsOwnSources({ path, code }: File) {
  const isTool = operators.test(path)
  return [
    path !== configuration && readsEnvironment.test(code) && 'reads the environment',
    path !== 'src/ids.ts' && !isTool && /\bDate\.now\b|\bnew Date\(\s*\)/.test(code) && 'has a clock of its own',
    // An engine waits for a random time before it tries again: nothing that is stored depends on it.
    path !== 'src/ids.ts' &&
      !engines.test(path) &&
      /\bMath\.random\b|\brandomUUID\b/.test(code) &&
      'has a randomness of its own',
  ]
}

const makesCode =
  /\b(?:Async|Generator|AsyncGenerator)?Function\s*(?:\(|\.\s*(?:call|apply|bind)\b)|\beval\b|\bReflect\.construct\b/

/** No text becomes code: what a caller wrote could reach it. An engine makes its readers of rows of our own names. */
function makesNoCode({ path, code, imports }: File) {
  if (engines.test(path)) return []
  const found = makesCode.exec(code)?.[0]
  return [
    found !== undefined && `makes code of text (${found})`,
    ...imports.map(({ from }) => /^(node:)?vm$/.test(from) && `imports ${from}, which makes code of text`),
  ]
}

/** House rule 12: what holds a row until the transaction ends says so in its name. */
function saysWhatLocks({ code }: File) {
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
function hasTheForm({ path, code, lineCount, imports }: File) {
  const fromPackages = new Set(imports.filter((each) => each.path === null).flatMap(({ names }) => names))
  const classes = [
    ...code.matchAll(/\bclass\s+(?:(?!extends\b)([A-Za-z_$][\w$]*))?\s*(?:extends\s+([\w$.]+))?[^{};]*\{/g),
  ]
  const isAllowed = (parent: string | undefined) =>
    parent !== undefined &&
    (/(^|\.)\w*Error$|^Refusal$/.test(parent) || fromPackages.has(parent.split('.')[0] as string))
  return [
    ...classes.map(([, name, parent]) => !isAllowed(parent) && `declares the class ${name ?? '(nameless)'}`),
    /\bexport\s+default\b|\bexport\s*\{[^}]*\bas\s+default\b/.test(code) && 'has a default export',
    /\bexport\s+(type\s+)?(\*|\{[^}]*\}\s*from\b)/.test(code) && 'is a barrel: it exports what another file declares',
    /(^|\n)(export\s+)?interface\s+\w+/.test(code) && 'declares an interface',
    /(^|\n)\s*(export\s+)?(declare\s+|const\s+)*(enum|namespace)\s+\w+/.test(code) && 'has syntax that is not erasable',
    ...imports.map(({ from }) => from.startsWith('.') && !/\.(ts|json)$/.test(from) && `imports ${from} without .ts`),
    path.startsWith('src/') && path.endsWith('/index.ts') && 'is a barrel by its name',
    graphqlDoors.test(path) && lineCount > longestDoor && `is a door of ${lineCount} lines, of ${longestDoor} at most`,
  ]
}

/** The names that each noun's folder may have a file of. */
const namesOfNouns = /^src\/[^/]+\/(repository|rest|graphql|list)\.ts$/

/** How many files stand loose in `src`; whatever else there is, is in the folder of what it is for. */
const looseFiles = 6

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

/** Every export that nothing mentions, its own file neither, as `path: name`; `others` are sources that may use them too. */
export function unusedExports(sources: Sources, others: readonly string[]): string[] {
  const uses = new Map<string, number>()
  for (const source of [...Object.values(sources), ...others]) {
    for (const [name] of source.matchAll(/\w+/g)) uses.set(name, (uses.get(name) ?? 0) + 1)
  }
  return Object.entries(sources).flatMap(([path, source]) =>
    [...source.matchAll(/^export (?:async )?(?:const|function\*?|type|class) (\w+)/gm)]
      .filter(([, name]) => uses.get(String(name)) === 1)
      .map(([, name]) => `${path}: ${name}`),
  )
}

/** Every circle of imports, those of types too, as its files in alphabetical order: whoever reads one of them reads all. */
export function circlesOf(sources: Sources): string[] {
  const imports = new Map(
    Object.entries(sources).map(([path, source]) => [path, ours(importsOf(path, source)).map(({ path }) => path)]),
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

/** The part that a file belongs to; `null` for one that the order does not know. */
function partOf(path: string): (typeof order)[number] | null {
  const name = /^db\/migrations\//.test(path)
    ? 'database'
    : /^db\/demo\//.test(path)
      ? 'demo'
      : /^src\/([^/]+?)(\.ts|\/)/.exec(path)?.[1]
  return order.find((part) => part === name) ?? null
}

/** Every static and dynamic import, and every re-export, of a file. */
export function importsOf(path: string, source: string): Import[] {
  const code = withoutComments(source)
  const statements = code.matchAll(/(?:^|[;\n])\s*(?:import|export)\s+(type\s+)?([^'";]*?)\bfrom\s*['"]([^'"]+)['"]/g)
  const bare = code.matchAll(/(?:^|[;\n])\s*import\s*['"]([^'"]+)['"]/g)
  const dynamic = code.matchAll(/\b(?:import|require)\s*\(\s*['"]([^'"]+)['"]/g)
  return [
    ...[...statements].map(([, type, clause, from]) =>
      imported(path, String(from), type ? [] : namesIn(String(clause))),
    ),
    ...[...bare, ...dynamic].map(([, from]) => imported(path, String(from), ['*'])),
  ]
}

function imported(path: string, from: string, names: readonly string[]): Import {
  const isOurs = from.startsWith('.')
  const target = isOurs ? normalize(join(dirname(path), from)) : null
  return { from, path: target, names, isType: names.length === 0 }
}

/** The names that an import clause takes as values, as the other file calls them. */
function namesIn(clause: string): string[] {
  const [, listed = ''] = /\{([^}]*)\}/.exec(clause) ?? []
  const named = listed
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(/\s+as\s+/)[0] as string)
  const whole = clause.replace(/\{[^}]*\}/, '').match(/[\w$*]+/g) ?? []
  return [...named, ...whole.filter((name) => name !== 'as')]
}

const literalsAndComments =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(,=:[!&|?{}\n]\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g

function withoutComments(source: string): string {
  return source.replace(literalsAndComments, (found) => (/^\/[/*]/.test(found) ? ' ' : found))
}

/** Texts are emptied, but for what `${}` holds in them, so that no word in a message looks like code. */
function withoutCommentsAndTexts(source: string): string {
  return source.replace(literalsAndComments, (found) => {
    if (/^\/[/*]/.test(found)) return ' '
    if (found.startsWith('/')) return '/regex/'
    if (found.startsWith('`'))
      return `\`${[...found.matchAll(/\$\{([^}]*)\}/g)].map(([, code]) => `\${${code}}`).join('')}\``
    return "''"
  })
}
