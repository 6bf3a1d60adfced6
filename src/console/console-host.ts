import type { AddressInfo } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { fastify } from 'fastify'
import { statusOfCode } from '../core/api/http-status.ts'
import { setSecurityHeaders } from '../server/http/security-headers.ts'
import { bodyLimitBytes } from '../server/http/to-api-error.ts'
import { refusalOfHead } from '../server/http/validate-head.ts'
import { favicon } from '../server/pages/favicon.ts'
import { formPolicy } from '../server/pages/page-answer.ts'
import type { Desk } from './console-page.ts'
import { consolePages } from './console-pages.ts'
import { consoleStyle } from './console-style.ts'
import { closedPage } from './layout.ts'
import type { Entrance } from './login-session.ts'
import { addEnd, answerPage, answerSent } from './respond.ts'

const cookieName = 'payout_gateway_console'

/** The console, ready to listen on loopback; who comes in is decided by `entrance`. */
export function createConsole(
  desk: Desk,
  { entrance, onFault }: { entrance: Entrance; onFault: (error: unknown) => void },
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
    done(null, fieldsIn(String(body))),
  )
  app.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply)
    // Without a referrer browsers say of a form that its origin is null, as those of strangers may be.
    reply.headers({ 'referrer-policy': 'same-origin', 'content-security-policy': formPolicy(consoleStyle) })
    reply.type('text/html; charset=utf-8')
    // Of two Host headers Node gives the first.
    const malformed = refusalOfHead(request)
    if (malformed) return reply.code(statusOfCode[malformed.code]).send(closedPage('Not understood', malformed.message))
    const why = strangenessOf(request)
    if (why) return reply.code(403).send(closedPage('Not from here', why))
  })
  app.setErrorHandler((error: Error & { statusCode?: number }, _, reply) => {
    const { statusCode = 500 } = error
    if (statusCode < 500)
      return reply.code(statusCode).send(closedPage('Not understood', 'The request is not one of the console’s.'))
    onFault(error)
    return reply.code(500).send(closedPage('Something went wrong', 'The terminal in which the console runs says what.'))
  })
  app.get('/favicon.svg', async (_, reply) => reply.type('image/svg+xml').send(favicon))
  app.get('/', async (request, reply) => letIn(entrance, request, reply))
  app.setNotFoundHandler(async (_, reply) => sendClosed(entrance, reply))
  app.register(async (scope) => addPages(scope, desk, entrance), { prefix: entrance.base })
  return app
}

function addPages(scope: FastifyInstance, desk: Desk, entrance: Entrance): void {
  scope.addHook('onRequest', async (request, reply) => {
    if (!entrance.isAdmitted(sessionIn(request))) return sendClosed(entrance, reply)
  })
  for (const page of consolePages) {
    scope.get(page.path, async (request, reply) => answerPage({ desk, entrance, page }, request, reply))
    scope.post(page.path, async (request, reply) => answerSent({ desk, entrance, page }, request, reply))
  }
  addEnd(scope, entrance)
  scope.setNotFoundHandler(async (_, reply) =>
    reply.code(404).send(closedPage('There is nothing here', 'The console has no such page.')),
  )
}

/** Opens the session for whoever has the link, the first time. */
function letIn(entrance: Entrance, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { token } = request.query as { token?: unknown }
  const session = typeof token === 'string' ? entrance.admit(token) : null
  if (session === null) return sendClosed(entrance, reply)
  // Cookies know no ports: whatever else listens on this machine is not below this path.
  reply.header('set-cookie', `${cookieName}=${session}; Path=${entrance.base}; HttpOnly; SameSite=Strict`)
  return reply.redirect(`${entrance.base}/`, 303)
}

function sendClosed(entrance: Entrance, reply: FastifyReply): FastifyReply {
  const why = entrance.overBecause() ?? 'The link was used already, or is another one.'
  return reply.code(403).send(closedPage('Closed', `${why} The command “console” makes a new link.`))
}

/**
 * What is wrong with where a request comes from; `null` where nothing is. A name that leads here by somebody's DNS is refused as
 * a page of another origin is, also of another port of this machine.
 */
function strangenessOf({ headers, method, server }: FastifyRequest): string | null {
  const own = `127.0.0.1:${(server.server.address() as AddressInfo | null)?.port}`
  if (headers.host !== own) return 'The console answers under its own address only.'
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'none' && site !== 'same-origin')
    return 'The request comes from another page. Paste the link into the address bar.'
  if (method !== 'GET' && method !== 'HEAD' && headers.origin !== `http://${own}`)
    return 'The form comes from another page.'
  return null
}

function sessionIn({ headers: { cookie = '' } }: FastifyRequest): string {
  const found = cookie.split(/; */).find((each) => each.startsWith(`${cookieName}=`))
  return found?.slice(cookieName.length + 1) ?? ''
}

/** The fields of a form; several values of one name are separated by commas. */
function fieldsIn(body: string): Readonly<Record<string, string>> {
  const fields = new URLSearchParams(body)
  return Object.fromEntries([...new Set(fields.keys())].map((name) => [name, fields.getAll(name).join(',')]))
}
