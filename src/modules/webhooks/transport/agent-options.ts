import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Exchange, Limits } from './http-exchange.ts'
import { createExchange } from './http-exchange.ts'
import { mostBytes } from './read-response.ts'

type CallerOptions = {
  readonly limits: Limits
  /** Certificates to trust in place of the system's. */
  readonly ca?: string
}

/** How long an idle connection is kept: shorter than most servers do. */
const idleMs = 4_000

/**
 * Makes what calls a service that the operator has named, wherever it is, and keeps all of its answers; of larger ones than
 * 64 KiB the beginning. URLs that merchants choose go through `createSender`, which looks where they lead.
 */
export function createCaller({ limits, ca }: CallerOptions): Exchange {
  // Neither the environment nor a caller may turn verification off.
  const options = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) }
  const pairOf = (keepAlive: boolean) => {
    const kept = { keepAlive, ...(keepAlive && { timeout: idleMs, scheduling: 'lifo' as const }) }
    return { http: new HttpAgent(kept), https: new HttpsAgent({ ...options, ...kept }) }
  }
  return createExchange({ agents: { keeping: pairOf(true), fresh: pairOf(false) }, limits, keptBytes: mostBytes })
}
