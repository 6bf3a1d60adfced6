import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fastify, LogController } from 'fastify'
import type { DomainError } from '../core/errors.ts'
import type { Executor } from '../graphql/execution/engine.ts'
import type { Rail } from '../modules/rails/adapters/rail.ts'
import { createRailBankDirectory } from '../modules/rails/banks/rail-bank-directory.ts'
import type { Service } from '../operations/context.ts'
import { addGraphqlRoute } from './graphql/endpoint.ts'
import { createStreamLimiter } from './graphql/stream-limiter.ts'
import type { AllowedDocuments } from './graphql/trusted-documents.ts'
import type { TrustedProxies } from './http/caller-address.ts'
import { fastifyTrustProxy } from './http/caller-address.ts'
import { answerPreflight, setCorsHeaders } from './http/cors.ts'
import {
  bodyLimitBytes,
  discardRestOfBody,
  endpointNotFound,
  forwardExpectations,
  rejectConnection,
  toDomainError,
  validateHead,
} from './http/http-errors.ts'
import { createMethodCheck, rejectMethod, restoreMethod } from './http/method-not-allowed.ts'
import type { ExchangeTokens, RateLimits } from './http/rate-limit.ts'
import { createRateLimiter, createSharedRateLimiter, createUnauthenticatedRateLimiter } from './http/rate-limit.ts'
import { redirectTrailingSlash } from './http/redirects.ts'
import type { AccessLog, RequestTracer } from './http/request-lifecycle.ts'
import { observeRequests } from './http/request-lifecycle.ts'
import { createResponseFlush } from './http/response-flush.ts'
import { setSecurityHeaders } from './http/security-headers.ts'
import { addDocs } from './pages/docs.ts'
import type { GraphiqlTab } from './pages/graphiql.ts'
import { graphiqlPage } from './pages/graphiql.ts'
import { addHomePage, isMissingPage, sendMissingPage } from './pages/home-page.ts'
import { addRestRoutes, sendFailure } from './rest/endpoints.ts'
import { addRailEndpoints } from './rest/rail-endpoints.ts'
import { endpointGroups } from './rest/routes.ts'
import { addHealthEndpoints, addSandboxReceiver, addWebhookKeys } from './rest/service-endpoints.ts'

export type ServerOptions = {
  readonly service: Service
  readonly logger: FastifyBaseLogger & AccessLog
  readonly rateLimit: number | null
  readonly corsOrigins?: readonly string[]
  readonly trustedProxies?: TrustedProxies
  readonly documents?: AllowedDocuments
  readonly tabs?: () => Promise<readonly GraphiqlTab[]>
  readonly demoKey?: string | null
  readonly executor?: Executor
  /** If `hasFastPath` is false, Yoga handles every GraphQL request. */
  readonly hasFastPath?: boolean
  readonly rails?: readonly Rail[]
  readonly sharing?: SharedRateLimit
  readonly spans?: RequestTracer | undefined
  readonly elapsed?: () => number
}

export type SharedRateLimit = { readonly processes: number; readonly exchange: ExchangeTokens }

export function createServer({
  service,
  logger,
  rateLimit,
  corsOrigins = [],
  trustedProxies = 0,
  documents = 'any',
  tabs = async () => [],
  demoKey = null,
  executor = 'planned',
  hasFastPath = true,
  rails = [],
  sharing,
  spans,
  elapsed = () => performance.now(),
}: ServerOptions): FastifyInstance {
  const setCommonHeaders = (request: FastifyRequest, reply: FastifyReply) => {
    restoreMethod(request)
    reply.header('x-request-id', request.id)
    setSecurityHeaders(reply)
    setCorsHeaders(request, reply, corsOrigins)
  }
  const routerOptions = { maxParamLength: 16_384 }
  const methodCheck = createMethodCheck(routerOptions)
  const app = fastify({
    loggerInstance: withoutChildLoggers(logger),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: ({ headers }) => requestIdOf(headers['x-request-id']) ?? service.newId(),
    bodyLimit: bodyLimitBytes,
    trustProxy: fastifyTrustProxy(trustedProxies),
    // A request must arrive within `requestTimeout`. The timeout is checked every `connectionsCheckingInterval`.
    requestTimeout: 30_000,
    // Node applies the longer of `requestTimeout` and `headersTimeout` to the body, so both are set.
    // `requireHostHeader` is off, because Node's own error response has neither our error format nor a request id.
    http: { connectionsCheckingInterval: 5_000, headersTimeout: 30_000, requireHostHeader: false },
    connectionTimeout: 60_000,
    keepAliveTimeout: 72_000,
    rewriteUrl: methodCheck.rewriteMethod,
    routerOptions,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => rejectConnection(error, socket, service.newId()),
    frameworkErrors: (_error, request, reply) => {
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
  app.removeAllContentTypeParsers()
  app.addHook('onRoute', methodCheck.addRoute)
  app.addHook('onRequest', (request, reply, done) => {
    setCommonHeaders(request, reply)
    const error = validateHead(request)
    if (error === undefined && answerPreflight(request, reply)) return
    done(error ?? rejectMethod(request, reply) ?? (request.is404 ? endpointNotFound() : undefined))
  })
  app.addHook('onError', async (_request, reply, error) => discardRestOfBody(error, reply))
  observeRequests(app, logger, spans)
  app.setNotFoundHandler(async () => {
    throw endpointNotFound()
  })
  app.setErrorHandler((error, request, reply) => sendErrorOrPage(toDomainError(error, request), request, reply))

  forwardExpectations(app.server)
  addHealthEndpoints(app, service)
  addWebhookKeys(app, service)
  addHomePage(app, { mode: service.mode, key: demoKey })
  addDocs(app, endpointGroups, { mode: service.mode, demoKey })
  redirectTrailingSlash(app, '/docs', ['GET'])
  redirectTrailingSlash(app, '/graphql', ['GET', 'POST'])
  if (service.mode === 'sandbox') app.register(addSandboxReceiver)
  const responseFlush = createResponseFlush()
  service.db.onBeforeBatch(responseFlush.flush)
  const holdStream = createStreamLimiter(app, service, sharing?.processes ?? 1)
  const limits = createRateLimits(rateLimit, sharing, elapsed)
  app.register(async (scope) => {
    addRailEndpoints(scope, { service, rails, limits })
  })
  app.register(async (scope) => {
    addRestRoutes(scope, {
      service: { ...service, bankDirectory: createRailBankDirectory(rails) },
      limits,
      responseFlush,
      holdStream,
    })
  })
  app.register(async (scope) => {
    const graphiql = service.mode === 'sandbox' ? graphiqlPage(tabs) : null
    addGraphqlRoute(scope, {
      service,
      limits,
      graphiql,
      documents,
      executor,
      hasFastPath,
      holdStream,
      responseFlush,
    })
  })
  return app
}

/** Creating Fastify's child logger takes a tenth of a request's time. Log calls pass `request_id` instead. */
function withoutChildLoggers(logger: FastifyBaseLogger): FastifyBaseLogger {
  const shared: FastifyBaseLogger = Object.create(logger, { child: { value: () => shared } })
  return shared
}

function createRateLimits(
  rateLimit: number | null,
  sharing: SharedRateLimit | undefined,
  elapsed: () => number,
): RateLimits | null {
  if (rateLimit === null) return null
  return {
    merchants: sharing ? createSharedRateLimiter(rateLimit, sharing, elapsed) : createRateLimiter(rateLimit, elapsed),
    unauthenticated: createUnauthenticatedRateLimiter(
      Math.max(1, Math.floor(rateLimit / (sharing?.processes ?? 1))),
      elapsed,
    ),
  }
}

function sendErrorOrPage(error: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (!isMissingPage(error, request)) return sendFailure(error, request, reply)
  request.refusalCode = error.code
  return sendMissingPage(request, reply)
}

/** A request id from the client may have 1 to 128 printable ASCII characters (ruling 11). */
function requestIdOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[\x21-\x7e]([\x20-\x7e]{0,126}[\x21-\x7e])?$/.test(header) ? header : null
}
