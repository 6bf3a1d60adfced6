import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Service } from '../context.ts'
import { authenticate } from '../merchants/authenticate.ts'
import type { RateLimiter } from '../rate-limit.ts'
import { presentedKey } from './credentials.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key the request bears; empty until it is admitted. */
    merchantId: string
  }
}

/**
 * The hook that lets a request pass: it bears a valid key, and the merchant is within its rate.
 *
 * It runs before the body is read, so an anonymous caller costs next to nothing (ruling 4).
 */
export function admission(service: Service, limiter: RateLimiter | null) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { merchantId } = await authenticate(service, presentedKey(request.headers))
    request.merchantId = merchantId
    const waiting = limiter?.(merchantId, (name, value) => reply.header(name, value))
    if (waiting) await waiting
  }
}
