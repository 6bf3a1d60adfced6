import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { getIntrospectionQuery } from 'graphql'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { createSecrets } from '../../src/core/secrets/secrets.ts'
import { createRandom } from '../../src/demo/load/fake-data.ts'
import { createEngine } from '../../src/graphql/execution/engine.ts'
import { executeRequest, serializeResult } from '../../src/graphql/execution/execute.ts'
import type { Caller } from '../../src/operations/access/api-caller.ts'
import { systemCaller } from '../../src/operations/access/api-caller.ts'
import { createService } from '../../src/operations/context.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'
import { cpuMs } from '../support/cpu.ts'
import { createBenchDatabase } from './data.ts'
import type { CostedDocument, DocumentPart } from './dearest-documents.ts'
import { createDocumentMaker, documentOf, fullDocument, rootFields } from './dearest-documents.ts'
import { addTroubles, asCustomer, idsOf } from './dearest-world.ts'

// Searches for the document within the limits that takes the most CPU time: of each root field alone, and of several
// together.
//
// `npm run bench:dearest -- [--seconds 180] [--seed 1] [--folder where the data is kept] [--out a file for the documents]`

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '180' },
    seed: { type: 'string', default: '1' },
    folder: { type: 'string' },
    out: { type: 'string' },
    only: { type: 'string' },
  },
})
const seconds = Number(options.seconds)
const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'payout-gateway-'))
const data = await createBenchDatabase(folder, 'dearest', {
  customers: 150,
  methods: 200,
  wallets: 150,
  payouts: 20_000,
})
const path = join(folder, 'dearest-with-troubles.sqlite')
const isNew = !existsSync(path)
if (isNew) copyFileSync(data.path, path)
const db = await openDatabase({ url: `sqlite:${path}`, onFatal: () => {} })
const service = createService({ db, mode: 'sandbox', secrets: createSecrets([Buffer.alloc(32, 7)]) })
const { merchantId, customerId } = data
if (isNew) await addTroubles(service, path, merchantId)
const ids = idsOf(path, merchantId, customerId)
const engine = createEngine(sandboxSchema, { executor: 'planned' })
const log = createLogger('silent', { write: () => {} })
const callers = { merchant: systemCaller, customer: asCustomer(customerId) }
type Who = keyof typeof callers

const random = createRandom(Number(options.seed))
const { partOf, changed } = createDocumentMaker(random)

/** Variables with ids instead of positions. */
function known(value: unknown): unknown {
  if (typeof value === 'string' && value.startsWith('@')) {
    const [type = '', place] = value.slice(1).split(':')
    const of = ids[type] ?? []
    return of[Number(place) % of.length] ?? value
  }
  if (Array.isArray(value)) return value.map(known)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, known(inner)]))
}

async function ask(
  { query, variables }: Pick<CostedDocument, 'query' | 'variables'>,
  caller: Caller,
): Promise<boolean> {
  const context = { service, engine, merchantId, caller, requestId: 'dearest', log }
  const request = { query, variables: known(variables) as Record<string, unknown>, operationName: null }
  const answered = await executeRequest(request, context)
  if (!answered) throw new Error('executeRequest returned no result')
  return serializeResult(answered.result).length > 0 && answered.result.errors === undefined
}

type Measured = { readonly document: CostedDocument; readonly who: Who; readonly ms: number; readonly firstMs: number }

/** The minimum CPU time of a few runs; `null` if the response has errors. Stops early if it is far below `toBeat`. */
async function measured(document: CostedDocument, who: Who, toBeat = 0): Promise<Measured | null> {
  let isRight = true
  const turn = () =>
    cpuMs(async () => {
      isRight = await ask(document, callers[who])
    })
  const firstMs = await turn()
  if (!isRight) return null
  let ms = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    ms = Math.min(ms, await turn())
    if (ms < toBeat * 0.7) break
  }
  return { document, who, ms, firstMs }
}

type Found = Measured & { readonly roots: readonly DocumentPart[]; readonly isVaried: boolean }

async function tried(
  roots: readonly DocumentPart[],
  who: Who,
  isVaried: boolean,
  toBeat: number,
): Promise<Found | null> {
  const document = fullDocument(roots, isVaried)
  const found = document && (await measured(document, who, toBeat))
  return found && { ...found, roots, isVaried }
}

/**
 * The most expensive document of one root field: the best of a few random ones, and then every change that raises its
 * cost.
 */
async function dearestOf(name: string, untilMs: number): Promise<Found | null> {
  let best: Found | null = null
  const begun = performance.now()
  const firstUntil = begun + (untilMs - begun) * 0.4
  while (performance.now() < untilMs) {
    const isMade = best === null || performance.now() < firstUntil || random.chance(0.15)
    const part: DocumentPart = isMade ? partOf(name) : manyChanges(best as Found)
    const who = isMade || random.chance(0.2) ? random.pick(['merchant', 'customer'] as const) : (best as Found).who
    const isVaried = isMade || random.chance(0.2) ? random.chance(0.7) : (best as Found).isVaried
    const next = await tried([part], who, isVaried, best?.ms ?? 0)
    if (next !== null && next.ms > (best?.ms ?? 0)) best = next
  }
  return best
}

function manyChanges({ roots: [root] }: Found): DocumentPart {
  let part = root as DocumentPart
  for (let count = random.integer(1, 3); count > 0; count--) part = changed(part)
  return part
}

const reference: CostedDocument = documentOf([
  {
    name: 'payouts',
    on: 'Query',
    args: { first: 100 },
    parts: [
      {
        name: 'nodes',
        on: 'PayoutConnection',
        args: {},
        parts: ['id', 'amount', 'status', 'createdAt', 'recipientName'].map((name) => ({
          name,
          on: 'Payout',
          args: {},
          parts: [],
        })),
      },
    ],
  },
]) as CostedDocument
const introspection: CostedDocument = { query: getIntrospectionQuery(), variables: {}, cost: 0 }

const names = options.only ? options.only.split(',') : rootFields
// Compilation during the search is not counted.
for (let turn = 0; turn < 200; turn++) await ask(reference, systemCaller)
const best: Found[] = []
for (const name of names) {
  const found = await dearestOf(name, performance.now() + (seconds * 800) / names.length)
  if (found) best.push(found)
}
const ranked = [...best].sort((one, other) => other.ms - one.ms)
let overall = ranked[0]
const until = performance.now() + seconds * 200
while (ranked.length > 1 && overall && performance.now() < until) {
  const count = random.integer(2, 4)
  const chosen = Array.from(
    { length: count },
    () => ranked[Math.min(random.integer(0, 7), random.integer(0, ranked.length - 1))] as Found,
  )
  const roots = [...new Set(chosen.map(({ roots: [root] }) => root as DocumentPart))].map((root) =>
    random.chance(0.3) ? changed(root) : root,
  )
  const next = await tried(roots, overall.who, random.chance(0.7), overall.ms)
  if (next && next.ms > overall.ms) overall = next
}

// Measures all again, in alternation with the reference, and drops lucky outliers.
const again = async (document: CostedDocument, who: Who) => {
  let least = Number.POSITIVE_INFINITY
  let known = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 9; turn++) {
    least = Math.min(least, await cpuMs(() => ask(document, callers[who])))
    known = Math.min(known, await cpuMs(() => ask(reference, systemCaller)))
  }
  return { least, known }
}
const rows: string[] = []
for (const { document, who, firstMs, roots } of overall ? [...ranked, overall] : ranked) {
  const { least, known: of } = await again(document, who)
  const name = roots.length > 1 || roots[0] === undefined ? 'several' : roots[0].name
  const perUnit = (least * 1_000) / document.cost
  rows.push(
    `| ${name} | ${who} | ${least.toFixed(1)} | ${(least / of).toFixed(0)} | ${firstMs.toFixed(0)} | ${document.cost} | ${perUnit.toFixed(1)} |`,
  )
}
const look = await again(introspection, 'merchant')
const plain = await again(reference, 'merchant')
const head =
  '| root field | asked by | CPU ms | of the reference | the first time, ms | cost | CPU µs per cost |\n|---|---|---|---|---|---|---|'
process.stdout.write(`seed ${options.seed}, ${seconds} s\n\n${head}\n${rows.join('\n')}\n`)
process.stdout.write(`| a look at the schema | merchant | ${look.least.toFixed(1)} | | | 0 | |\n`)
process.stdout.write(
  `| payouts(first: 100), the reference | merchant | ${plain.known.toFixed(2)} | 1 | | ${reference.cost} | ${((plain.known * 1_000) / reference.cost).toFixed(1)} |\n`,
)
if (overall)
  process.stdout.write(
    `\nThe dearest, by the ${overall.who}:\n${overall.document.query}\n${JSON.stringify(overall.document.variables).slice(0, 3_000)}\n`,
  )
if (options.out)
  writeFileSync(
    options.out,
    JSON.stringify(
      [...ranked, ...(overall ? [overall] : [])].map(({ document, who, ms }) => ({ who, ms, ...document })),
      null,
      1,
    ),
  )
await db.close()
if (options.folder === undefined) rmSync(folder, { recursive: true })
