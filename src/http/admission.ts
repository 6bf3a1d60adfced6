import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Service } from '../context.ts'
import type { Admitted } from '../merchants/authenticate.ts'
import { authenticate } from '../merchants/authenticate.ts'
import type { RateLimiter } from '../rate-limit.ts'
import { sendOverdue } from '../turn.ts'
import { presentedKey } from './credentials.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose key the request bears; empty until it is admitted. */
    merchantId: string
    /** The id of that key. */
    keyId: string
  }
}

/**
 * The hook that lets a request pass: it bears a valid key, and the merchant is within its rate.
 *
 * It runs before the body is read, so an anonymous caller costs next to nothing (ruling 4). A promise it gives only where
 * there is something to wait for, which a request by a known key has not.
 */
export function admission(service: Service, limiter: RateLimiter | null) {
  const admit = (request: FastifyRequest, reply: FastifyReply, { merchantId, id }: Admitted) => {
    request.merchantId = merchantId
    request.keyId = id
    return limiter?.(merchantId, (name, value) => reply.header(name, value))
  }
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): Promise<void> | undefined => {
    sendOverdue()
    const admitted = authenticate(service, presentedKey(request.headers))
    const waiting =
      admitted instanceof Promise
        ? admitted.then((found) => admit(request, reply, found))
        : admit(request, reply, admitted)
    if (waiting) return waiting
    done()
  }
}
