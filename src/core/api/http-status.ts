import type { ErrorCode } from '../errors.ts'

/** The HTTP status of every error code (rulings 3 to 9). */
export const httpStatusByCode: Record<ErrorCode, number> = {
  INVALID_INPUT: 400,
  MALFORMED_JSON: 400,
  MALFORMED_REQUEST: 400,
  MISSING_TOKEN: 401,
  INVALID_TOKEN: 401,
  API_KEY_IN_BROWSER: 403,
  SANDBOX_ONLY: 403,
  INSUFFICIENT_SCOPE: 403,
  NETWORK_NOT_ALLOWED: 403,
  RESOURCE_NOT_FOUND: 404,
  ENDPOINT_NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  NOT_ACCEPTABLE: 406,
  REQUEST_TIMEOUT: 408,
  CUSTOMER_CLOSED: 409,
  PAYOUT_STATUS_CONFLICT: 409,
  WEBHOOK_DISABLED: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  EXPECTATION_FAILED: 417,
  IDEMPOTENCY_KEY_REUSED: 422,
  DEPOSIT_REFERENCE_REUSED: 422,
  WALLET_NOT_FOUND: 422,
  RATE_UNAVAILABLE: 422,
  INSUFFICIENT_FUNDS: 422,
  BALANCE_LIMIT_EXCEEDED: 422,
  DEPOSIT_ADDRESS_UNAVAILABLE: 422,
  WEBHOOK_LIMIT_REACHED: 422,
  BANK_LOOKUP_UNAVAILABLE: 422,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  NOT_CONFIGURED: 501,
  UNAVAILABLE: 503,
}

/** Returns the additional headers of an error response (rulings 4 and 6). */
export function errorHeaders(code: ErrorCode): Record<string, string> {
  if (httpStatusByCode[code] === 401) return { 'www-authenticate': 'Bearer realm="payout-gateway"' }
  return code === 'UNAVAILABLE' ? { 'retry-after': '1' } : {}
}
