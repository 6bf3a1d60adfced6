import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fastify, LogController } from 'fastify'
import { httpStatusByCode } from '../core/api/http-status.ts'
import { DomainError, unavailable } from '../core/errors.ts'
import type { Rail } from '../modules/rails/adapters/rail.ts'
import { publicKeys } from '../modules/webhooks/endpoints/endpoint-secrets.ts'
import type { Service } from '../operations/context.ts'
import { failure, toErrorPayload } from '../rest/error-responses.ts'
import { addGraphqlRoute } from './graphql/endpoint.ts'
import { createStreamLimiter } from './graphql/stream-limiter.ts'
import type { AllowedDocuments } from './graphql/trusted-documents.ts'
import type { AccessLog } from './http/access-log.ts'
import type { TrustedProxies } from './http/caller-address.ts'
import { fastifyTrustProxy } from './http/caller-address.ts'
import { answerPreflight, setCorsHeaders } from './http/cors.ts'
import { rejectOtherMethods, restoreMethod, routeOtherMethods } from './http/method-not-allowed.ts'
import type { ExchangeTokens, RateLimits } from './http/rate-limit.ts'
import { createRateLimiter, createSharedRateLimiter, createUnauthenticatedRateLimiter } from './http/rate-limit.ts'
import type { RequestTracer } from './http/request-lifecycle.ts'
import { traceRequests } from './http/request-lifecycle.ts'
import { createResponseFlush } from './http/response-flush.ts'
import { securityHeaderLines, setSecurityHeaders } from './http/security-headers.ts'
import { bodyLimitBytes, toDomainError } from './http/to-api-error.ts'
import { forwardExpectations, validateHead } from './http/validate-head.ts'
import { addPages, isMissingPage, sendMissingPage } from './pages/add-pages.ts'
import { addDocs } from './pages/docs.ts'
import type { GraphiqlTab } from './pages/graphiql.ts'
import { graphiqlPage } from './pages/graphiql.ts'
import { addDepositEndpoints } from './rest/deposit-endpoints.ts'
import { addRestRoutes, sendFailure } from './rest/endpoints.ts'
import { addRailReports } from './rest/rail-reports.ts'
import { endpointGroups } from './rest/routes.ts'
import { addSandboxReceiver } from './rest/sandbox-receiver.ts'

/** What the HTTP host takes: `rateLimit` in requests a second and merchant, `null` for none. */
export type ServerOptions = {
  readonly service: Service
  readonly logger: FastifyBaseLogger & AccessLog
  readonly rateLimit: number | null
  /** Origins whose pages may read answers, as `readOrigins` has them. */
  readonly corsOrigins?: readonly string[]
  /** Proxies whose `X-Forwarded-For` is believed; none unless they are given. */
  readonly trustedProxies?: TrustedProxies
  /** Which GraphQL documents are run; any unless said otherwise. */
  readonly documents?: AllowedDocuments
  /** What GraphiQL opens with, in the sandbox. */
  readonly tabs?: () => Promise<readonly GraphiqlTab[]>
  /** The key that the examples of the reference have; without it readers put theirs. */
  readonly demoKey?: string | null
  /** `false` only to test that it makes no difference: then graphql-js runs every GraphQL document. */
  readonly isPlanned?: boolean
  /** `false` only to test that it makes no difference: then Yoga answers every GraphQL request. */
  readonly hasFastPath?: boolean
  /** Rails whose banks may report by themselves, and who may watch addresses. */
  readonly rails?: readonly Rail[]
  /** Set where several processes answer: what they allow a merchant, they allow it together. */
  readonly sharing?: SharedRateLimit
  /** What follows requests, where they are traced. */
  readonly spans?: RequestTracer | undefined
  /** Milliseconds since any moment, for rate limits; they need durations, not the time of day. */
  readonly elapsed?: () => number
}

/** `processes` answer requests; they take what a merchant may send from the same windows. */
export type SharedRateLimit = { readonly processes: number; readonly exchange: ExchangeTokens }

/** The HTTP host with both doors, ready to listen or to be injected into. */
export function createServer({
  service,
  logger,
  rateLimit,
  corsOrigins = [],
  trustedProxies = 0,
  documents = 'any',
  tabs = async () => [],
  demoKey = null,
  isPlanned = true,
  hasFastPath = true,
  rails = [],
  sharing,
  spans,
  elapsed = () => performance.now(),
}: ServerOptions): FastifyInstance {
  /** What every answer has, whatever becomes of the request. */
  const setCommonHeaders = (request: FastifyRequest, reply: FastifyReply) => {
    restoreMethod(request)
    reply.header('x-request-id', request.id)
    setSecurityHeaders(reply)
    setCorsHeaders(request, reply, corsOrigins)
  }
  const app = fastify({
    loggerInstance: withoutChildLoggers(logger),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']) ?? service.newId(),
    bodyLimit: bodyLimitBytes,
    trustProxy: fastifyTrustProxy(trustedProxies),
    // A client that sends slowly holds a socket for this long, and until the next look at all of them.
    requestTimeout: 30_000,
    // Node holds a body to the longer of the two, and its own default for headers is a minute. A missing Host it would
    // answer itself, without envelope and id.
    http: { connectionsCheckingInterval: 5_000, headersTimeout: 30_000, requireHostHeader: false },
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    rewriteUrl: routeOtherMethods,
    routerOptions: { maxParamLength: 16_384 },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => rejectConnection(error, socket, service.newId()),
    frameworkErrors: (_error, request, reply) => {
      // No hook runs for a URL that can't be decoded.
      setCommonHeaders(request, reply)
      if (!answerPreflight(request, reply)) sendErrorOrPage(endpointNotFound(), request, reply)
    },
  })

  app.decorateRequest('merchantId', '')
  app.decorateRequest('aheadMs', 0)
  app.decorateRequest('caller')
  app.decorateRequest('validity')
  app.decorateRequest('names', null)
  app.decorateRequest('refusalCode', null)
  app.decorateRequest('operation', null)
  app.decorateRequest('isOperationTrusted', false)
  // No body is read but where an endpoint of the contract takes one.
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply)
    const refusal = validateHead(request)
    if (refusal === undefined && answerPreflight(request, reply)) return
    done(refusal ?? (request.is404 ? endpointNotFound() : undefined))
  })
  if (spans) traceRequests(app, spans)
  app.addHook('onResponse', (request, reply, done) => {
    const { span } = request
    const answer = {
      request_id: request.id,
      method: request.method,
      route: request.routeOptions.url ?? null,
      operation: request.operation,
      status: reply.statusCode,
      code: request.refusalCode,
      merchant_id: request.merchantId || null,
      duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
      ...(span?.trace && { trace_id: span.trace.traceId }),
    }
    logger.answered(answer, request.isOperationTrusted)
    if (span) span.end(answer, request.isOperationTrusted)
    else spans?.recordUnadmitted(answer)
    done()
  })
  app.setNotFoundHandler(async () => {
    throw endpointNotFound()
  })
  app.setErrorHandler((error, request, reply) => sendErrorOrPage(toDomainError(error, request), request, reply))

  forwardExpectations(app.server)
  addHealthEndpoints(app, service)
  addWebhookKeys(app, service)
  addPages(app, { mode: service.mode, key: demoKey })
  addDocs(app, endpointGroups, { mode: service.mode, demoKey })
  if (service.mode === 'sandbox') app.register(addSandboxReceiver)
  const turn = createResponseFlush()
  service.db.onBeforeBatch(turn.flush)
  const holdStream = createStreamLimiter(app, service, sharing?.processes ?? 1)
  const limits = createRateLimits(rateLimit, sharing, elapsed)
  app.register(async (scope) => {
    addDepositEndpoints(scope, { service, rails, limits })
  })
  app.register(async (scope) => {
    addRailReports(scope, { service, rails, limits })
  })
  app.register(async (scope) => {
    addRestRoutes(scope, { service, limits, responseFlush: turn, holdStream })
  })
  app.register(async (scope) => {
    const graphiql = service.mode === 'sandbox' ? graphiqlPage(tabs) : null
    addGraphqlRoute(scope, {
      service,
      limits,
      graphiql,
      documents,
      isPlanned,
      hasFastPath: hasFastPath,
      holdStream,
      responseFlush: turn,
    })
  })
  return app
}

/** Fastify makes each request a logger of its own, which takes a tenth of its time: whoever logs says for which request. */
function withoutChildLoggers(logger: FastifyBaseLogger): FastifyBaseLogger {
  const own: FastifyBaseLogger = Object.create(logger, { child: { value: () => own } })
  return own
}

function createRateLimits(
  rateLimit: number | null,
  sharing: SharedRateLimit | undefined,
  elapsed: () => number,
): RateLimits | null {
  if (rateLimit === null) return null
  return {
    merchants: sharing ? createSharedRateLimiter(rateLimit, sharing, elapsed) : createRateLimiter(rateLimit, elapsed),
    // In equal shares: an address that is refused by one process may ask another, but all together keep the limit.
    unauthenticated: createUnauthenticatedRateLimiter(
      Math.max(1, Math.floor(rateLimit / (sharing?.processes ?? 1))),
      elapsed,
    ),
  }
}

/** Programs get the envelope; who comes with a browser to where nothing is, a page. */
function sendErrorOrPage(refusal: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isMissingPage(refusal, request)) return sendFailure(refusal, request, reply)
  request.refusalCode = refusal.code
  return sendMissingPage(request, reply)
}

function endpointNotFound(): DomainError {
  return new DomainError('ENDPOINT_NOT_FOUND', 'There is no such endpoint.')
}

/** Alive: the process answers. Ready: it can read its database, and so serve; else it says why, where that is known. */
function addHealthEndpoints(app: FastifyInstance, service: Service): void {
  app.get('/livez', async () => ({ status: 'ok' }))
  app.get('/readyz', async () => {
    await service.db.ping().catch((error: Error) => {
      if (error instanceof DomainError) throw error
      throw Object.assign(unavailable('The database can not be read.'), { cause: error })
    })
    return { status: 'ok' }
  })
  for (const path of ['/livez', '/readyz']) rejectOtherMethods(app, path, ['GET'])
}

/** What verifies the asymmetric signatures of webhooks, for receivers that find it by themselves. */
function addWebhookKeys(app: FastifyInstance, service: Service): void {
  const path = '/.well-known/webhook-keys'
  app.get(path, async (_, reply) => {
    reply.header('cache-control', 'public, max-age=60')
    return { keys: await publicKeys(service) }
  })
  rejectOtherMethods(app, path, ['GET'])
}

/** A caller's own request id, if it is 1 to 128 printable ASCII characters (ruling 11). */
function requestIdOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[\x21-\x7e]([\x20-\x7e]{0,126}[\x21-\x7e])?$/.test(header) ? header : null
}

/** Answers what is no HTTP request, or came too slowly, in the same envelope, and ends the connection. */
function rejectConnection(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const isTimeout = error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
  const refusal = isTimeout
    ? new DomainError('REQUEST_TIMEOUT', 'The request did not arrive in time.')
    : new DomainError('MALFORMED_REQUEST', 'This is not a valid HTTP request.')
  const body = failure.write(toErrorPayload({ names: {}, requestId }, refusal))
  socket.end(
    `HTTP/1.1 ${httpStatusByCode[refusal.code]} ${isTimeout ? 'Request Timeout' : 'Bad Request'}\r\n` +
      `content-type: application/json; charset=utf-8\r\nx-request-id: ${requestId}\r\n${securityHeaderLines}` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
