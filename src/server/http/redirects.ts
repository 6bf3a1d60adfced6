import type { FastifyInstance } from 'fastify'
import { rejectOtherMethods } from './method-not-allowed.ts'

/**
 * 308 keeps method and body, and no credential is checked, because the target checks it. `Location` is relative: behind
 * a proxy the service does not know its own origin.
 */
export function redirectTrailingSlash(app: FastifyInstance, path: string, methods: readonly ('GET' | 'POST')[]): void {
  const url = `${path}/`
  app.route({
    method: [...methods],
    url,
    // Before the body is read, which the target may accept in a format that this path has no parser for.
    onRequest: async (request, reply) => reply.redirect(`${path}${request.url.slice(url.length)}`, 308),
    handler: async () => {},
  })
  rejectOtherMethods(app, url, methods)
}
