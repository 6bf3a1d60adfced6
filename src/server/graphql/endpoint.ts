import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { failureHeaders, statusOfCode } from '../../core/api/http-status.ts'
import type { Refusal } from '../../core/errors.ts'
import type { Answer } from '../../graphql/execution/execute.ts'
import { answer, bodyOf, failedResult } from '../../graphql/execution/execute.ts'
import type { Service } from '../../operations/context.ts'
import { admission } from '../http/admission.ts'
import { isPageWanted } from '../http/content-negotiation.ts'
import { formsTaken } from '../http/forms-taken.ts'
import { takeJson } from '../http/json-body.ts'
import { refuseOtherMethods } from '../http/method-not-allowed.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { serviceFor } from '../http/request-lifecycle.ts'
import type { Turn } from '../http/response-flush.ts'
import { sendText } from '../http/send-text.ts'
import { refusalOf } from '../http/to-api-error.ts'
import type { GraphiqlPage } from '../pages/graphiql.ts'
import { sendGraphiql } from '../pages/graphiql.ts'
import { parametersOf } from './parameters.ts'
import { httpOf } from './status.ts'
import type { HoldStream } from './stream-limiter.ts'
import type { DocumentsTaken } from './trusted-documents.ts'
import { engineKnowing } from './trusted-documents.ts'
import type { YogaHandler } from './yoga.ts'
import { createYogaHandler } from './yoga.ts'

/** What the door takes: `graphiql` is `null` where there is none; `isPlanned` and `hasShortWay` are so but in tests. */
export type GraphqlOptions = {
  readonly service: Service
  readonly limits: RateLimits | null
  readonly graphiql: GraphiqlPage | null
  readonly documents: DocumentsTaken
  readonly isPlanned: boolean
  readonly hasShortWay: boolean
  readonly holdStream: HoldStream
  readonly turn: Turn
}

const path = '/graphql'

/**
 * Adds the GraphQL endpoint to the HTTP host.
 *
 * A request is answered by Yoga, with our engine in it. A POST that asks for one JSON document, as nearly all do, goes from
 * the host to the same engine without Yoga's requests and responses, which would take longer than all the rest of a small
 * answer (docs/architecture.md has the table). Form posts are refused, so that no page of another site can send one.
 */
export function addGraphqlRoute(
  app: FastifyInstance,
  { service, limits, graphiql, documents, isPlanned, hasShortWay, holdStream, turn }: GraphqlOptions,
): void {
  const engine = engineKnowing(app, { service, documents, isPlanned })
  const admit = admission(service, limits, turn)
  takeJson(app)
  app.setErrorHandler((error, request, reply) => sendRefusal(refusalOf(error, request), request, reply))

  let yoga: Promise<YogaHandler> | undefined
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = {
      service: serviceFor(service, request),
      engine,
      merchantId: request.merchantId,
      aheadMs: request.aheadMs,
      caller: request.caller,
      requestId: request.id,
      log: request.log,
      lastEventId: request.headers['last-event-id']?.toString() ?? null,
    }
    const { json } = formsTaken(request.headers.accept)
    if (hasShortWay && request.method === 'POST' && json !== null) {
      const answered = await answer(parametersOf(request), asked)
      if (answered) return sendJson(answered, json, { request, reply, turn })
    }
    yoga ??= createYogaHandler(engine, path, holdStream)
    return sendResponse(await (await yoga)(request, reply, asked), request, reply)
  }
  app.post(path, { onRequest: admit }, serve)
  const admitProgram: typeof admit = (request, reply, done) => {
    if (graphiql === null || !isBrowser(request)) return admit(request, reply, done)
    done()
  }
  app.get(path, { onRequest: admitProgram }, (request, reply) =>
    graphiql !== null && isBrowser(request) ? sendGraphiql(graphiql, request, reply) : serve(request, reply),
  )
  refuseOtherMethods(app, path, ['GET', 'POST'])
}

/** A browser that opens the address, rather than a program that asks something: the page itself holds nothing to protect. */
function isBrowser({ headers, query }: FastifyRequest): boolean {
  const asked = query as object
  return isPageWanted(headers.accept) && !['query', 'documentId', 'extensions'].some((name) => name in asked)
}

/** The short way's end. */
function sendJson(
  { result, operation, seen }: Answer,
  type: string,
  { request, reply, turn }: { request: FastifyRequest; reply: FastifyReply; turn: Turn },
): FastifyReply {
  request.operation = seen.operation
  request.isOperationTrusted = seen.isTrusted
  request.refusalCode = seen.codes.join() || null
  const { status, headers } = httpOf(result, type)
  reply.headers(headers)
  // Made before the wait: what is left to do then is to send.
  const answered = { status, type: `${type}; charset=utf-8`, text: bodyOf(result) }
  sendText(reply, answered, operation === 'query' ? turn.atEnd : undefined)
  return reply
}

/** Sends what Yoga answers: a stream as it comes, anything else at once. */
async function sendResponse(response: Response, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.code(response.status).headers(Object.fromEntries(response.headers))
  if (response.headers.has('content-length')) return reply.send(await response.text())
  return reply.send(request.method === 'HEAD' ? '' : response.body)
}

function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.refusalCode = refusal.code
  reply.headers(failureHeaders(refusal.code)).code(statusOfCode[refusal.code])
  return reply.type('application/json; charset=utf-8').send(bodyOf(failedResult(refusal, request.id)))
}
