import type { Amount } from './money/amount.ts'

/** Every code that a request can be refused with; each door maps all of them (rulings 2 to 9). */
export const errorCodes = [
  'INVALID_INPUT',
  'MALFORMED_JSON',
  'MALFORMED_REQUEST',
  'MISSING_TOKEN',
  'INVALID_TOKEN',
  'API_KEY_IN_BROWSER',
  'SANDBOX_ONLY',
  'INSUFFICIENT_SCOPE',
  'NETWORK_NOT_ALLOWED',
  'RESOURCE_NOT_FOUND',
  'ENDPOINT_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'REQUEST_TIMEOUT',
  'CUSTOMER_CLOSED',
  'PAYOUT_STATUS_CONFLICT',
  'WEBHOOK_DISABLED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'EXPECTATION_FAILED',
  'IDEMPOTENCY_KEY_REUSED',
  'DEPOSIT_REFERENCE_REUSED',
  'WALLET_NOT_FOUND',
  'RATE_UNAVAILABLE',
  'INSUFFICIENT_FUNDS',
  'BALANCE_LIMIT_EXCEEDED',
  'DEPOSIT_ADDRESS_UNAVAILABLE',
  'WEBHOOK_LIMIT_REACHED',
  'RATE_LIMITED',
  'INTERNAL',
  'NOT_CONFIGURED',
  'UNAVAILABLE',
] as const
export type ErrorCode = (typeof errorCodes)[number]

/** What is wrong with one field; the names are those that the contract's service is known to use. */
export const fieldErrorCodes = ['MISSING_REQUIRED_FIELD', 'INVALID_FORMAT', 'INVALID_PARAMETER'] as const
export type FieldErrorCode = (typeof fieldErrorCodes)[number]

/** A faulty field: `field` is the operation's own name for it, `message` a predicate such as `must be one of NGN, ZAR`. */
export type FieldError = { readonly field: string; readonly code: FieldErrorCode; readonly message: string }

/** What a refusal says beyond its sentence. */
export type DomainErrorDetails = {
  readonly fields?: readonly FieldError[]
  readonly available?: Amount
  readonly required?: Amount
}

/** An expected refusal: thrown before anything is written, and answered in full to the caller. */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly details: DomainErrorDetails

  constructor(code: ErrorCode, message: string, details: DomainErrorDetails = {}) {
    super(message)
    this.name = 'Refusal'
    this.code = code
    this.details = details
  }
}

/** The refusal for input that is wrong in itself, with every faulty field (ruling 3). */
export function invalidInput(fields: readonly FieldError[]): DomainError {
  return new DomainError('INVALID_INPUT', 'The request has invalid fields.', { fields })
}

/** The refusal for a thing that is not there or not the caller's; both read the same (ruling 5). */
export function notFound(noun: string): DomainError {
  return new DomainError('RESOURCE_NOT_FOUND', `${noun} not found.`)
}

/** The refusal for a store that cannot take or answer now; the outcome is unknown to the caller (ruling 9). */
export function unavailable(
  message = 'The service cannot store this now. Retry with the same idempotency key.',
): DomainError {
  return new DomainError('UNAVAILABLE', message)
}

/** The refusal for a store that was lost while it stored this: nobody can know whether it did. */
export function unknownOutcome(cause: unknown): DomainError {
  const message =
    'The database was lost while it stored this, so it may be stored. Retry with the same idempotency key, or look first.'
  return Object.assign(unavailable(message), { cause })
}
