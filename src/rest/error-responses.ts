import type { FieldNames } from '../core/api/error-message.ts'
import { formatDomainError } from '../core/api/error-message.ts'
import { httpStatusByCode } from '../core/api/http-status.ts'
import type { DomainError, ErrorCode, FieldError } from '../core/errors.ts'
import { errorCodes, fieldErrorCodes } from '../core/errors.ts'
import { amount, integer, oneOf, text, withSchema } from './json-types.ts'
import type { ShapeMembers } from './shape.ts'
import { constant, listOf, member, optional, resource, shape } from './shape.ts'

/** What each code means to a caller; `null` for those of operations that have no endpoint. */
export const errorDescriptions: Record<ErrorCode, string | null> = {
  INVALID_INPUT: 'The request is wrong in itself: the details name every faulty field, and what is allowed.',
  MALFORMED_JSON: 'The body is not JSON in UTF-8.',
  MALFORMED_REQUEST: 'The bytes are no valid HTTP request, or ended in the middle of it.',
  MISSING_TOKEN: 'No API key or token was sent.',
  INVALID_TOKEN: 'The API key or token is malformed, unknown, expired or revoked, or two that differ were sent.',
  INSUFFICIENT_SCOPE: 'The API key or the token may not do this: the message names the scope that it would need.',
  NETWORK_NOT_ALLOWED: 'The API key may not be used from the address that the request comes from.',
  API_KEY_IN_BROWSER:
    'In live: an API key came from a page, which the `Origin` header tells. A page sends a client token, which your server makes.',
  RESOURCE_NOT_FOUND: 'Something that the request names does not exist, or is not visible to this merchant.',
  ENDPOINT_NOT_FOUND: 'There is no such path.',
  METHOD_NOT_ALLOWED: 'The path does not take this method; `Allow` names those that it takes.',
  NOT_ACCEPTABLE: 'The `Accept` header allows no JSON, which is all that is answered.',
  REQUEST_TIMEOUT: 'The request did not arrive in time.',
  CUSTOMER_CLOSED: 'The customer is closed: nothing can be made or changed for it any more.',
  WEBHOOK_DISABLED: 'The webhook endpoint is disabled, so nothing is sent to it: it must be enabled first.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json` in UTF-8, or it is compressed.',
  EXPECTATION_FAILED: 'The `Expect` header asks for something else than `100-continue`.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used before with another body.',
  WALLET_NOT_FOUND: 'The owner has no active wallet in this currency to pay from.',
  RATE_UNAVAILABLE: 'There is no rate between these currencies now.',
  INSUFFICIENT_FUNDS: 'The wallet holds less than amount and fee: the details say what is there and what it takes.',
  DEPOSIT_ADDRESS_UNAVAILABLE: 'The merchant has no deposit address left to give on this network.',
  WEBHOOK_LIMIT_REACHED: 'The merchant has as many webhook endpoints as it may have: one must be deleted first.',
  RATE_LIMITED: 'More requests came in a second than are answered; `Retry-After` says when to try again.',
  INTERNAL: 'The service failed; the request id names the entry in its log.',
  NOT_CONFIGURED: 'The service is not configured for this: the message names the variable that its operator must set.',
  UNAVAILABLE: 'The outcome is unknown, never a refusal: retry with the same idempotency key.',
  SANDBOX_ONLY: null,
  PAYOUT_STATUS_CONFLICT: null,
  DEPOSIT_REFERENCE_REUSED: null,
  BALANCE_LIMIT_EXCEEDED: null,
}

const restErrorCodes = errorCodes.filter((code) => errorDescriptions[code] !== null)

/** A refusal as a caller is told it; faulty fields have the caller's own names. */
export function toErrorPayload({ names, requestId }: { names: FieldNames; requestId: string }, refusal: DomainError) {
  const { code, details } = refusal
  return {
    ...formatDomainError(refusal, names),
    code,
    available: details.available,
    required: details.required,
    requestId,
  }
}
type ErrorPayload = ReturnType<typeof toErrorPayload>

const exampleFieldError = { field: 'amount', code: 'MISSING_REQUIRED_FIELD', message: 'amount is required' }
const fieldErrorShape = shape<FieldError>('A faulty field.', {
  field: member(({ field }) => field, text('The name of the field.', exampleFieldError.field)),
  code: member(({ code }) => code, oneOf('What is wrong with it.', fieldErrorCodes, exampleFieldError.code)),
  message: member(({ message }) => message, text('The same in a sentence for people.', exampleFieldError.message)),
})

const details: ShapeMembers<ErrorPayload> = {
  fields: optional(({ fields }) => fields ?? undefined, listOf('Every faulty field.', fieldErrorShape)),
  available: optional(({ available }) => available, amount('What the wallet holds.', '10.00000000')),
  required: optional(({ required }) => required, amount('What amount and fee take together.', '26.00000000')),
}

const messageText = text('What went wrong, in a sentence for people.', 'amount is required.')
const code = member(({ code }: ErrorPayload) => code, oneOf('The reason, for programs.', restErrorCodes))
const message = member(({ message }: ErrorPayload) => message, messageText)
const requestId = member(
  ({ requestId }: ErrorPayload) => requestId,
  text('The id of the request, as in `X-Request-Id`.', '01980c61-0a1b-7c2d-8e3f-405162738495'),
)

/** The body of every failure (ruling 2). */
export const failure = resource<ErrorPayload>('Failure', 'A failure.', {
  status: constant('Says that it is a failure.', 'failed'),
  message,
  error: shape('Why.', {
    code,
    message,
    details: optional(
      (told) => (told.fields || told.available !== undefined || told.required !== undefined ? told : undefined),
      withSchema(shape('What can be said beyond the sentence.', details), {
        examples: [{ fields: [exampleFieldError] }],
      }),
    ),
  }),
  request_id: requestId,
})

/** The same failure as RFC 9457 problem details (ruling 10). */
export const problemDetails = resource<ErrorPayload>(
  'Problem',
  'The same failure as RFC 9457 has it, for callers that accept `application/problem+json`.',
  {
    type: member(
      ({ code }) => `urn:payout-gateway:problem:${code.toLowerCase()}`,
      text('A URI that names the reason.', 'urn:payout-gateway:problem:invalid_input'),
    ),
    title: code,
    status: member(({ code }) => httpStatusByCode[code], integer('The HTTP status.', 400)),
    detail: message,
    ...details,
    request_id: requestId,
  },
)
