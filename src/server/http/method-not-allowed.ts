import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../../core/errors.ts'

/** The methods that paths have. */
export const routed = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE']

/** What every other method is routed as: routes for each of thirty would be most of what it takes to make the host. */
const anyOther = 'TRACE'
const sent = new WeakMap<IncomingMessage, string>()

/** Has the host route a request whose method no path has, as its `rewriteUrl`. The URL stays as it is. */
export function routeOtherMethods(request: IncomingMessage): string {
  const { method = '', url = '' } = request
  if (!routed.includes(method)) {
    sent.set(request, method)
    request.method = anyOther
  }
  return url
}

/** Gives a request its own method back once it is routed. */
export function restoreMethod({ raw }: FastifyRequest): void {
  if (raw.method === anyOther) raw.method = sent.get(raw) ?? anyOther
}

/**
 * Answers every method that a path does not have with 405, and names those that it has (ruling 6).
 *
 * @param own the methods that are routed; HEAD comes with GET
 */
export function refuseOtherMethods(app: FastifyInstance, path: string, own: readonly string[]): void {
  const allowed = own.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort()
  const refuse = async (_: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allowed.join(', '))
    throw new Refusal('METHOD_NOT_ALLOWED', `This path takes ${allowed.join(', ')}.`)
  }
  app.route({
    method: [...routed, anyOther].filter((method) => !allowed.includes(method)),
    url: path,
    onRequest: refuse,
    handler: refuse,
  })
}
