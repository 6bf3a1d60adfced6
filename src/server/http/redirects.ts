import type { FastifyInstance } from 'fastify'
import { rejectOtherMethods } from './method-not-allowed.ts'

/**
 * Redirects with 308, which keeps method and body. The target checks the credential. `Location` is relative, because
 * behind a proxy the service does not know its own origin.
 */
export function redirectTrailingSlash(app: FastifyInstance, path: string, methods: readonly ('GET' | 'POST')[]): void {
  const url = `${path}/`
  app.route({
    method: [...methods],
    url,
    // Redirects before the body is read, because this path has no parser for the formats that the target accepts.
    onRequest: async (request, reply) => reply.redirect(`${path}${request.url.slice(url.length)}`, 308),
    handler: async () => {},
  })
  rejectOtherMethods(app, url, methods)
}
