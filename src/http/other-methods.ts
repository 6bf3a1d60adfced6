import { METHODS } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../errors.ts'

/**
 * Answers every method that a path does not have with 405, and names those that it has (ruling 6).
 *
 * @param own the methods that are routed; HEAD comes with GET
 */
export function refuseOtherMethods(app: FastifyInstance, path: string, own: readonly string[]): void {
  // CONNECT never arrives as a request.
  const all = METHODS.filter((method) => method !== 'CONNECT')
  for (const method of all) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  const allowed = own.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).sort()
  const refuse = async (_: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allowed.join(', '))
    throw new Refusal('METHOD_NOT_ALLOWED', `This path takes ${allowed.join(', ')}.`)
  }
  app.route({
    method: all.filter((method) => !allowed.includes(method)),
    url: path,
    onRequest: refuse,
    handler: refuse,
  })
}
