import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import { routedMethods } from './method-not-allowed.ts'

export const corsOriginsFormat =
  '* alone, or origins without a path (https://app.example.com, https://*.example.com for any one label), separated by commas'

/** Parses CORS_ORIGINS to origins as browsers write them, or to `*` alone; `null` if one is invalid. */
export function parseCorsOrigins(text: string): string[] | null {
  if (text.trim() === '*') return ['*']
  const origins = text.split(',').map((each) => parseOrigin(each.trim()))
  return origins.every((origin) => origin !== null) ? origins : null
}

/** All origins in the sandbox, which has nothing to protect; none in live. */
export function defaultCorsOrigins(mode: Mode): string[] {
  return mode === 'sandbox' ? ['*'] : []
}

/** Returns the value of `Access-Control-Allow-Origin`, or `null` if the origin is not allowed. */
export function allowOriginFor(origin: string, origins: readonly string[]): string | null {
  if (origins[0] === '*') return '*'
  return origins.some((allowed) => matchesOrigin(allowed, origin)) ? origin : null
}

/** `*` matches one label: hosts below `a.example.com` may belong to someone else than hosts below `example.com`. */
function matchesOrigin(allowed: string, origin: string): boolean {
  const [head = '', tail] = allowed.split('*')
  if (tail === undefined) return origin === allowed
  if (!origin.startsWith(head) || !origin.endsWith(tail)) return false
  return /^[a-z\d_-]+$/.test(origin.slice(head.length, -tail.length))
}

/** Checks the origin after normalization, which turns Unicode variants of `*` and `.` into these characters. */
function parseOrigin(text: string): string | null {
  if (!/^https?:\/\/[^/\\?#@%\s]+$/i.test(text) || !URL.canParse(text)) return null
  const { origin } = new URL(text)
  return origin.includes('*') && !singleLabelWildcard.test(origin) ? null : origin
}

/** Only for the first label, and never for a top-level domain other than `localhost`, which is this machine. */
const singleLabelWildcard = /^https?:\/\/\*\.(localhost|[^*.:]+(\.[^*.:]+)+)(:\d+)?$/

/** Paths that browsers may call, existing or not, without signed server-to-server paths. */
const corsPaths = /^\/(api\/|graphql\b|openapi\.json\b)/

/** Headers that pages may read in addition to the safelisted ones (Fetch, "CORS-safelisted response-header name"). */
const exposedHeaders = [
  ...['x-request-id', 'idempotent-replayed', 'x-ignored-fields', 'location'],
  ...['retry-after', 'ratelimit', 'ratelimit-policy'],
].join(', ')

/** Browsers cap this, for example at two hours. */
const preflightMaxAgeSeconds = 86_400

/**
 * Sets the CORS headers of a response before its outcome is known (Fetch, "HTTP extensions"). Credentials are never allowed: no
 * cookies exist.
 *
 * A request without `Origin` gets no `Vary` either: such responses are not cacheable, and the few that are always set it.
 *
 * `@fastify/cors` is no replacement: it marks every response, and does not run for a path that can't be decoded.
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
 * Answers a CORS preflight request, without authentication because browsers send no key with it, and returns whether it was one.
 * Allows every requested header, so that the page can read the error of the request itself.
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
