import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'

/** The methods that paths have. */
export const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']

/** What every other method is routed as: routes for each of thirty would be most of what it takes to make the host. */
const otherMethod = 'TRACE'
const originalMethods = new WeakMap<IncomingMessage, string>()

/** Has the host route a request whose method no path has, as its `rewriteUrl`. The URL stays as it is. */
export function routeOtherMethods(request: IncomingMessage): string {
  const { method = '', url = '' } = request
  if (!routedMethods.includes(method)) {
    originalMethods.set(request, method)
    request.method = otherMethod
  }
  return url
}

/** Gives a request its own method back once it is routed. */
export function restoreMethod({ raw }: FastifyRequest): void {
  if (raw.method === otherMethod) raw.method = originalMethods.get(raw) ?? otherMethod
}

/**
 * Answers every method that a path does not have with 405, and names those that it has (ruling 6).
 *
 * @param own the methods that are routed; HEAD comes with GET
 */
export function rejectOtherMethods(app: FastifyInstance, path: string, own: readonly string[]): void {
  const allowed = own.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort()
  const reject = async (_: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allowed.join(', '))
    throw new DomainError('METHOD_NOT_ALLOWED', `This path takes ${allowed.join(', ')}.`)
  }
  app.route({
    method: [...routedMethods, otherMethod].filter((method) => !allowed.includes(method)),
    url: path,
    onRequest: reject,
    handler: reject,
  })
}
