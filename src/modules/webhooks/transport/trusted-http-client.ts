import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { HttpClient, HttpTimeouts } from './http-exchange.ts'
import { createHttpClient } from './http-exchange.ts'
import { maxResponseBytes } from './read-response.ts'

type TrustedHttpClientOptions = {
  readonly limits: HttpTimeouts
  /** Certificates to trust in place of the system's. */
  readonly ca?: string
}

/** How long an idle connection is kept: shorter than most servers do. */
const idleTimeoutMs = 4_000

/**
 * Makes what calls a service that the operator has named, wherever it is, and keeps all of its answers; of larger ones than
 * 64 KiB the beginning. URLs that merchants choose go through `createSender`, which looks where they lead.
 */
export function createTrustedHttpClient({ limits, ca }: TrustedHttpClientOptions): HttpClient {
  // Neither the environment nor a caller may turn verification off.
  const options = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) }
  const createAgentPair = (keepAlive: boolean) => {
    const kept = { keepAlive, ...(keepAlive && { timeout: idleTimeoutMs, scheduling: 'lifo' as const }) }
    return { http: new HttpAgent(kept), https: new HttpsAgent({ ...options, ...kept }) }
  }
  return createHttpClient({
    agents: { keeping: createAgentPair(true), fresh: createAgentPair(false) },
    limits,
    maxKeptBytes: maxResponseBytes,
  })
}
