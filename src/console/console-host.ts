import type { AddressInfo } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import { httpStatusByCode } from '../core/api/http-status.ts'
import { bodyLimitBytes, validateHead } from '../server/http/http-errors.ts'
import { setSecurityHeaders } from '../server/http/security-headers.ts'
import { favicon } from '../server/pages/page-layout.ts'
import { formPolicy } from '../server/pages/page-response.ts'
import { attentionPage } from './attention-page.ts'
import { booksPage } from './books-page.ts'
import type { ConsoleContext, ConsolePage } from './console-page.ts'
import { consoleStyle } from './console-style.ts'
import { renderBarePage } from './layout.ts'
import { logPage } from './log-page.ts'
import type { LoginSession } from './login-session.ts'
import { merchantPage } from './merchant-page.ts'
import { merchantsPage } from './merchants-page.ts'
import { overviewPage } from './overview-page.ts'
import { addEndSessionRoute, handlePageGet, handlePagePost } from './page-handlers.ts'
import { payoutPage } from './payout-page.ts'
import { payoutsPage } from './payouts-page.ts'
import { allFeesPage, allRatesPage, pricesPage } from './prices-page.ts'
import { railsPage } from './rails-page.ts'
import { walletPage } from './wallet-page.ts'
import { webhookPage } from './webhook-page.ts'
import { webhooksPage } from './webhooks-page.ts'

const consolePages: readonly ConsolePage[] = [
  overviewPage,
  payoutsPage,
  payoutPage,
  attentionPage,
  merchantsPage,
  merchantPage,
  walletPage,
  webhooksPage,
  webhookPage,
  railsPage,
  pricesPage,
  allRatesPage,
  allFeesPage,
  booksPage,
  logPage,
]

const cookieName = 'payout_gateway_console'

/** Creates the console, which must listen on 127.0.0.1 and which only the browser of `session` can use. */
export function createConsole(
  console: ConsoleContext,
  { session, onError }: { session: LoginSession; onError: (error: unknown) => void },
): FastifyInstance {
  const app = fastify({
    logger: false,
    // A HEAD request, for example of a link preview, must not use up the link.
    exposeHeadRoutes: false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: 30_000,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 512 },
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_, body, done) =>
    done(null, parseFormBody(String(body))),
  )
  app.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply)
    // With `no-referrer` browsers would send `Origin: null` with forms.
    reply.headers({ 'referrer-policy': 'same-origin', 'content-security-policy': formPolicy(consoleStyle) })
    reply.type('text/html; charset=utf-8')
    // Node ignores all Host headers but the first.
    const malformed = validateHead(request)
    if (malformed)
      return reply.code(httpStatusByCode[malformed.code]).send(renderBarePage('Bad request', malformed.message))
    const crossOrigin = crossOriginError(request)
    if (crossOrigin) return reply.code(403).send(renderBarePage('Forbidden', crossOrigin))
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const { statusCode = 500 } = error
    if (statusCode < 500)
      return reply.code(statusCode).send(renderBarePage('Bad request', 'The console does not understand this request.'))
    onError(error)
    return reply.code(500).send(renderBarePage('Something went wrong', 'The terminal of the console shows the error.'))
  })
  app.get('/favicon.svg', async (_, reply) => reply.type('image/svg+xml').send(favicon))
  app.get('/', async (request, reply) => openSession(session, request, reply))
  app.setNotFoundHandler(async (_, reply) => sendSessionClosed(session, reply))
  app.register(async (scope) => addPages(scope, console, session), { prefix: session.basePath })
  return app
}

function addPages(scope: FastifyInstance, console: ConsoleContext, session: LoginSession): void {
  scope.addHook('onRequest', async (request, reply) => {
    if (!session.isValidCookie(sessionCookie(request))) return sendSessionClosed(session, reply)
  })
  for (const page of consolePages) {
    const route = { console, session, page }
    scope.get(page.path, async (request, reply) => handlePageGet(route, request, reply))
    scope.post(page.path, async (request, reply) => handlePagePost(route, request, reply))
  }
  addEndSessionRoute(scope, session)
  scope.setNotFoundHandler(async (_, reply) =>
    reply.code(404).send(renderBarePage('Not found', 'The console has no such page.')),
  )
}

/** Exchanges the token of the link for the session cookie. */
function openSession(session: LoginSession, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { token } = request.query as { token?: unknown }
  const cookie = typeof token === 'string' ? session.redeemLinkToken(token) : null
  if (cookie === null) return sendSessionClosed(session, reply)
  // Cookies ignore ports. Other programs on this machine do not get it, because they do not serve this random path.
  reply.header('set-cookie', `${cookieName}=${cookie}; Path=${session.basePath}; HttpOnly; SameSite=Strict`)
  return reply.redirect(`${session.basePath}/`, 303)
}

function sendSessionClosed(session: LoginSession, reply: FastifyReply): FastifyReply {
  const reason = session.endReason() ?? 'The link was used already, or is of another console.'
  return reply.code(403).send(renderBarePage('Closed', `${reason} The command “console” prints a new link.`))
}

/**
 * Returns why a request is not from the console's own pages, or `null`. The check of Host prevents DNS rebinding, those of
 * Sec-Fetch-Site and Origin prevent requests from other sites and from other ports of this machine (CSRF).
 */
function crossOriginError({ headers, method, server }: FastifyRequest): string | null {
  const own = `127.0.0.1:${(server.server.address() as AddressInfo | null)?.port}`
  if (headers.host !== own) return 'The console answers only under its own address.'
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'none' && site !== 'same-origin')
    return 'The request comes from another page. Paste the link into the address bar.'
  if (method !== 'GET' && method !== 'HEAD' && headers.origin !== `http://${own}`)
    return 'The form comes from another page.'
  return null
}

function sessionCookie({ headers: { cookie = '' } }: FastifyRequest): string {
  const pair = cookie.split(/; */).find((each) => each.startsWith(`${cookieName}=`))
  return pair?.slice(cookieName.length + 1) ?? ''
}

/** Parses a form; several values of one field are joined by commas. */
function parseFormBody(body: string): Readonly<Record<string, string>> {
  const fields = new URLSearchParams(body)
  return Object.fromEntries([...new Set(fields.keys())].map((name) => [name, fields.getAll(name).join(',')]))
}
