import { existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { HeldResources } from './heap-probe.ts'
import type { Server } from './server.ts'

/** The resources of an idle server with the heap probe; `probe` is the probe's output file. */
export async function measureHeld({ child }: Server, probe: string): Promise<HeldResources> {
  rmSync(probe, { force: true })
  child.kill('SIGUSR2')
  while (!existsSync(probe)) await wait(20)
  return JSON.parse(readFileSync(probe, 'utf8')) as HeldResources
}
