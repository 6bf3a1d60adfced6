import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Load, LoadResult } from './load.ts'
import { runLoad, sendOnce } from './load.ts'
import type { Measure, Subject } from './measures.ts'
import type { Server, ServerSpec } from './servers.ts'
import { startServer } from './servers.ts'
import { median } from './statistics.ts'

/** Medians over the rounds; times in milliseconds, CPU time in microseconds. */
export type Figures = {
  readonly name: string
  readonly rate: number
  readonly cpuMicros: number
  readonly p50: number
  readonly p99: number
  readonly memoryMiB: number
}

/**
 * The load time of each subject in whole seconds, or longer if that gives too few requests. The warm-up before lasts
 * until the server has used `warmUpMs` of CPU time, because on a busy machine a second may be little work.
 */
export type Windows = {
  readonly warmUpMs: number
  readonly seconds: number
  /** Maximum length of a warm-up and of a window. */
  readonly maxSeconds: number
  readonly rounds: number
}

type Window = LoadResult & { readonly cpuMicros: number }

/**
 * Loads the subjects of a measure in alternation, each first in its turn, so that other load on the machine affects
 * all alike.
 *
 * @throws if two subjects return different responses, or the books of one do not balance
 */
export async function runMeasure(measure: Measure, windows: Windows, folder: string): Promise<Figures[]> {
  const servers = await startAll(measure, folder)
  const figures = await loadByTurns(measure, { windows, servers, folder }).finally(() =>
    Promise.all([...servers.values()].map((server) => server.end())),
  )
  for (const { name, isBalanced } of servers.keys()) {
    if (isBalanced && !(await isBalanced())) throw new Error(`${measure.title}: the books of ${name} do not balance`)
  }
  return figures
}

type Running = { readonly windows: Windows; readonly servers: ReadonlyMap<ServerSpec, Server>; readonly folder: string }

async function loadByTurns(measure: Measure, { windows, servers, folder }: Running): Promise<Figures[]> {
  const { subjects, clients } = measure
  const serverOf = ({ server }: Subject) => servers.get(server) as Server
  await requireSameAnswers(measure, serverOf)
  const ready: LoadResult[] = []
  for (const subject of subjects) {
    await warmUp(subject.load, serverOf(subject), { clients: Math.max(clients, warmingClients), ...windows, folder })
    ready.push(await runLoad(subject.load, { port: serverOf(subject).port, clients, seconds: 1, folder }))
  }
  const windowSeconds = Math.max(windows.seconds, ...ready.map((last) => secondsFor(clients, last)))
  const seconds = Math.min(windowSeconds, windows.maxSeconds)
  const seen = new Map(subjects.map((subject) => [subject, [] as Window[]]))
  for (let round = 0; round < windows.rounds; round++) {
    const first = round % subjects.length
    for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      const server = serverOf(subject)
      const before = server.cpuMs()
      const window = await runLoad(subject.load, { port: server.port, clients, seconds, folder })
      // Each client had one more request under way, which used CPU time too.
      const worked = window.requests + clients
      seen.get(subject)?.push({ ...window, cpuMicros: (((await idleCpuMs(server)) - before) * 1000) / worked })
    }
  }
  return subjects.map((subject) => figuresOf(subject.name, seen.get(subject) ?? [], serverOf(subject)))
}

/** A single client would make a server compile its code for longer than the measured window. */
const warmingClients = 32

/** Loads a server until it has used enough CPU time. */
async function warmUp(
  load: Load,
  server: Server,
  { clients, warmUpMs, maxSeconds, folder }: Windows & { clients: number; folder: string },
): Promise<void> {
  const before = server.cpuMs()
  for (let second = 1; ; second++) {
    await runLoad(load, { port: server.port, clients, seconds: 1, folder })
    const worked = (await idleCpuMs(server)) - before
    if (second === maxSeconds || worked >= warmUpMs) return
  }
}

/** Seconds in which each client gets ten responses. */
function secondsFor(clients: number, { requests, seconds }: LoadResult): number {
  return Math.ceil((10 * clients * seconds) / Math.max(requests, 1))
}

/** The server's CPU time once it is idle, or after a second. */
async function idleCpuMs({ cpuMs }: Server): Promise<number> {
  let latest = cpuMs()
  for (let polls = 0; polls < 20; polls++) {
    await wait(50)
    const usedMs = cpuMs()
    if (usedMs === latest) break
    latest = usedMs
  }
  return latest
}

async function startAll({ subjects }: Measure, folder: string): Promise<Map<ServerSpec, Server>> {
  const specs = [...new Set(subjects.map(({ server }) => server))]
  return new Map(await Promise.all(specs.map(async (spec) => [spec, await startServer(spec, folder)] as const)))
}

/** Compared work must be the same: every subject's response equals the first one's. */
async function requireSameAnswers({ title, subjects }: Measure, serverOf: (subject: Subject) => Server): Promise<void> {
  let expected: unknown
  for (const [place, subject] of subjects.entries()) {
    const { status, body } = await sendOnce(subject.load, serverOf(subject).port, randomUUID())
    const value = subject.valueOf(body)
    if (status >= 300 || value == null) throw new Error(`${title}: ${subject.name} answered ${status}`)
    if (place === 0) expected = value
    else if (!isDeepStrictEqual(value, expected)) {
      const texts = [expected, value].map((each) => JSON.stringify(each).slice(0, 2_000))
      throw new Error(`${title}: ${subject.name} returns a different response:\n${texts.join('\n')}`)
    }
  }
}

function figuresOf(name: string, seen: readonly Window[], server: Server): Figures {
  return {
    name,
    rate: median(seen.map(({ requests, seconds }) => requests / seconds)),
    cpuMicros: median(seen.map(({ cpuMicros }) => cpuMicros)),
    p50: median(seen.map(({ p50 }) => p50)),
    p99: median(seen.map(({ p99 }) => p99)),
    memoryMiB: server.memoryMiB(),
  }
}
