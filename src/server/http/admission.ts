import type { FastifyReply, FastifyRequest } from 'fastify'
import { httpStatusByCode } from '../../core/api/http-status.ts'
import { DomainError } from '../../core/errors.ts'
import { isAddressAllowed } from '../../modules/merchants/allowed-networks.ts'
import type { AuthenticatedCaller, Validity } from '../../modules/merchants/authenticate.ts'
import { authenticate } from '../../modules/merchants/authenticate.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import type { Service } from '../../operations/context.ts'
import { callerAddress } from './caller-address.ts'
import { hasApiKey, readCredential } from './credentials.ts'
import type { RateLimits } from './rate-limit.ts'
import type { ResponseFlush } from './response-flush.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key the request bears; empty until it is admitted. */
    merchantId: string
    /** How far the merchant's clock is ahead of the machine's, in milliseconds. */
    aheadMs: number
    /** Who asks, by that key or a token made with it. */
    caller: Caller
    /** Between which times that key or token is good by itself. */
    validity: Validity
    /** Why it was refused, where it was; several codes for a GraphQL document of which several fields were. */
    refusalCode: string | null
    /** The type and name of the GraphQL operation that it ran. */
    operation: string | null
    /** Whether that is one of a trusted document. */
    isOperationTrusted: boolean
  }
}

/**
 * The hook that lets a request pass: it bears a valid key, and the merchant is within its rate. Where there are rates, keys
 * that are refused have one too, by the address that they come from.
 *
 * It runs before the body is read, so an anonymous caller costs next to nothing (ruling 4). A promise it gives only where
 * there is something to wait for, which a request by a known key has not.
 */
export function createAdmissionHook(service: Service, limits: RateLimits | null, turn: ResponseFlush) {
  const admit = (request: FastifyRequest, reply: FastifyReply, admitted: AuthenticatedCaller) => {
    const { merchantId, aheadMs, caller, validity, networks } = admitted
    if (networks !== null && !isAddressAllowed(networks, callerAddress(request))) throw networkNotAllowed()
    request.merchantId = merchantId
    request.aheadMs = aheadMs
    request.caller = caller
    request.validity = validity
    return limits?.merchants(merchantId, (name, value) => reply.header(name, value))
  }
  const rejectRequest = (request: FastifyRequest, reply: FastifyReply, error: unknown): never => {
    const isStranger = error instanceof DomainError && httpStatusByCode[error.code] === httpStatusByCode.INVALID_TOKEN
    if (isStranger) limits?.unauthenticated(callerAddress(request), (name, value) => reply.header(name, value))
    throw error
  }
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> | undefined => {
    turn.flushOverdue()
    if (request.headers.origin !== undefined) rejectApiKeyInBrowser(service, request)
    const key = readCredential(request.headers)
    if (key === null) rejectRequest(request, reply, missingToken())
    const admitted = authenticate(service, key as string)
    const waiting =
      admitted instanceof Promise
        ? admitted.catch((error) => rejectRequest(request, reply, error)).then((found) => admit(request, reply, found))
        : admit(request, reply, admitted)
    if (waiting) return waiting
    done()
  }
}

function networkNotAllowed(): DomainError {
  return new DomainError('NETWORK_NOT_ALLOWED', 'The API key may not be used from this address.')
}

/**
 * In live an API key does not come from a page, so nobody ships one in a page by mistake. It is refused unseen, right or wrong: a
 * key that is in a page is anybody's.
 *
 * @throws Refusal API_KEY_IN_BROWSER
 */
function rejectApiKeyInBrowser({ mode }: Service, { headers }: FastifyRequest): void {
  if (mode !== 'live' || !hasApiKey(headers)) return
  const advice = 'Make a client token on your server (POST /api/client-tokens) and have the page send that.'
  throw new DomainError(
    'API_KEY_IN_BROWSER',
    `An API key must not be in a page: whoever opens it could pay with it. ${advice}`,
  )
}

function missingToken(): DomainError {
  return new DomainError('MISSING_TOKEN', 'An API key is required in the x-api-key header.')
}
