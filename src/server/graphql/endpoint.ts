import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import type { DomainError } from '../../core/errors.ts'
import type { Executor } from '../../graphql/execution/engine.ts'
import type { GraphqlAnswer } from '../../graphql/execution/execute.ts'
import { errorResult, executeRequest, serializeResult } from '../../graphql/execution/execute.ts'
import type { Service } from '../../operations/context.ts'
import { createAdmissionHook } from '../http/admission.ts'
import { acceptedMediaTypes, isHtmlRequested } from '../http/content-negotiation.ts'
import { toDomainError } from '../http/http-errors.ts'
import { acceptOnlyJson } from '../http/json-body.ts'
import { unsupportedMethod } from '../http/method-not-allowed.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { withRequestTrace } from '../http/request-lifecycle.ts'
import type { ResponseFlush } from '../http/response-flush.ts'
import { sendText } from '../http/response-flush.ts'
import type { LoadGraphiqlPage } from '../pages/graphiql.ts'
import { sendGraphiql } from '../pages/graphiql.ts'
import { readRequestParameters, responseHeadOf } from './graphql-over-http.ts'
import type { HoldStream } from './stream-limiter.ts'
import type { AllowedDocuments } from './trusted-documents.ts'
import { createTrustedEngine } from './trusted-documents.ts'
import type { YogaHandler } from './yoga.ts'
import { createYogaHandler } from './yoga.ts'

export type GraphqlOptions = {
  readonly service: Service
  readonly limits: RateLimits | null
  readonly graphiql: LoadGraphiqlPage | null
  readonly documents: AllowedDocuments
  readonly executor: Executor
  readonly hasFastPath: boolean
  readonly holdStream: HoldStream
  readonly responseFlush: ResponseFlush
}

const path = '/graphql'

/**
 * If a POST request accepts a single JSON document, the host calls the engine without Yoga, because creating Yoga's
 * Request and Response objects would more than double the time of a small request. All other GraphQL requests go
 * through Yoga to the same engine. Form posts are rejected, to prevent cross-site request forgery.
 */
export function addGraphqlRoute(
  app: FastifyInstance,
  { service, limits, graphiql, documents, executor, hasFastPath, holdStream, responseFlush }: GraphqlOptions,
): void {
  const engine = createTrustedEngine(app, { service, documents, executor })
  const admit = createAdmissionHook(service, limits, responseFlush)
  acceptOnlyJson(app)
  app.setErrorHandler((error, request, reply) => sendErrorResult(toDomainError(error, request), request, reply))

  let yoga: Promise<YogaHandler> | undefined
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const admitted = {
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
      const answer = await executeRequest(readRequestParameters(request), admitted)
      if (answer) return sendJson(answer, json, { request, reply, responseFlush })
    }
    yoga ??= createYogaHandler(engine, path, holdStream)
    return sendResponse(await (await yoga)(request, reply, admitted), request, reply)
  }
  app.post(path, { onRequest: admit }, serve)
  const admitUnlessBrowser: typeof admit = (request, reply, done) => {
    if (graphiql === null || !isBrowserNavigation(request)) return admit(request, reply, done)
    done()
  }
  app.get(path, { onRequest: admitUnlessBrowser }, (request, reply) =>
    graphiql !== null && isBrowserNavigation(request) ? sendGraphiql(graphiql, request, reply) : serve(request, reply),
  )
  // Without this route, the error for another method would not have the format of GraphQL errors.
  app.route({ method: unsupportedMethod, url: path, handler: async () => {} })
}

function isBrowserNavigation({ headers, query }: FastifyRequest): boolean {
  return (
    isHtmlRequested(headers.accept) && !['query', 'documentId', 'extensions'].some((name) => name in (query as object))
  )
}

function sendJson(
  { result, operation, logFields }: GraphqlAnswer,
  type: string,
  { request, reply, responseFlush }: { request: FastifyRequest; reply: FastifyReply; responseFlush: ResponseFlush },
): FastifyReply {
  request.operation = logFields.operation
  request.isOperationTrusted = logFields.isTrusted
  request.refusalCode = logFields.codes.join() || null
  const { status, headers } = responseHeadOf(result, type)
  reply.headers(headers)
  const response = { status, type: `${type}; charset=utf-8`, text: serializeResult(result) }
  sendText(reply, response, operation === 'query' ? responseFlush.schedule : undefined)
  return reply
}

async function sendResponse(response: Response, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  reply.code(response.status).headers(Object.fromEntries(response.headers))
  if (response.headers.has('content-length')) return reply.send(await response.text())
  return reply.send(request.method === 'HEAD' ? '' : response.body)
}

function sendErrorResult(error: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.refusalCode = error.code
  reply.headers(errorHeaders(error.code)).code(httpStatusByCode[error.code])
  return reply.type('application/json; charset=utf-8').send(serializeResult(errorResult(error, request.id)))
}
