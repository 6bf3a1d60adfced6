import type { FastifyInstance } from 'fastify'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import { receiveReports } from '../../modules/rails/orders/receive-reports.ts'
import { acceptOnlyJson } from '../http/json-body.ts'
import { rejectOtherMethods } from '../http/method-not-allowed.ts'
import type { RailApiOptions } from './verify-rail-request.ts'
import { createRailVerifier, rawBodyOf } from './verify-rail-request.ts'

const path = '/rails/:name/reports'

/** Adds where banks report what became of orders; whoever posts is known by the signature of the rail. */
export function addRailReports(app: FastifyInstance, options: RailApiOptions<Rail>): void {
  acceptOnlyJson(app, (body) => body)
  const { railOf, admit, requireRoom, requireSigned } = createRailVerifier(options)
  app.post(path, { onRequest: [admit, requireRoom] }, async (request, reply) => {
    const body = rawBodyOf(request).toString()
    const messageId = requireSigned(request, reply, body)
    const rail = railOf(request)
    const { received, unknown } = await receiveReports(options.service, rail, { messageId, body })
    // Money may have moved that nobody here has asked for.
    if (unknown.length > 0)
      request.log.error({ rail: rail.name, orders: unknown }, 'a bank reports orders that are not here')
    return { status: 'success', data: { received } }
  })
  rejectOtherMethods(app, path, ['POST'])
}
