import type { ErrorCode, FieldFault, Refusal } from '../errors.ts'
import { formatAmount } from '../money/amount.ts'

/** The HTTP status of every code (rulings 3 to 9). */
export const statusOfCode: Record<ErrorCode, number> = {
  INVALID_INPUT: 400,
  MALFORMED_JSON: 400,
  MALFORMED_REQUEST: 400,
  INVALID_TOKEN: 401,
  RESOURCE_NOT_FOUND: 404,
  ENDPOINT_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  CUSTOMER_CLOSED: 409,
  PAYOUT_STATUS_CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  DEPOSIT_REFERENCE_REUSED: 422,
  WALLET_NOT_FOUND: 422,
  RATE_UNAVAILABLE: 422,
  INSUFFICIENT_FUNDS: 422,
  BALANCE_LIMIT_EXCEEDED: 422,
  DEPOSIT_ADDRESS_UNAVAILABLE: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
}

/** The names by which callers know an operation's fields: `customerId` is `customer_id` on the wire. */
export type Names = Readonly<Record<string, string>>

/** The body of every failure (ruling 2). Faulty fields carry the caller's own names. */
export function failureBody(refusal: Refusal, { names, requestId }: { names: Names; requestId: string }) {
  const { message, details } = describe(refusal, names)
  return {
    status: 'failed',
    message,
    error: { code: refusal.code, message, ...(details && { details }) },
    request_id: requestId,
  }
}

/** The same failure as RFC 9457 problem details (ruling 10). */
export function problemBody(refusal: Refusal, { names, requestId }: { names: Names; requestId: string }) {
  const { message, details } = describe(refusal, names)
  return {
    type: `urn:payout-gateway:problem:${refusal.code.toLowerCase()}`,
    title: refusal.code,
    status: statusOfCode[refusal.code],
    detail: message,
    ...details,
    request_id: requestId,
  }
}

function describe({ message, details: { fields, available, required } }: Refusal, names: Names) {
  const faults = fields?.map((fault) => onTheWire(fault, names))
  const details = {
    ...(faults && { fields: faults }),
    ...(available !== undefined && { available: formatAmount(available) }),
    ...(required !== undefined && { required: formatAmount(required) }),
  }
  return {
    message: faults ? `${faults.map((fault) => fault.message).join('; ')}.` : message,
    details: Object.keys(details).length > 0 ? details : null,
  }
}

function onTheWire({ field, code, message }: FieldFault, names: Names): FieldFault {
  const name = names[field] ?? field
  return { field: name, code, message: `${name} ${message}` }
}
