import type { AddressInfo } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../modules/operators/record-action.ts'
import type { ConsoleAccess } from './console-access.ts'
import { readCookie } from './console-access.ts'
import { createSession } from './console-session.ts'
import { renderBarePage } from './layout.ts'
import type { LoginSession } from './login-session.ts'

const cookieName = 'payout_gateway_console'

/** The first browser that opens the session's link gets access. The console must listen on 127.0.0.1. */
export function createLocalAccess(session: LoginSession, actor: Actor): ConsoleAccess {
  const consoleSession = createSession({ actor, role: 'act', end: session.end, signIn: null })
  return {
    basePath: session.basePath,
    originOf: ({ server }) => `http://127.0.0.1:${(server.server.address() as AddressInfo | null)?.port}`,
    trustedProxies: 0,
    canBeLinkedTo: false,
    errorHint: 'The terminal of the console shows the error.',
    findSession: async (request) => (session.isValidCookie(readCookie(request, cookieName)) ? consoleSession : null),
    addRoutes: (app) => {
      app.get('/', async (request, reply) => openSession(session, request, reply))
    },
    sendWithoutSession: (_, reply) => sendSessionClosed(session, reply),
    sendEnded: (reply) => reply.send(renderBarePage('Ended', 'The session is over, and the console with it.')),
  }
}

function openSession(session: LoginSession, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { token } = request.query as { token?: unknown }
  const cookie = typeof token === 'string' ? session.redeemLinkToken(token) : null
  if (cookie === null) return sendSessionClosed(session, reply)
  // Browsers send cookies to all ports of a host. The random path keeps the session cookie from other programs on this
  // machine.
  reply.header('set-cookie', `${cookieName}=${cookie}; Path=${session.basePath}; HttpOnly; SameSite=Strict`)
  return reply.redirect(`${session.basePath}/`, 303)
}

function sendSessionClosed(session: LoginSession, reply: FastifyReply): FastifyReply {
  const reason = session.endReason() ?? 'The link was used already, or is of another console.'
  return reply.code(403).send(renderBarePage('Closed', `${reason} The command “console” prints a new link.`))
}
