import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import type { DomainError } from '../../core/errors.ts'
import type { GraphqlAnswer } from '../../graphql/execution/execute.ts'
import { errorResult, executeRequest, serializeResult } from '../../graphql/execution/execute.ts'
import type { Service } from '../../operations/context.ts'
import { acceptedMediaTypes } from '../http/accepted-media-types.ts'
import { createAdmissionHook } from '../http/admission.ts'
import { isHtmlRequested } from '../http/content-negotiation.ts'
import { acceptOnlyJson } from '../http/json-body.ts'
import { rejectOtherMethods } from '../http/method-not-allowed.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { withRequestTrace } from '../http/request-lifecycle.ts'
import type { ResponseFlush } from '../http/response-flush.ts'
import { sendText } from '../http/send-text.ts'
import { toDomainError } from '../http/to-api-error.ts'
import type { LoadGraphiqlPage } from '../pages/graphiql.ts'
import { sendGraphiql } from '../pages/graphiql.ts'
import { readRequestParameters, responseHeadOf } from './graphql-over-http.ts'
import type { HoldStream } from './stream-limiter.ts'
import type { AllowedDocuments } from './trusted-documents.ts'
import { createTrustedEngine } from './trusted-documents.ts'
import type { YogaHandler } from './yoga.ts'
import { createYogaHandler } from './yoga.ts'

/** What the door takes: `graphiql` is `null` where there is none; `isPlanned` and `hasFastPath` are so but in tests. */
export type GraphqlOptions = {
  readonly service: Service
  readonly limits: RateLimits | null
  readonly graphiql: LoadGraphiqlPage | null
  readonly documents: AllowedDocuments
  readonly isPlanned: boolean
  readonly hasFastPath: boolean
  readonly holdStream: HoldStream
  readonly responseFlush: ResponseFlush
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
  { service, limits, graphiql, documents, isPlanned, hasFastPath, holdStream, responseFlush: turn }: GraphqlOptions,
): void {
  const engine = createTrustedEngine(app, { service, documents, isPlanned })
  const admit = createAdmissionHook(service, limits, turn)
  acceptOnlyJson(app)
  app.setErrorHandler((error, request, reply) => sendErrorResult(toDomainError(error, request), request, reply))

  let yoga: Promise<YogaHandler> | undefined
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const asked = {
      service: withRequestTrace(service, request),
      engine,
      merchantId: request.merchantId,
      aheadMs: request.aheadMs,
      caller: request.caller,
      requestId: request.id,
      log: request.log,
      lastEventId: request.headers['last-event-id']?.toString() ?? null,
    }
    const { json } = acceptedMediaTypes(request.headers.accept)
    if (hasFastPath && request.method === 'POST' && json !== null) {
      const answered = await executeRequest(readRequestParameters(request), asked)
      if (answered) return sendJson(answered, json, { request, reply, turn })
    }
    yoga ??= createYogaHandler(engine, path, holdStream)
    return sendResponse(await (await yoga)(request, reply, asked), request, reply)
  }
  app.post(path, { onRequest: admit }, serve)
  const admitUnlessBrowser: typeof admit = (request, reply, done) => {
    if (graphiql === null || !isBrowserNavigation(request)) return admit(request, reply, done)
    done()
  }
  app.get(path, { onRequest: admitUnlessBrowser }, (request, reply) =>
    graphiql !== null && isBrowserNavigation(request) ? sendGraphiql(graphiql, request, reply) : serve(request, reply),
  )
  rejectOtherMethods(app, path, ['GET', 'POST'])
}

/** A browser that opens the address, rather than a program that asks something: the page itself holds nothing to protect. */
function isBrowserNavigation({ headers, query }: FastifyRequest): boolean {
  const asked = query as object
  return isHtmlRequested(headers.accept) && !['query', 'documentId', 'extensions'].some((name) => name in asked)
}

/** The short way's end. */
function sendJson(
  { result, operation, logFields: seen }: GraphqlAnswer,
  type: string,
  { request, reply, turn }: { request: FastifyRequest; reply: FastifyReply; turn: ResponseFlush },
): FastifyReply {
  request.operation = seen.operation
  request.isOperationTrusted = seen.isTrusted
  request.refusalCode = seen.codes.join() || null
  const { status, headers } = responseHeadOf(result, type)
  reply.headers(headers)
  // Made before the wait: what is left to do then is to send.
  const answered = { status, type: `${type}; charset=utf-8`, text: serializeResult(result) }
  sendText(reply, answered, operation === 'query' ? turn.schedule : undefined)
  return reply
}

/** Sends what Yoga answers: a stream as it comes, anything else at once. */
async function sendResponse(response: Response, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.code(response.status).headers(Object.fromEntries(response.headers))
  if (response.headers.has('content-length')) return reply.send(await response.text())
  return reply.send(request.method === 'HEAD' ? '' : response.body)
}

function sendErrorResult(refusal: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.refusalCode = refusal.code
  reply.headers(errorHeaders(refusal.code)).code(httpStatusByCode[refusal.code])
  return reply.type('application/json; charset=utf-8').send(serializeResult(errorResult(refusal, request.id)))
}
