import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpStatusByCode } from '../core/api/http-status.ts'
import { DomainError, formatDomainError } from '../core/errors.ts'
import type { Clock } from '../core/ids-and-clock.ts'
import type { ConfiguredOperator } from '../modules/operators/operator.ts'
import { parseOperatorName } from '../modules/operators/operator.ts'
import type { SignIn } from '../modules/operators/sign-in.ts'
import { findOperatorByLink, signInByLink, signInByPassword } from '../modules/operators/sign-in.ts'
import type { Service } from '../operations/context.ts'
import type { TrustedProxies } from '../server/http/caller-address.ts'
import { callerAddress } from '../server/http/caller-address.ts'
import { networkOf } from '../server/http/rate-limit.ts'
import type { ConsoleAccess } from './console-access.ts'
import { readCookie } from './console-access.ts'
import type { FormValues } from './console-page.ts'
import { createGuessLimiter } from './guess-limiter.ts'
import { renderBarePage } from './layout.ts'
import { createOperatorSessions } from './operator-sessions.ts'
import { linkPath, renderLinkPage, renderSignInPage, signInPath } from './sign-in-page.ts'

type SignInLog = Readonly<Record<'info' | 'warn', (fields: object, message: string) => void>>

export type OperatorAccessOptions = {
  readonly service: Service
  readonly url: string
  readonly operators: readonly ConfiguredOperator[]
  readonly trustedProxies: TrustedProxies
  readonly logger: SignInLog
  /** A monotonic clock, in milliseconds. */
  readonly elapsed: Clock
}

export function createOperatorAccess(options: OperatorAccessOptions): ConsoleAccess {
  const { service, url, operators, trustedProxies, logger, elapsed } = options
  const { mode } = service
  const sessions = createOperatorSessions(service, elapsed)
  const guesses = createGuessLimiter(elapsed)
  const cookie = sessionCookieOf(url)

  async function postPassword(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { name = '', password = '' } = formOf(request)
    const address = callerAddress(request)
    const attempt = guesses.begin({ operator: parseOperatorName(name) ?? '', address: networkOf(address) })
    if (attempt.waitSeconds > 0) {
      logger.warn({ address }, 'console sign-in rejected: too many wrong passwords')
      reply.header('retry-after', attempt.waitSeconds)
      const wait = attempt.waitSeconds === 1 ? 'a second' : `${attempt.waitSeconds} seconds`
      const error = `Too many wrong passwords. Try again in ${wait}, or use a link.`
      return reply.code(429).send(renderSignInPage(mode, { name, error }))
    }
    const session = newSessionName()
    const outcome = await signInByPassword(service, operators, { name, password, address, session }).catch(domainError)
    if (outcome instanceof DomainError) {
      attempt.withdraw()
      return reply.code(httpStatusByCode[outcome.code]).send(renderSignInPage(mode, { name, error: outcome.message }))
    }
    if ('rejected' in outcome) {
      logger.warn({ address, operator: outcome.rejected }, 'console sign-in failed')
      return reply.code(403).send(renderSignInPage(mode, { name, error: 'The name or the password is wrong.' }))
    }
    attempt.succeed()
    return beginSession(outcome, session, request, reply)
  }

  async function getLink(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { token } = request.query as { token?: unknown }
    const operator = typeof token === 'string' ? await findOperatorByLink(service, token) : null
    if (operator === null) return sendInvalidLink(request, reply)
    return reply.send(renderLinkPage(mode, { name: operator.name, token: String(token) }))
  }

  async function postLink(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const { token = '', name = '', password = '' } = formOf(request)
    const address = callerAddress(request)
    const session = newSessionName()
    const outcome = await signInByLink(service, { token, password, address, session }).catch(domainError)
    if (outcome === null) return sendInvalidLink(request, reply)
    if (outcome instanceof DomainError) {
      const { message: error } = formatDomainError(outcome, { password: 'The password' })
      return reply.code(httpStatusByCode[outcome.code]).send(renderLinkPage(mode, { name, token, error }))
    }
    return beginSession(outcome, session, request, reply)
  }

  function sendInvalidLink(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    logger.warn({ address: callerAddress(request) }, 'console link rejected')
    const text =
      'The link was used already, was replaced, or has expired. The command “operator link” prints a new one.'
    return reply.code(403).send(renderBarePage('Closed', text))
  }

  /**
   * Always creates a new session cookie, so that an attacker cannot choose the session of an operator (session
   * fixation).
   */
  function beginSession(signIn: SignIn, session: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { name: operator, role } = signIn.operator
    sessions.end(readCookie(request, cookie.name))
    reply.header('set-cookie', cookie.set(sessions.begin(signIn, session)))
    logger.info({ operator, role, session, address: callerAddress(request) }, 'operator signed in to the console')
    return reply.redirect('/', 303)
  }

  function newSessionName(): string {
    return `remote console ${service.newId().slice(-8)}`
  }

  return {
    basePath: '',
    originOf: () => url,
    trustedProxies,
    canBeLinkedTo: true,
    errorHint: 'The log of the service shows the error.',
    findSession: (request) => sessions.find(readCookie(request, cookie.name)),
    addRoutes: (app) => {
      app.get(signInPath, async (_, reply) => reply.send(renderSignInPage(mode)))
      app.post(signInPath, postPassword)
      app.get(linkPath, getLink)
      app.post(linkPath, postLink)
    },
    sendWithoutSession: ({ method }, reply) =>
      method === 'GET' || method === 'HEAD'
        ? reply.redirect(signInPath, 303)
        : reply
            .code(403)
            .send(renderBarePage('Signed out', 'The session has ended, and nothing was done. Sign in again.')),
    sendEnded: (reply) => reply.header('set-cookie', cookie.set('', '; Max-Age=0')).redirect(signInPath, 303),
  }
}

/** Browsers accept a cookie with the prefix `__Host-` only over HTTPS, and only from the console's own host. */
function sessionCookieOf(url: string) {
  const isSecure = url.startsWith('https:')
  const name = isSecure ? '__Host-payout_gateway_console' : 'payout_gateway_console'
  const attributes = `Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`
  return { name, set: (value: string, more = '') => `${name}=${value}; ${attributes}${more}` }
}

function formOf({ body }: FastifyRequest): FormValues {
  return (body ?? {}) as FormValues
}

function domainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  throw error
}
