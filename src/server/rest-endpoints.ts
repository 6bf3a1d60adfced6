import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Service } from '../context.ts'
import { createContext } from '../context.ts'
import { failureHeaders, statusOfCode } from '../doors/http-status.ts'
import type { Names } from '../doors/refusal-text.ts'
import type { FieldFault } from '../errors.ts'
import { Refusal } from '../errors.ts'
import { readIdempotencyKey } from '../input.ts'
import { failure, problemDetails, toldTo } from '../rest/failures.ts'
import type { Route } from '../rest/route.ts'
import { unpack } from '../rest/route.ts'
import { wanted } from './accept.ts'
import { admission } from './admission.ts'
import { takeJson } from './json-body.ts'
import { refuseOtherMethods } from './other-methods.ts'
import type { RateLimits } from './rate-limit.ts'
import { timesSent } from './request-head.ts'
import { routes } from './rest-routes.ts'
import { sendText } from './send-text.ts'
import type { Turn } from './turn.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How the caller names the operation's fields; null while the door itself is at work, which uses the caller's names. */
    names: Names | null
  }
}

/** Adds the endpoints to the HTTP host. */
export function addRestRoutes(
  app: FastifyInstance,
  { service, limits, turn }: { service: Service; limits: RateLimits | null; turn: Turn },
): void {
  takeJson(app)
  const admit = [requireJsonAccepted, admission(service, limits, turn)]
  const requireRoom = (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    service.db.requireRoom()
    done()
  }
  // What is refused waits too: it was read that there is nothing.
  const waitForEnd = (_request: FastifyRequest, _reply: FastifyReply, _text: unknown, done: () => void) =>
    turn.atEnd(done)
  for (const route of routes) {
    app.route({
      method: route.method,
      url: route.path,
      ...(route.method === 'GET' ? { onRequest: admit, onSend: waitForEnd } : { onRequest: [...admit, requireRoom] }),
      handler: (request, reply) => answer(service, route, { request, reply, turn }),
    })
  }
  const sharing = Map.groupBy(routes, ({ path }) => path.replace(/:\w+/g, ':'))
  for (const each of sharing.values()) {
    const methods = each.map(({ method }) => method)
    refuseOtherMethods(app, each[0]?.path ?? '', methods)
  }
}

async function answer(
  service: Service,
  route: Route,
  { request, reply, turn }: { request: FastifyRequest; reply: FastifyReply; turn: Turn },
): Promise<void> {
  const { key, faults } = route.method === 'POST' ? idempotencyKeyOf(request) : noKey
  const context = createContext(service, request.merchantId, key)
  const input = unpack(route, request, faults)
  request.names = route.names
  const { result, isReplayed } = await route.run(context, input)
  if (isReplayed) reply.header('idempotent-replayed', 'true')
  const answered = { status: route.status, type: jsonType, text: route.answer.write(result) }
  sendText(reply, answered, route.method === 'GET' ? turn.atEnd : undefined)
}

/** Answers a failure in the envelope of ruling 2, or as problem details where the caller asks for them (ruling 10). */
export function sendFailure(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const told = toldTo({ names: request.names ?? {}, requestId: request.id }, refusal)
  request.refusalCode = refusal.code
  reply.code(statusOfCode[refusal.code]).headers(failureHeaders(refusal.code))
  return isProblemWanted(request.headers.accept)
    ? reply.type('application/problem+json').send(problemDetails.write(told))
    : reply.type(jsonType).send(failure.write(told))
}

const jsonType = 'application/json; charset=utf-8'

/** Problem details are for whoever names them, and does not want the envelope more (ruling 10). */
function isProblemWanted(accept: string | undefined): boolean {
  const [json, problem] = [wanted('application/json', accept), wanted('application/problem+json', accept)]
  return problem.quality > json.quality || (problem.isNamed && problem.quality > 0 && problem.quality === json.quality)
}

/**
 * A caller that accepts no JSON can't be answered; most say nothing or accept anything (ruling 6). Who names problem details
 * alone means failures by it, and takes JSON.
 */
function requireJsonAccepted({ headers: { accept } }: FastifyRequest, _: FastifyReply, done: () => void): void {
  const [json, problem] = [wanted('application/json', accept), wanted('application/problem+json', accept)]
  const takesJson = json.quality > 0 || (problem.isNamed && problem.quality > 0 && !json.isNamed)
  if (!takesJson) throw new Refusal('NOT_ACCEPTABLE', 'This service answers application/json only.')
  done()
}

const noKey = { key: null, faults: [] }

/** The key, `null` when there is none, or what is wrong with it (ruling 22). */
function idempotencyKeyOf({ headers, raw }: FastifyRequest): { key: string | null; faults: FieldFault[] } {
  const text = headers[keyHeader]?.toString()
  if (text === undefined) return noKey
  const field = 'Idempotency-Key'
  // Node joins the values of a header that was sent twice by a comma: which of them would be meant?
  if (text.includes(',') && timesSent(raw, keyHeader) > 1) {
    return { key: null, faults: [{ field, code: 'INVALID_PARAMETER', message: 'must be given once' }] }
  }
  return readIdempotencyKey(field, text)
}

const keyHeader = 'idempotency-key'
