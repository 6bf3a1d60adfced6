import type { FastifyInstance } from 'fastify'
import { rejectOtherMethods } from './method-not-allowed.ts'

/**
 * HTTP status 308 makes clients keep method and body. `Location` is relative, because behind a proxy the service does
 * not know its own origin.
 */
export function redirectTrailingSlash(app: FastifyInstance, path: string, methods: readonly ('GET' | 'POST')[]): void {
  const url = `${path}/`
  app.route({
    method: [...methods],
    url,
    // Redirects before the body is read, because the path with the trailing slash has no parser for the body.
    onRequest: async (request, reply) => reply.redirect(`${path}${request.url.slice(url.length)}`, 308),
    handler: async () => {},
  })
  rejectOtherMethods(app, url, methods)
}
