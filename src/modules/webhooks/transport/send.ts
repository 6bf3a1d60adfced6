import type { LookupFunction } from 'node:net'
import { StringDecoder } from 'node:string_decoder'
import type { Mode } from '../../../operations/context.ts'
import type { EventMessage, WebhookRequest } from './build-request.ts'
import type { DestinationPolicy } from './destination-policy.ts'
import { createAllowlist, findUrlError } from './destination-policy.ts'
import { createDnsLookup } from './dns-lookup.ts'
import type { DeliveryFailure } from './failure.ts'
import type { HttpResult, HttpTimeouts } from './http-exchange.ts'
import { createHttpClient } from './http-exchange.ts'
import { createGuardedAgents } from './ssrf-guard.ts'

export type SendResult = {
  readonly status: number | null
  readonly error: DeliveryFailure | null
  readonly durationMs: number
  readonly retryAfter: string | null
  /** `answer` is the first 1 KiB of the response body. */
  readonly answer: string | null
}

export type Sender = {
  readonly send: (url: string, request: WebhookRequest, event?: EventMessage) => Promise<SendResult>
  readonly close: () => void
}

const deliveryTimeouts: HttpTimeouts = { connectMs: 5_000, wholeMs: 15_000 }

type SenderOptions = {
  readonly mode: Mode
  readonly allowlistEntries: readonly string[]
  readonly ca?: string
  readonly lookUp?: LookupFunction
  readonly limits?: HttpTimeouts
}

const idleTimeoutMs = 15_000

const maxKeptBytes = 1024

export function createSender({
  mode,
  allowlistEntries,
  ca,
  lookUp = createDnsLookup(),
  limits = deliveryTimeouts,
}: SenderOptions): Sender {
  const allowlist = createAllowlist(allowlistEntries, mode)
  const guard = { allowlist, lookUp }
  // Neither an environment variable nor a caller can turn certificate verification off.
  const tls = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) }
  const targetOf = createTargetCache({ mode, allowlist })
  const agents = {
    keepAlive: createGuardedAgents(guard, { ...tls, keepAlive: true, timeout: idleTimeoutMs, scheduling: 'lifo' }),
    fresh: createGuardedAgents(guard, { ...tls, keepAlive: false }),
  }
  const client = createHttpClient({ agents, limits, maxKeptBytes })

  return {
    send: async (url, request) => {
      const startedAt = performance.now()
      const target = targetOf(url)
      const result =
        typeof target === 'string'
          ? ({ kind: 'url_refused', message: `The URL ${target}.` } as const)
          : await client.send(target, { method: 'POST', ...request })
      return { ...toSendOutcome(result), durationMs: Math.round(performance.now() - startedAt) }
    },
    close: client.close,
  }
}

const maxCachedTargets = 10_000

function createTargetCache(policy: DestinationPolicy): (url: string) => URL | string {
  const cache = new Map<string, URL | string>()
  return (url) => {
    const cached = cache.get(url)
    if (cached !== undefined) return cached
    const target = findUrlError(url, policy) ?? new URL(url)
    if (cache.size >= maxCachedTargets) cache.clear()
    cache.set(url, target)
    return target
  }
}

function toSendOutcome(result: HttpResult): Omit<SendResult, 'durationMs'> {
  if ('kind' in result) return { status: null, error: result, retryAfter: null, answer: null }
  const { status, retryAfter, beginning } = result
  return { status, error: null, retryAfter, answer: decodeBody(beginning) }
}

/**
 * Replaces invalid UTF-8. Drops an incomplete last character. Drops NUL characters, because PostgreSQL cannot store
 * NUL.
 */
function decodeBody(beginning: Buffer): string {
  return new StringDecoder('utf8').write(beginning).replaceAll('\0', '')
}
