import type { FastifyInstance } from 'fastify'
import { rejectOtherMethods } from './method-not-allowed.ts'

/**
 * Status 308 keeps method and body. `Location` is relative, because behind a proxy the service does not know its own
 * origin.
 */
export function redirectTrailingSlash(app: FastifyInstance, path: string, methods: readonly ('GET' | 'POST')[]): void {
  const url = `${path}/`
  app.route({
    method: [...methods],
    url,
    // This path has no parser for the formats that the target accepts, so the redirect happens before the body is read.
    onRequest: async (request, reply) => reply.redirect(`${path}${request.url.slice(url.length)}`, 308),
    handler: async () => {},
  })
  rejectOtherMethods(app, url, methods)
}
