import type { AddressInfo } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import { httpStatusByCode } from '../core/api/http-status.ts'
import { bodyLimitBytes, validateHead } from '../server/http/http-errors.ts'
import { setSecurityHeaders } from '../server/http/security-headers.ts'
import { favicon } from '../server/pages/page-layout.ts'
import { formPolicy } from '../server/pages/page-response.ts'
import type { ConsoleContext } from './console-page.ts'
import { consolePages } from './console-pages.ts'
import { consoleStyle } from './console-style.ts'
import { renderBarePage } from './layout.ts'
import type { LoginSession } from './login-session.ts'
import { addEndSessionRoute, handlePageGet, handlePagePost } from './page-handlers.ts'

const cookieName = 'payout_gateway_console'

/** The console, ready to listen on loopback; who comes in is decided by `entrance`. */
export function createConsole(
  desk: ConsoleContext,
  { entrance, onFault }: { entrance: LoginSession; onFault: (error: unknown) => void },
): FastifyInstance {
  const app = fastify({
    logger: false,
    // Who only looks whether something is there does not use up the link.
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
    // Without a referrer browsers say of a form that its origin is null, as those of strangers may be.
    reply.headers({ 'referrer-policy': 'same-origin', 'content-security-policy': formPolicy(consoleStyle) })
    reply.type('text/html; charset=utf-8')
    // Of two Host headers Node gives the first.
    const malformed = validateHead(request)
    if (malformed)
      return reply.code(httpStatusByCode[malformed.code]).send(renderBarePage('Not understood', malformed.message))
    const why = crossOriginError(request)
    if (why) return reply.code(403).send(renderBarePage('Not from here', why))
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const { statusCode = 500 } = error
    if (statusCode < 500)
      return reply.code(statusCode).send(renderBarePage('Not understood', 'The request is not one of the console’s.'))
    onFault(error)
    return reply
      .code(500)
      .send(renderBarePage('Something went wrong', 'The terminal in which the console runs says what.'))
  })
  app.get('/favicon.svg', async (_, reply) => reply.type('image/svg+xml').send(favicon))
  app.get('/', async (request, reply) => openSession(entrance, request, reply))
  app.setNotFoundHandler(async (_, reply) => sendSessionClosed(entrance, reply))
  app.register(async (scope) => addPages(scope, desk, entrance), { prefix: entrance.basePath })
  return app
}

function addPages(scope: FastifyInstance, desk: ConsoleContext, entrance: LoginSession): void {
  scope.addHook('onRequest', async (request, reply) => {
    if (!entrance.isValidCookie(sessionCookie(request))) return sendSessionClosed(entrance, reply)
  })
  for (const page of consolePages) {
    scope.get(page.path, async (request, reply) =>
      handlePageGet({ console: desk, session: entrance, page }, request, reply),
    )
    scope.post(page.path, async (request, reply) =>
      handlePagePost({ console: desk, session: entrance, page }, request, reply),
    )
  }
  addEndSessionRoute(scope, entrance)
  scope.setNotFoundHandler(async (_, reply) =>
    reply.code(404).send(renderBarePage('There is nothing here', 'The console has no such page.')),
  )
}

/** Opens the session for whoever has the link, the first time. */
function openSession(entrance: LoginSession, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { token } = request.query as { token?: unknown }
  const session = typeof token === 'string' ? entrance.redeemLinkToken(token) : null
  if (session === null) return sendSessionClosed(entrance, reply)
  // Cookies know no ports: whatever else listens on this machine is not below this path.
  reply.header('set-cookie', `${cookieName}=${session}; Path=${entrance.basePath}; HttpOnly; SameSite=Strict`)
  return reply.redirect(`${entrance.basePath}/`, 303)
}

function sendSessionClosed(entrance: LoginSession, reply: FastifyReply): FastifyReply {
  const why = entrance.endReason() ?? 'The link was used already, or is another one.'
  return reply.code(403).send(renderBarePage('Closed', `${why} The command “console” makes a new link.`))
}

/**
 * What is wrong with where a request comes from; `null` where nothing is. A name that leads here by somebody's DNS is refused as
 * a page of another origin is, also of another port of this machine.
 */
function crossOriginError({ headers, method, server }: FastifyRequest): string | null {
  const own = `127.0.0.1:${(server.server.address() as AddressInfo | null)?.port}`
  if (headers.host !== own) return 'The console answers under its own address only.'
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'none' && site !== 'same-origin')
    return 'The request comes from another page. Paste the link into the address bar.'
  if (method !== 'GET' && method !== 'HEAD' && headers.origin !== `http://${own}`)
    return 'The form comes from another page.'
  return null
}

function sessionCookie({ headers: { cookie = '' } }: FastifyRequest): string {
  const found = cookie.split(/; */).find((each) => each.startsWith(`${cookieName}=`))
  return found?.slice(cookieName.length + 1) ?? ''
}

/** The fields of a form; several values of one name are separated by commas. */
function parseFormBody(body: string): Readonly<Record<string, string>> {
  const fields = new URLSearchParams(body)
  return Object.fromEntries([...new Set(fields.keys())].map((name) => [name, fields.getAll(name).join(',')]))
}
