import { setTimeout as wait } from 'node:timers/promises'
import type { BenchDatabase } from './data.ts'
import { service } from './measures.ts'
import { startServer } from './servers.ts'
import { median } from './statistics.ts'

/** Time until the service listens, and its memory before the first request. */
export type StartUp = { readonly startMs: number; readonly cpuMs: number; readonly memoryMiB: number }

/** Starts the service on the databases in rotation; returns medians, in the order of the databases. */
export async function startUps(
  databases: readonly BenchDatabase[],
  rounds: number,
  folder: string,
): Promise<StartUp[]> {
  const seen = databases.map(() => [] as StartUp[])
  // The first start reads the program's files from disk.
  for (let round = -1; round < rounds; round++) {
    for (const [place, { path }] of databases.entries()) {
      const server = await startServer(service(`sqlite:${path}`), folder)
      await wait(500)
      if (round >= 0)
        seen[place]?.push({ startMs: server.startMs, cpuMs: server.startCpuMs, memoryMiB: server.memoryMiB() })
      await server.end()
    }
  }
  return seen.map((starts) => ({
    startMs: median(starts.map(({ startMs }) => startMs)),
    cpuMs: median(starts.map(({ cpuMs }) => cpuMs)),
    memoryMiB: median(starts.map(({ memoryMiB }) => memoryMiB)),
  }))
}
