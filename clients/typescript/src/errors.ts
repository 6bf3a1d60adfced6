import type { ErrorDetails } from './generated/rest.ts'

/**
 * The effect of a failed request:
 *
 * - `rejected`: neither this call nor an earlier call with the same idempotency key had an effect.
 * - `unprocessed`: this call had no effect, for example because its token was rejected. An earlier call with the same
 *   key may have had an effect.
 * - `unknown`: the request may have had an effect. Send it again with the same key: the service executes it only once.
 */
export type Outcome = 'rejected' | 'unprocessed' | 'unknown'

type Failed = {
  readonly outcome: Outcome
  /** The key to retry with; `null` for a request without a key. */
  readonly idempotencyKey: string | null
  /** The number of requests sent. */
  readonly attempts: number
}

/** A failed request: a `ServiceError` has a response, a `NoResponseError` has none. */
export class RequestError extends Error {
  readonly outcome: Outcome
  readonly idempotencyKey: string | null
  readonly attempts: number

  constructor(message: string, { outcome, idempotencyKey, attempts }: Failed, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RequestError'
    this.outcome = outcome
    this.idempotencyKey = idempotencyKey
    this.attempts = attempts
  }
}

/** No attempt got a complete response. */
export class NoResponseError extends RequestError {
  constructor(message: string, failed: Failed, options?: ErrorOptions) {
    super(message, failed, options)
    this.name = 'NoResponseError'
  }
}

type Refused = Failed & {
  readonly code: string
  readonly status: number
  readonly details?: ErrorDetails | undefined
  readonly requestId: string | null
  readonly retryAfterMs: number | null
  readonly result?: unknown
}

/** The service returned an error. Switch on `code`; messages may change. */
export class ServiceError extends RequestError {
  /**
   * A code of the closed list, such as `INSUFFICIENT_FUNDS`; `HTTP_<status>` for a response that does not come from the
   * service.
   */
  readonly code: string
  readonly status: number
  /** Invalid `fields`, or `available` and `required`. */
  readonly details: ErrorDetails
  /** Identifies the request in the service's log. */
  readonly requestId: string | null
  /** The delay that the service requests. */
  readonly retryAfterMs: number | null
  /** The whole result of a GraphQL request, which may have partial `data`. */
  readonly result: unknown

  constructor(message: string, refused: Refused) {
    super(message, refused)
    this.name = 'ServiceError'
    this.code = refused.code
    this.status = refused.status
    this.details = refused.details ?? {}
    this.requestId = refused.requestId
    this.retryAfterMs = refused.retryAfterMs
    this.result = refused.result
  }
}

/** A webhook that must not be processed. */
export class WebhookError extends Error {
  readonly reason: 'malformed' | 'expired' | 'wrong-signature'

  constructor(reason: WebhookError['reason'], message: string) {
    super(message)
    this.name = 'WebhookError'
    this.reason = reason
  }
}
