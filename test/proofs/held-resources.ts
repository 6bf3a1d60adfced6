import { existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { HeldResources } from './heap-probe.ts'
import type { Server } from './server.ts'

/** What a server with the heap probe holds when nothing is under way; `probe` is the file that it was told of. */
export async function measureHeld({ child }: Server, probe: string): Promise<HeldResources> {
  rmSync(probe, { force: true })
  child.kill('SIGUSR2')
  while (!existsSync(probe)) await wait(20)
  return JSON.parse(readFileSync(probe, 'utf8')) as HeldResources
}
