import { once } from 'node:events'
import type { Profiler } from 'node:inspector'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runLoad } from './load.ts'
import type { Measure } from './measures.ts'
import type { Server } from './servers.ts'
import { startServer } from './servers.ts'

const root = join(import.meta.dirname, '../..')

/** A part of the work: its share of CPU time, from 0 to 1, and its time per request. */
export type ProfilePart = { readonly name: string; readonly share: number; readonly micros: number }

/** The CPU profile of the first subject's server: by phase, and the top functions. */
export type Profile = {
  readonly cpuMicros: number
  readonly phases: readonly ProfilePart[]
  readonly functions: readonly ProfilePart[]
}

/** Loads the first subject of a measure, after a warm-up, and sums its samples. */
export async function profileOf(measure: Measure, seconds: number, folder: string): Promise<Profile> {
  const [subject] = measure.subjects
  if (!subject) throw new Error(`${measure.name} has no subject`)
  const words = ['--import', join(import.meta.dirname, 'profiler.ts'), ...subject.server.words]
  const server = await startServer({ ...subject.server, words }, folder)
  const load = (forSeconds: number) =>
    runLoad(subject.load, { port: server.port, clients: measure.clients, seconds: forSeconds, folder })
  try {
    await load(3)
    await ordered(server, 'begin')
    const before = server.cpuMs()
    const { requests } = await load(seconds)
    const cpuMicros = ((server.cpuMs() - before) * 1000) / requests
    const { nodes, samples = [], timeDeltas = [] } = (await ordered(server, 'end')) as Profiler.Profile
    return { cpuMicros, ...partsOf(nodes, { samples, timeDeltas, cpuMicros }) }
  } finally {
    await server.end()
  }
}

async function ordered({ child }: Server, order: 'begin' | 'end'): Promise<unknown> {
  child.send(order)
  const [message] = await once(child, 'message')
  return message
}

type Frame = Profiler.ProfileNode['callFrame']

function partsOf(
  nodes: readonly Profiler.ProfileNode[],
  { samples, timeDeltas, cpuMicros }: { samples: number[]; timeDeltas: number[]; cpuMicros: number },
) {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const framesUp = (id: number): Frame[] => {
    const frames: Frame[] = []
    for (let node = byId.get(id); node; node = byId.get(parents.get(node.id) ?? -1)) frames.push(node.callFrame)
    return frames
  }
  const phaseOfNode = new Map(nodes.map(({ id }) => [id, phaseOf(framesUp(id))]))
  const phases = new Map<string, number>()
  const functions = new Map<string, number>()
  let busy = 0
  for (const [place, id] of samples.entries()) {
    const phase = phaseOfNode.get(id) ?? 'other'
    const time = timeDeltas[place] ?? 0
    if (phase === 'idle') continue
    busy += time
    phases.set(phase, (phases.get(phase) ?? 0) + time)
    const name = placeOf(framesUp(id))
    functions.set(name, (functions.get(name) ?? 0) + time)
  }
  const parts = (times: ReadonlyMap<string, number>): ProfilePart[] =>
    [...times]
      .map(([name, time]) => ({ name, share: time / busy, micros: (time / busy) * cpuMicros }))
      .sort((one, other) => other.share - one.share)
  return { phases: parts(phases), functions: parts(functions).slice(0, 40) }
}

const rows = 'SQLite: binding and rows'

/** The profiler's own categories. */
const ownPhases: ReadonlyMap<string, string> = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(idle)', 'idle'],
  ['(program)', 'kernel and native code'],
])

/** The phase of a position in a file: the first matching pattern decides. */
const phasePatterns: readonly (readonly [RegExp, string])[] = [
  [/profiler\.ts|inspector|child_process/, 'idle'],
  [/src\/database\/sqlite\/writer/, 'group commit'],
  [/src\/database\/|node_modules\/better-sqlite3\//, rows],
  [/node_modules\/(pino|sonic-boom|safe-stable-stringify)\/|src\/logger|node:fs/, 'log'],
  [/src\/merchants|src\/http\/|node:internal\/crypto|node:zlib/, 'key and admission'],
  [/src\/rate-limit/, 'rate limit'],
  [/node_modules\/zod\/|src\/input\.ts|src\/rest\/route\.ts/, 'validation'],
  [/src\/rest\/|src\/[\w-]+\/rest\.ts/, 'serialization'],
  [/src\/graphql\/(server|answer)/, 'serialization'],
  [/src\/graphql\/(engine|limits|cost)/, 'GraphQL: preparing'],
  [/node_modules\/(graphql|graphql-jit|@pothos|dataloader)\//, 'GraphQL: execution'],
  [/src\/graphql\/|src\/[\w-]+\/graphql\.ts/, 'GraphQL: execution'],
  [
    /node_modules\/(fastify|find-my-way|avvio|@fastify|fast-querystring|secure-json-parse)\/|src\/server\.ts/,
    'Fastify',
  ],
  [/node:_http|node:internal\/(http|url)|node:querystring/, 'HTTP (Node)'],
  [/node:(net|stream|buffer)|node:internal\/(stream|buffer)/, 'sockets (Node)'],
  [/node:/, 'event loop (Node)'],
  [/src\//, 'operation'],
]

/** The phase of a stack of frames, innermost first: a frame without a file counts for its caller. */
function phaseOf(frames: readonly Frame[]): string {
  const [first] = frames
  const phase = ownPhases.get(first?.functionName ?? '')
  if (!first || phase !== undefined) return phase ?? 'other'
  const caller = frames.find(({ url }) => url !== '')
  const located = phasePatterns.find(([pattern]) => caller && pattern.test(pathOf(caller)))?.[1] ?? 'other'
  if (first.url !== '') return located
  // Code generated at run time has a script: row builders, input validators, and compiled queries.
  const isMade = first.scriptId !== '0'
  if (located === rows) return isMade ? rows : 'SQLite: statements'
  return isMade && located !== 'validation' ? 'GraphQL: execution' : located
}

function pathOf({ url }: Frame): string {
  return url.startsWith('file:') ? relative(root, fileURLToPath(url)) : url
}

/** A function by its name and line; one without a file counts for its caller. */
function placeOf(frames: readonly Frame[]): string {
  const [first] = frames
  const placed = frames.find(({ url }) => url !== '')
  if (!first || !placed) return first?.functionName ?? ''
  const nameOf = ({ functionName }: Frame) => functionName || '(unnamed)'
  const at = `${nameOf(placed)} ${pathOf(placed).replace(/.*node_modules\//, '')}:${placed.lineNumber + 1}`
  if (first === placed) return at
  return `${first.scriptId === '0' ? 'native' : 'made'} ${nameOf(first)} in ${at}`
}
