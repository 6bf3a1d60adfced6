import type { LookupFunction } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import type { Mode } from '../../../operations/context.ts'
import { createAllowlist } from './allowlist.ts'
import type { DestinationPolicy } from './check-url.ts'
import { findUrlError } from './check-url.ts'
import { createDnsLookup } from './dns-lookup.ts'
import type { DeliveryFailure } from './failure.ts'
import type { HttpResult, HttpTimeouts } from './http-exchange.ts'
import { createHttpClient } from './http-exchange.ts'
import type { EventMessage, WebhookRequest } from './message.ts'
import { createGuardedAgents } from './ssrf-guard.ts'

/** What came of posting to an endpoint: a whole answer with its status, or why there is none. */
export type SendResult = {
  readonly status: number | null
  readonly error: DeliveryFailure | null
  readonly durationMs: number
  /** The header `Retry-After`, as it was sent. */
  readonly retryAfter: string | null
  /** The first 1 KiB of the answer's body as text; `null` without an answer. */
  readonly answer: string | null
}

/** Posts to endpoints over connections that are kept, and says of which event for whoever observes; `close` ends those that are idle. */
export type Sender = {
  readonly send: (url: string, post: WebhookRequest, event?: EventMessage) => Promise<SendResult>
  readonly close: () => void
}

/** How long a receiver may take. */
const deliveryTimeouts: HttpTimeouts = { connectMs: 5_000, wholeMs: 15_000 }

type SenderOptions = {
  readonly mode: Mode
  /** The entries of WEBHOOK_ALLOW. */
  readonly allowlistEntries: readonly string[]
  /** Certificates to trust in place of the system's. */
  readonly ca?: string
  readonly lookUp?: LookupFunction
  readonly limits?: HttpTimeouts
}

/** How long an idle connection is kept. */
const idleTimeoutMs = 15_000

/** What is kept of an answer. */
const maxKeptBytes = 1024

/** Makes what posts to endpoints, for the life of the process: it goes where it may and nowhere else, and waits for nobody long. */
export function createSender({
  mode,
  allowlistEntries: allowed,
  ca,
  lookUp = createDnsLookup(),
  limits = deliveryTimeouts,
}: SenderOptions): Sender {
  const allowance = createAllowlist(allowed, mode)
  const guard = { allowance, lookUp }
  // Neither the environment nor a caller may turn verification off.
  const options = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) }
  const targetOf = createTargetCache({ mode, allowlist: allowance })
  const agents = {
    keeping: createGuardedAgents(guard, { ...options, keepAlive: true, timeout: idleTimeoutMs, scheduling: 'lifo' }),
    fresh: createGuardedAgents(guard, { ...options, keepAlive: false }),
  }
  const { send: exchange, close } = createHttpClient({ agents, limits, maxKeptBytes })

  return {
    send: async (url, post) => {
      const startedAt = performance.now()
      const target = targetOf(url)
      const exchanged =
        typeof target === 'string'
          ? ({ kind: 'url_refused', message: `The URL ${target}.` } as const)
          : await exchange(target, { method: 'POST', ...post })
      return { ...toSendOutcome(exchanged), durationMs: Math.round(performance.now() - startedAt) }
    },
    close,
  }
}

/** Endpoints whose URLs are remembered as they were read. */
const maxCachedTargets = 10_000

/** Reads the URLs of endpoints, which come again and again; the fault of one that may not be delivered to. */
function createTargetCache(destinations: DestinationPolicy): (url: string) => URL | string {
  const known = new Map<string, URL | string>()
  return (url) => {
    const found = known.get(url)
    if (found !== undefined) return found
    const read = findUrlError(url, destinations) ?? new URL(url)
    if (known.size >= maxCachedTargets) known.clear()
    known.set(url, read)
    return read
  }
}

type SendOutcome = Omit<SendResult, 'durationMs'>

function toSendOutcome(exchanged: HttpResult): SendOutcome {
  if ('kind' in exchanged) return { status: null, error: exchanged, retryAfter: null, answer: null }
  const { status, retryAfter, beginning } = exchanged
  return { status, error: null, retryAfter, answer: decodeBody(beginning) }
}

/** Bytes that are no UTF-8 are replaced, half a character at the end is left out, and so is NUL, which PostgreSQL can't store. */
function decodeBody(beginning: Buffer): string {
  return new StringDecoder('utf8').write(beginning).replaceAll('\0', '')
}
