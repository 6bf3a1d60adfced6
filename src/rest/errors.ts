import type { Refusal } from '../errors.ts'
import { statusOfCode } from '../http-status.ts'
import { formatAmount } from '../money/amount.ts'
import type { Names } from '../refusal-text.ts'
import { refusalText } from '../refusal-text.ts'

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

function describe(refusal: Refusal, names: Names) {
  const { message, fields } = refusalText(refusal, names)
  const { available, required } = refusal.details
  const details = {
    ...(fields && { fields }),
    ...(available !== undefined && { available: formatAmount(available) }),
    ...(required !== undefined && { required: formatAmount(required) }),
  }
  return { message, details: Object.keys(details).length > 0 ? details : null }
}
