import { statusOfCode } from '../doors/http-status.ts'
import type { Names } from '../doors/refusal-text.ts'
import { refusalText } from '../doors/refusal-text.ts'
import type { ErrorCode, FieldFault, Refusal } from '../errors.ts'
import { errorCodes, fieldFaultCodes } from '../errors.ts'
import { formatAmount } from '../money/amount.ts'
import type { JsonSchema } from './reference.ts'
import { amount, listOf, object, oneOf, text } from './reference.ts'

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

/** What each code means to a caller; `null` for those of operations that have no endpoint. */
export const meanings: Record<ErrorCode, string | null> = {
  INVALID_INPUT: 'The request is wrong in itself: the details name every faulty field, and what is allowed.',
  MALFORMED_JSON: 'The body is not JSON in UTF-8.',
  MALFORMED_REQUEST: 'The bytes are no valid HTTP request, or ended in the middle of it.',
  MISSING_TOKEN: 'No API key was sent.',
  INVALID_TOKEN: 'The API key is malformed, unknown or revoked, or two that differ were sent.',
  RESOURCE_NOT_FOUND: 'Something that the request names does not exist, or is not visible to this merchant.',
  ENDPOINT_NOT_FOUND: 'There is no such path.',
  METHOD_NOT_ALLOWED: 'The path does not take this method; `Allow` names those that it takes.',
  NOT_ACCEPTABLE: 'The `Accept` header allows no JSON, which is all that is answered.',
  REQUEST_TIMEOUT: 'The request did not arrive in time.',
  CUSTOMER_CLOSED: 'The customer is closed: nothing can be made or changed for it any more.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json` in UTF-8, or it is compressed.',
  EXPECTATION_FAILED: 'The `Expect` header asks for something else than `100-continue`.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used before with another body.',
  WALLET_NOT_FOUND: 'The owner has no active wallet in this currency to pay from.',
  RATE_UNAVAILABLE: 'There is no rate between these currencies now.',
  INSUFFICIENT_FUNDS: 'The wallet holds less than amount and fee: the details say what is there and what it takes.',
  DEPOSIT_ADDRESS_UNAVAILABLE: 'The merchant has no deposit address left to give on this network.',
  RATE_LIMITED: 'More requests came in a second than are answered; `Retry-After` says when to try again.',
  INTERNAL: 'The service failed; the request id names the entry in its log.',
  UNAVAILABLE: 'The outcome is unknown, never a refusal: retry with the same idempotency key.',
  SANDBOX_ONLY: null,
  PAYOUT_STATUS_CONFLICT: null,
  DEPOSIT_REFERENCE_REUSED: null,
  BALANCE_LIMIT_EXCEEDED: null,
}

const answeredCodes = errorCodes.filter((code) => meanings[code] !== null)

const missingAmount = { field: 'amount', code: 'MISSING_REQUIRED_FIELD', message: 'amount is required' }
const messageText = text('What went wrong, in a sentence for people.', 'amount is required.')
const requestIdText = text('The id of the request, as in `X-Request-Id`.', '01980c61-0a1b-7c2d-8e3f-405162738495')

export function failureSchema(): JsonSchema {
  type Json = ReturnType<typeof failureBody>
  return object<Json>(
    'A failure.',
    {
      status: oneOf('Says that it is a failure.', ['failed']),
      message: messageText,
      error: object<Json['error']>(
        'Why.',
        {
          code: oneOf('The reason, for programs.', answeredCodes),
          message: messageText,
          details: {
            ...object('What can be said beyond the sentence.', detailsSchemas(), { optional: everyDetail }),
            examples: [{ fields: [missingAmount] }],
          },
        },
        { optional: ['details'] },
      ),
      request_id: requestIdText,
    },
    { title: 'Failure' },
  )
}

export function problemSchema(): JsonSchema {
  return object<ReturnType<typeof problemBody>>(
    'The same failure as RFC 9457 has it, for callers that accept `application/problem+json`.',
    {
      type: text('A URI that names the reason.', 'urn:payout-gateway:problem:invalid_input'),
      title: oneOf('The reason, for programs.', answeredCodes),
      status: { type: 'integer', description: 'The HTTP status.', examples: [400] },
      detail: messageText,
      ...detailsSchemas(),
      request_id: requestIdText,
    },
    { title: 'Problem', optional: everyDetail },
  )
}

const everyDetail = ['fields', 'available', 'required'] as const

function detailsSchemas() {
  const fault = object<FieldFault>('A faulty field.', {
    field: text('The name of the field.', missingAmount.field),
    code: oneOf('What is wrong with it.', fieldFaultCodes, missingAmount.code),
    message: text('The same in a sentence for people.', missingAmount.message),
  })
  return {
    fields: listOf('Every faulty field.', fault),
    available: amount('What the wallet holds.', '10.00000000'),
    required: amount('What amount and fee take together.', '26.00000000'),
  }
}
