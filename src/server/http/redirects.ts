import type { FastifyInstance } from 'fastify'

/**
 * With HTTP status 308, clients keep method and body. `Location` is relative, because the service does not know its
 * origin behind a proxy.
 */
export function redirectTrailingSlash(app: FastifyInstance, path: string, methods: readonly ('GET' | 'POST')[]): void {
  const url = `${path}/`
  app.route({
    method: [...methods],
    url,
    // Redirects before the body is read, because this route has no body parser.
    onRequest: async (request, reply) => reply.redirect(`${path}${request.url.slice(url.length)}`, 308),
    handler: async () => {},
  })
}
