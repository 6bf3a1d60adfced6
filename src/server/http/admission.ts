import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpStatusByCode } from '../../core/api/http-status.ts'
import { DomainError } from '../../core/errors.ts'
import { apiKeyPrefix, isAddressAllowed } from '../../modules/merchants/api-key.ts'
import type { AuthenticatedCaller, Validity } from '../../modules/merchants/authenticate.ts'
import { authenticate } from '../../modules/merchants/authenticate.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import type { Service } from '../../operations/context.ts'
import { callerAddress } from './caller-address.ts'
import type { RateLimits } from './rate-limit.ts'
import type { ResponseFlush } from './response-flush.ts'

declare module 'fastify' {
  interface FastifyRequest {
    merchantId: string
    aheadMs: number
    caller: Caller
    validity: Validity
    /** A GraphQL response can have several error codes, separated by commas. */
    refusalCode: string | null
    operation: string | null
    isOperationTrusted: boolean
  }
}

/**
 * Authenticates a request and applies the merchant's rate limit. Failed authentications have a rate limit per IP
 * address. The hook runs before the body is read, so an unauthenticated request costs little (ruling 4). The hook
 * returns a promise only if it must wait.
 */
export function createAdmissionHook(service: Service, limits: RateLimits | null, responseFlush: ResponseFlush) {
  const admit = (request: FastifyRequest, reply: FastifyReply, authenticated: AuthenticatedCaller) => {
    const { merchantId, aheadMs, caller, validity, networks } = authenticated
    if (networks !== null && !isAddressAllowed(networks, callerAddress(request))) {
      throw new DomainError('NETWORK_NOT_ALLOWED', 'The API key may not be used from this address.')
    }
    request.merchantId = merchantId
    request.aheadMs = aheadMs
    request.caller = caller
    request.validity = validity
    return limits?.merchants(merchantId, (name, value) => reply.header(name, value))
  }
  const reject = (request: FastifyRequest, reply: FastifyReply, error: unknown): never =>
    rejectUnauthenticated(limits, { request, reply, error })
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> | undefined => {
    responseFlush.flushOverdue()
    if (request.headers.origin !== undefined) rejectApiKeyInBrowser(service, request)
    const credential = readCredential(request.headers)
    if (credential === null) {
      return reject(request, reply, new DomainError('MISSING_TOKEN', 'An API key is required in the x-api-key header.'))
    }
    const authenticated = authenticate(service, credential)
    const admission =
      authenticated instanceof Promise
        ? authenticated.catch((error) => reject(request, reply, error)).then((caller) => admit(request, reply, caller))
        : admit(request, reply, authenticated)
    if (admission) return admission
    done()
  }
}

/** Throws RATE_LIMITED after too many failed authentications, and `error` otherwise. */
export function rejectUnauthenticated(
  limits: RateLimits | null,
  { request, reply, error }: { request: FastifyRequest; reply: FastifyReply; error: unknown },
): never {
  const isUnauthenticated =
    error instanceof DomainError && httpStatusByCode[error.code] === httpStatusByCode.INVALID_TOKEN
  if (isUnauthenticated) limits?.unauthenticated(callerAddress(request), (name, value) => reply.header(name, value))
  throw error
}

/** Sheds load: rejects a write before its body is read if the write queue is full. */
export function createQueueSpaceHook({ db }: Service) {
  return (_request: FastifyRequest, _reply: FastifyReply, done: () => void): void => {
    db.requireQueueSpace()
    done()
  }
}

/**
 * In live mode, rejects every request of a web page with an API key, even if the key is invalid, so that no merchant
 * publishes an API key by mistake.
 *
 * @throws DomainError API_KEY_IN_BROWSER
 */
function rejectApiKeyInBrowser({ mode }: Service, { headers }: FastifyRequest): void {
  if (mode !== 'live' || !hasApiKey(headers)) return
  throw new DomainError(
    'API_KEY_IN_BROWSER',
    'An API key must not be in a page: whoever opens it could pay with it. Make a client token on your server (POST /api/client-tokens) and have the page send that.',
  )
}

function hasApiKey({ 'x-api-key': apiKey, authorization = '' }: IncomingHttpHeaders): boolean {
  return apiKey !== undefined || bearerApiKeyPattern.test(authorization)
}

const bearerApiKeyPattern = new RegExp(`^Bearer +${apiKeyPrefix}_`, 'i')

/**
 * Returns `null` if the request has no credential. Returns '' if the credential is malformed, or if the request has two
 * different credentials (ruling 12).
 */
function readCredential({ 'x-api-key': apiKey, authorization = '' }: IncomingHttpHeaders): string | null {
  const bearer = bearerTokenOf(authorization)
  if (apiKey === undefined) return bearer
  const key = String(apiKey).trim()
  return bearer === null || bearer === key ? key : ''
}

/**
 * Returns '' if the bearer token is malformed. Ignores other authentication schemes, because a proxy may have added
 * them.
 */
function bearerTokenOf(authorization: string): string | null {
  if (authorization.startsWith('Bearer ') && !authorization.includes(' ', 7)) return authorization.slice(7)
  return /^Bearer\b/i.test(authorization) ? (/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '') : null
}
