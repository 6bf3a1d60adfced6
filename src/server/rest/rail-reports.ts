import type { FastifyInstance } from 'fastify'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import { receiveReports } from '../../modules/rails/orders/receive-reports.ts'
import { takeJson } from '../http/json-body.ts'
import { refuseOtherMethods } from '../http/method-not-allowed.ts'
import type { RailDoorOptions } from './verify-rail-request.ts'
import { railDoor, signedBody } from './verify-rail-request.ts'

const path = '/rails/:name/reports'

/** Adds where banks report what became of orders; whoever posts is known by the signature of the rail. */
export function addRailReports(app: FastifyInstance, options: RailDoorOptions<Rail>): void {
  takeJson(app, (body) => body)
  const { railOf, admit, requireRoom, requireSigned } = railDoor(options)
  app.post(path, { onRequest: [admit, requireRoom] }, async (request, reply) => {
    const body = signedBody(request).toString()
    const messageId = requireSigned(request, reply, body)
    const rail = railOf(request)
    const { received, unknown } = await receiveReports(options.service, rail, { messageId, body })
    // Money may have moved that nobody here has asked for.
    if (unknown.length > 0)
      request.log.error({ rail: rail.name, orders: unknown }, 'a bank reports orders that are not here')
    return { status: 'success', data: { received } }
  })
  refuseOtherMethods(app, path, ['POST'])
}
