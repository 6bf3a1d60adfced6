import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import { routedMethods } from './method-not-allowed.ts'

export const corsOriginsFormat =
  '* alone, or origins without a path (https://app.example.com, https://*.example.com for any one label), separated by commas'

export function parseCorsOrigins(text: string): string[] | null {
  if (text.trim() === '*') return ['*']
  const origins = text.split(',').map((each) => parseOrigin(each.trim()))
  return origins.every((origin) => origin !== null) ? origins : null
}

/** The sandbox contains no real data, so the sandbox allows all origins. */
export function defaultCorsOrigins(mode: Mode): string[] {
  return mode === 'sandbox' ? ['*'] : []
}

export function allowOriginFor(origin: string, origins: readonly string[]): string | null {
  if (origins[0] === '*') return '*'
  return origins.some((allowed) => matchesOrigin(allowed, origin)) ? origin : null
}

/**
 * `*` matches only one label, because hosts below `a.example.com` may have another owner than hosts below
 * `example.com`.
 */
function matchesOrigin(allowed: string, origin: string): boolean {
  const [head = '', tail] = allowed.split('*')
  if (tail === undefined) return origin === allowed
  if (!origin.startsWith(head) || !origin.endsWith(tail)) return false
  return /^[a-z\d_-]+$/.test(origin.slice(head.length, -tail.length))
}

/** `URL` normalizes Unicode variants of `*` and `.` to ASCII. */
function parseOrigin(text: string): string | null {
  if (!/^https?:\/\/[^/\\?#@%\s]+$/i.test(text) || !URL.canParse(text)) return null
  const { origin } = new URL(text)
  return origin.includes('*') && !singleLabelWildcard.test(origin) ? null : origin
}

/** A wildcard must be the first label, and must not be directly below a top-level domain except `localhost`. */
const singleLabelWildcard = /^https?:\/\/\*\.(localhost|[^*.:]+(\.[^*.:]+)+)(:\d+)?$/

/** Excludes signed server-to-server paths, because web pages do not call these paths. */
const corsPaths = /^\/(api\/|graphql\b|openapi\.json\b)/

/** Response headers that web pages can read in addition to the CORS-safelisted response headers. */
const exposedHeaders = [
  ...['x-request-id', 'idempotent-replayed', 'x-ignored-fields', 'location'],
  ...['retry-after', 'ratelimit', 'ratelimit-policy'],
].join(', ')

const preflightMaxAgeSeconds = 86_400

/**
 * Sets the CORS headers before the response's status is known (Fetch, "HTTP extensions"). Never sets
 * `Access-Control-Allow-Credentials`, because the service uses no cookies. If the request has no `Origin`, `Vary` is
 * not needed here, because routes with cacheable responses set `Vary`.
 *
 * The library `@fastify/cors` is not used, because it adds headers to every response and skips paths that cannot be
 * decoded.
 */
export function setCorsHeaders(request: FastifyRequest, reply: FastifyReply, origins: readonly string[]): void {
  const { origin } = request.headers
  if (origin === undefined || !corsPaths.test(request.url)) return
  reply.header('vary', 'origin')
  const allowed = allowOriginFor(origin, origins)
  if (allowed === null) return
  reply.header('access-control-allow-origin', allowed).header('access-control-expose-headers', exposedHeaders)
}

/**
 * Returns whether the request was a CORS preflight. A preflight needs no authentication, because browsers send no API
 * key with a preflight. A preflight allows every requested header, so that the web page can read the error of the
 * actual request.
 */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.method !== 'OPTIONS' || !isPreflight(request)) return false
  if (reply.hasHeader('access-control-allow-origin')) {
    const requestedHeaders = request.headers['access-control-request-headers']
    reply.headers({
      'access-control-allow-methods': routedMethods.join(', '),
      ...(requestedHeaders !== undefined && { 'access-control-allow-headers': requestedHeaders }),
      'access-control-max-age': String(preflightMaxAgeSeconds),
    })
  }
  reply.code(204).send()
  return true
}

function isPreflight({ headers, url }: FastifyRequest): boolean {
  return headers.origin !== undefined && 'access-control-request-method' in headers && corsPaths.test(url)
}
