import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { GraphQLObjectType } from 'graphql'
import { getNullableType, isLeafType } from 'graphql'
import { sandboxSchema } from '../../../src/server/graphql/schema.ts'
import { startOptions } from '../../support/start-options.ts'
import { connections, send } from '../clients.ts'
import { measureHeld } from '../held-resources.ts'
import { memoryOf } from '../process-memory.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { makeDatabase, startProgram } from '../server.ts'

export const proof: Proof = {
  promise: 'the caches of documents stay within a bound, however many distinct documents arrive',
  control: 'the limit of the size of all cached plans',
  seconds: { ci: 200, quick: 200, long: 1_200 },
  isAlone: true,
  run,
}

/** Number of documents. */
const documents: Record<Length, number> = { ci: 20_000, quick: 20_000, long: 200_000 }

/** Maximum heap after garbage collection in megabytes, and maximum growth between the halfway point and the end. */
const maxHeap = 150
const maxHeapGrowth = 20

/** The same for the process, with SQLite's prepared statements and garbage that V8 has not collected yet. */
const maxGrowth = 100

const keepsPlans = {
  file: 'src/graphql/plan/plan-cache.ts',
  from: 'const defaultMaxMembers = 60_000',
  to: 'const defaultMaxMembers = Number.POSITIVE_INFINITY',
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const { url, apiKey } = await makeDatabase(join(folder, 'payouts.sqlite'))
  const dirname = import.meta.dirname
  const probe = join(folder, 'held.json')
  const imports = ['change-main.ts', 'heap-probe.ts'].flatMap((file) => ['--import', join(dirname, '..', file)])
  const words = [...startOptions, '--expose-gc', ...imports]
  const server = await startProgram([...words, join(dirname, '../../../src/app/main.ts')], {
    url,
    environment: { HEAP_PROBE: probe, CHANGES: JSON.stringify(isControl ? [keepsPlans] : []), RATE_LIMIT: '1000000' },
  })
  const next = distinctDocuments(randomFrom(seed))
  const agent = connections(16)
  const target = { port: server.port, apiKey }
  const faults: string[] = []
  // A leak without eviction shows sooner.
  const count = isControl ? documents.quick / 4 : documents[length]
  let sent = 0
  const client = async (until: number) => {
    while (sent < until) {
      sent++
      const { status, text } = await send(target, agent, { path: '/graphql', body: next(sent) })
      if (status !== 200 || text.includes('"errors"')) faults.push(text.slice(0, 300))
    }
  }
  const sendUntil = async (until: number) => {
    await Promise.all(Array.from({ length: 16 }, () => client(until)))
    await wait(500)
    const processMegabytes = memoryOf(server.child.pid ?? 0)
    return { processMegabytes, heapMegabytes: (await measureHeld(server, probe)).heapBytes / 2 ** 20 }
  }
  const half = await sendUntil(count / 2)
  const end = await sendUntil(count)
  agent.destroy()
  await server.kill('SIGTERM')
  const figure =
    `${sent.toLocaleString('en')} documents: the heap held ${half.heapMegabytes.toFixed(0)} MB after the first half and ` +
    `${end.heapMegabytes.toFixed(0)} at the end, the process ${half.processMegabytes.toFixed(0)} and ` +
    `${end.processMegabytes.toFixed(0)}${faults.length > 0 ? `; ${faults[0]}` : ''}`
  const isFlat =
    end.heapMegabytes - half.heapMegabytes <= maxHeapGrowth && end.processMegabytes - half.processMegabytes <= maxGrowth
  return { isHeld: faults.length === 0 && end.heapMegabytes <= maxHeap && isFlat, figure }
}

const listTypes = { payouts: 'Payout', wallets: 'Wallet', customers: 'Customer' } as const

/**
 * Creates distinct documents: most select other columns under other filters, which need separate SQL statements, and
 * one in ten is short with a plan of thousands of members under varying conditions.
 */
function distinctDocuments(random: () => number): (number: number) => { query: string; variables: object } {
  const leaves = Object.fromEntries(Object.entries(listTypes).map(([list, type]) => [list, leavesOf(type)]))
  const some = (all: readonly string[]) => ['id', ...all.filter(() => random() < 0.5)].join(' ')
  const lists = Object.keys(listTypes)
  return (number) => {
    if (number % 10 === 0) return { query: largePlan(number), variables: { a: random() < 0.5, b: random() < 0.5 } }
    const list = lists[number % lists.length] as keyof typeof listTypes
    const ends = ['first: 3', 'last: 3', 'first: 2, filter: {createdFrom: "2020-01-01T00:00:00.000Z"}']
    const end = ends[Math.floor(random() * ends.length)]
    const query = `query Q${number} { ${list}(${end}) { nodes { ${some(leaves[list] ?? [])} } } }`
    return { query, variables: {} }
  }
}

/** Fields without selections. */
function leavesOf(type: string): readonly string[] {
  const fields = Object.values((sandboxSchema.getType(type) as GraphQLObjectType).getFields())
  return fields.filter((field) => isLeafType(getNullableType(field.type))).map(({ name }) => name)
}

function largePlan(number: number): string {
  const places = Array.from({ length: 15 }, (_, place) => `a${place}: nodes(ids: []) { ...F }`).join(' ')
  return `query Q${number}($a: Boolean!, $b: Boolean!) {
    ${places} x: merchant @skip(if: $a) { id } y: merchant @skip(if: $b) { id }
  }
  fragment F on Node { ... on Wallet { ...W } ... on Customer { email wallets { nodes { ...W } } } }
  fragment W on Wallet { id uuid balance currency description status createdAt updatedAt assetType }`
}
