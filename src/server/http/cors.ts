import type { FastifyReply, FastifyRequest } from 'fastify'
import { allowOriginFor } from './allowed-origins.ts'
import { routedMethods } from './method-not-allowed.ts'

/** What pages may ask, whether it is there or not. What is signed from server to server is not for them. */
const corsPaths = /^\/(api\/|graphql\b|openapi\.json\b)/

/** What a page may read beside the few headers that every one may (Fetch, "CORS-safelisted response-header name"). */
const exposedHeaders = [
  ...['x-request-id', 'idempotent-replayed', 'x-ignored-fields'],
  ...['retry-after', 'ratelimit', 'ratelimit-policy'],
].join(', ')

/** How long a browser need not ask again, in seconds; each has a limit of its own for that, of two hours for example. */
const preflightMaxAgeSeconds = 86_400

/**
 * Tells the browser of whoever sent a request whether its page may read the answer, whatever that will be (Fetch, "HTTP
 * extensions"). No page is ever allowed to send cookies, and there are none.
 *
 * Whoever is no page sends no Origin, and gets nothing more than before: no `Vary` either, because nobody may keep those
 * answers. The few that may be kept have it always.
 *
 * `@fastify/cors` can't do that: it marks each answer, and never runs for a path that can't be decoded.
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
 * Answers a browser that asks, before a page's request, whether it may send that. It may whatever it asks for: then the page
 * can read the refusal. Nobody needs a key for it, because a browser sends none, and so it counts for nobody.
 *
 * @returns whether it was one, and is answered
 */
export function answerPreflight(request: FastifyRequest, reply: FastifyReply): boolean {
  if (request.method !== 'OPTIONS' || !isPreflight(request)) return false
  if (reply.hasHeader('access-control-allow-origin')) {
    const asked = request.headers['access-control-request-headers']
    reply.headers({
      'access-control-allow-methods': routedMethods.join(', '),
      ...(asked !== undefined && { 'access-control-allow-headers': asked }),
      'access-control-max-age': String(preflightMaxAgeSeconds),
    })
  }
  reply.code(204).send()
  return true
}

function isPreflight({ headers, url }: FastifyRequest): boolean {
  return headers.origin !== undefined && 'access-control-request-method' in headers && corsPaths.test(url)
}
