import type { Amount } from './money/amount.ts'

/** See rulings 2 to 9. */
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
  'BANK_LOOKUP_UNAVAILABLE',
  'RATE_LIMITED',
  'INTERNAL',
  'NOT_CONFIGURED',
  'UNAVAILABLE',
] as const
export type ErrorCode = (typeof errorCodes)[number]

/** The original provider is known to use these field error codes. */
export const fieldErrorCodes = ['MISSING_REQUIRED_FIELD', 'INVALID_FORMAT', 'INVALID_PARAMETER'] as const
export type FieldErrorCode = (typeof fieldErrorCodes)[number]

/** `field` is the name in the operation's input. `message` omits the field's name, for example `must be above zero`. */
export type FieldError = { readonly field: string; readonly code: FieldErrorCode; readonly message: string }

export type DomainErrorDetails = {
  readonly fields?: readonly FieldError[]
  readonly available?: Amount
  readonly required?: Amount
}

export class DomainError extends Error {
  readonly code: ErrorCode
  readonly details: DomainErrorDetails

  constructor(code: ErrorCode, message: string, details: DomainErrorDetails = {}) {
    super(message)
    this.name = 'DomainError'
    this.code = code
    this.details = details
  }
}

export function invalidInput(fields: readonly FieldError[]): DomainError {
  return new DomainError('INVALID_INPUT', 'The request has invalid fields.', { fields })
}

/** If an object belongs to another merchant, the error is the same as for a missing object (ruling 5). */
export function notFound(noun: string): DomainError {
  return new DomainError('RESOURCE_NOT_FOUND', `${noun} not found.`)
}

/** UNAVAILABLE means a transient failure of the database (ruling 9). */
export function unavailable(
  message = 'The service cannot store this now. Retry with the same idempotency key.',
): DomainError {
  return new DomainError('UNAVAILABLE', message)
}

/** The database connection was lost during COMMIT, so the write may be stored. */
export function unknownOutcome(cause: unknown): DomainError {
  const message =
    'The database was lost while it stored this, so it may be stored. Retry with the same idempotency key, or look first.'
  return Object.assign(unavailable(message), { cause })
}

/** Maps names of input fields to names of an API, for example `customerId` to `customer_id` in REST. */
export type FieldNames = Readonly<Record<string, string>>

export function formatDomainError({ message, details: { fields } }: DomainError, names: FieldNames) {
  const renamed = fields?.map((field) => renameFieldError(field, names)) ?? null
  return { message: renamed ? `${renamed.map((field) => field.message).join('; ')}.` : message, fields: renamed }
}

export function externalFieldName(field: string, names: FieldNames): string {
  // A duplicate field of a request body can have any name, even `__proto__`.
  return Object.hasOwn(names, field) ? (names[field] as string) : field
}

function renameFieldError({ field, code, message }: FieldError, names: FieldNames): FieldError {
  const name = externalFieldName(field, names)
  return { field: name, code, message: `${name} ${message}` }
}
