import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import { httpStatusByCode } from '../core/api/http-status.ts'
import { createPeriodReader } from '../modules/payout-statistics/read-statistics.ts'
import { fastifyTrustProxy, isForwardedFromHttp } from '../server/http/caller-address.ts'
import { bodyLimitBytes, validateHead } from '../server/http/http-errors.ts'
import { setSecurityHeaders } from '../server/http/security-headers.ts'
import { favicon } from '../server/pages/page-layout.ts'
import { formPolicy } from '../server/pages/page-response.ts'
import { attentionPage } from './attention-page.ts'
import { booksPage } from './books-page.ts'
import type { ConsoleAccess } from './console-access.ts'
import type { ConsoleContext, ConsolePage, PagesContext } from './console-page.ts'
import { consoleScript, consoleScriptPath } from './console-script.ts'
import type { ConsoleSession } from './console-session.ts'
import { consoleStyle } from './console-style.ts'
import { customerPage } from './customer-page.ts'
import { customersPage } from './customers-page.ts'
import { deliveriesPage } from './deliveries-page.ts'
import { depositsPage } from './deposits-page.ts'
import { renderBarePage } from './layout.ts'
import { logPage } from './log-page.ts'
import { merchantPage } from './merchant-page.ts'
import { merchantsPage } from './merchants-page.ts'
import { overviewPage } from './overview-page.ts'
import { endSession, endSessionPath, handlePageGet, handlePagePost } from './page-handlers.ts'
import { payoutMethodsPage } from './payout-methods-page.ts'
import { payoutPage } from './payout-page.ts'
import { payoutsPage } from './payouts-page.ts'
import { allFeesPage, allRatesPage, pricesPage } from './prices-page.ts'
import { railPage } from './rail-page.ts'
import { railsPage } from './rails-page.ts'
import { searchPage } from './search-page.ts'
import { walletPage } from './wallet-page.ts'
import { walletsPage } from './wallets-page.ts'
import { webhookPage } from './webhook-page.ts'
import { webhooksPage } from './webhooks-page.ts'

const consolePages: readonly ConsolePage[] = [
  overviewPage,
  payoutsPage,
  payoutPage,
  depositsPage,
  attentionPage,
  merchantsPage,
  merchantPage,
  customersPage,
  customerPage,
  walletsPage,
  walletPage,
  payoutMethodsPage,
  webhooksPage,
  deliveriesPage,
  webhookPage,
  railsPage,
  railPage,
  searchPage,
  pricesPage,
  allRatesPage,
  allFeesPage,
  booksPage,
  logPage,
]

export function createConsole(
  console: ConsoleContext,
  { access, onError }: { access: ConsoleAccess; onError: (error: unknown) => void },
): FastifyInstance {
  const app = fastify({
    logger: false,
    // A HEAD request, for example of a link preview, must not use up the one-time link.
    exposeHeadRoutes: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: 30_000,
    trustProxy: fastifyTrustProxy(access.trustedProxies),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 512 },
  })
  app.decorateRequest('consoleSession', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, parseFormBody(String(body))),
  )
  app.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply)
    // With `no-referrer`, browsers would send `Origin: null` with forms.
    reply.headers({ 'referrer-policy': 'same-origin', 'content-security-policy': formPolicy(consoleStyle) })
    reply.type('text/html; charset=utf-8')
    // Node.js ignores repeated Host headers.
    const malformed = validateHead(request)
    if (malformed)
      return reply.code(httpStatusByCode[malformed.code]).send(renderBarePage('Bad request', malformed.message))
    const crossOrigin = crossOriginError(request, access)
    if (crossOrigin) return reply.code(403).send(renderBarePage('Forbidden', crossOrigin))
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const { statusCode = 500 } = error
    if (statusCode < 500)
      return reply.code(statusCode).send(renderBarePage('Bad request', 'The console does not understand this request.'))
    onError(error)
    return reply.code(500).send(renderBarePage('Something went wrong', access.errorHint))
  })
  app.get('/favicon.svg', async (_, reply) => reply.type('image/svg+xml').send(favicon))
  access.addRoutes(app)
  app.setNotFoundHandler(async (request, reply) => {
    const isOutside = !request.url.startsWith(`${access.basePath}/`)
    if (isOutside || (await findSession(access, request)) === null) return access.sendWithoutSession(request, reply)
    return reply.code(404).send(renderBarePage('Not found', 'The console has no such page.'))
  })
  const context = { ...console, readPeriod: createPeriodReader() }
  app.register(async (scope) => addPages(scope, context, access), { prefix: access.basePath })
  return app
}

function addPages(scope: FastifyInstance, console: PagesContext, access: ConsoleAccess): void {
  scope.addHook('onRequest', async (request, reply) => {
    request.consoleSession = await findSession(access, request)
    if (request.consoleSession === null) return access.sendWithoutSession(request, reply)
    reply.header('content-security-policy', formPolicy(consoleStyle, { hasScriptFile: true }))
  })
  scope.get(consoleScriptPath, async (_, reply) => reply.type('text/javascript; charset=utf-8').send(consoleScript))
  const sessionOf = ({ consoleSession }: FastifyRequest) => consoleSession as ConsoleSession
  for (const page of consolePages) {
    const routeOf = (request: FastifyRequest) => ({ console, access, session: sessionOf(request), page })
    scope.get(page.path, async (request, reply) => handlePageGet(routeOf(request), request, reply))
    scope.post(page.path, async (request, reply) => handlePagePost(routeOf(request), request, reply))
  }
  scope.post(endSessionPath, async (request, reply) => endSession(access, sessionOf(request), request, reply))
}

/** Ignores the session cookie of a request from another site, even if the browser sends it. */
async function findSession(access: ConsoleAccess, request: FastifyRequest): Promise<ConsoleSession | null> {
  return isFromOtherSite(request) ? null : access.findSession(request)
}

function isFromOtherSite({ headers: { 'sec-fetch-site': site } }: FastifyRequest): boolean {
  return site !== undefined && site !== 'none' && site !== 'same-origin'
}

/**
 * Returns the error message for a request from another site, or `null` for a request from the console's own pages. The
 * check of Host prevents DNS rebinding. The checks of Sec-Fetch-Site and Origin prevent requests from other sites and
 * from other ports of this machine (CSRF).
 */
function crossOriginError(request: FastifyRequest, access: ConsoleAccess): string | null {
  const { headers, method } = request
  const origin = new URL(access.originOf(request))
  if (headers.host !== origin.host) return 'The console answers only under its own address.'
  if (origin.protocol === 'https:' && isForwardedFromHttp(request))
    return `The console answers over HTTPS only: ${origin.origin}`
  const isLink = access.canBeLinkedTo && method === 'GET' && headers['sec-fetch-mode'] === 'navigate'
  if (isFromOtherSite(request) && !isLink)
    return 'The request comes from another page. Paste the link into the address bar.'
  if (method !== 'GET' && method !== 'HEAD' && headers.origin !== origin.origin)
    return 'The form comes from another page.'
  return null
}

function parseFormBody(body: string): Readonly<Record<string, string>> {
  const fields = new URLSearchParams(body)
  return Object.fromEntries([...new Set(fields.keys())].map((name) => [name, fields.getAll(name).join(',')]))
}
