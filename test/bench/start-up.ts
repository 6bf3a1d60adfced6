import { setTimeout as wait } from 'node:timers/promises'
import type { BenchDatabase } from './data.ts'
import { service } from './measures.ts'
import { startServer } from './servers.ts'
import { median } from './statistics.ts'

/** How long the service takes to listen, and the memory that it holds before the first request. */
export type StartUp = { readonly startMs: number; readonly cpuMs: number; readonly memoryMiB: number }

/** Starts the service by turns on each of the databases; medians, in their order. */
export async function startUps(
  databases: readonly BenchDatabase[],
  rounds: number,
  folder: string,
): Promise<StartUp[]> {
  const seen = databases.map(() => [] as StartUp[])
  // The first start of all reads the files of the program from the disk.
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
