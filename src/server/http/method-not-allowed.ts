import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'

export const routedMethods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']

/**
 * Unusual HTTP methods are replaced with TRACE before routing. Separate routes for about thirty methods would slow down
 * the start.
 */
const otherMethod = 'TRACE'
const originalMethods = new WeakMap<IncomingMessage, string>()

export function routeOtherMethods(request: IncomingMessage): string {
  const { method = '', url = '' } = request
  if (!routedMethods.includes(method)) {
    originalMethods.set(request, method)
    request.method = otherMethod
  }
  return url
}

export function restoreMethod({ raw }: FastifyRequest): void {
  if (raw.method === otherMethod) raw.method = originalMethods.get(raw) ?? otherMethod
}

/** GET includes HEAD (ruling 6). */
export function rejectOtherMethods(app: FastifyInstance, path: string, supported: readonly string[]): void {
  const allowed = supported.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort()
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
