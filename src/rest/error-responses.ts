import { httpStatusByCode } from '../core/api/http-status.ts'
import type { DomainError, ErrorCode, FieldError, FieldNames } from '../core/errors.ts'
import { errorCodes, fieldErrorCodes, formatDomainError } from '../core/errors.ts'
import { amount, integer, oneOf, text, unquotedType, withSchema } from './json-types.ts'
import type { SentField, SentRequest } from './sent-fields.ts'
import { fieldLocations, findSentField } from './sent-fields.ts'
import type { ShapeMembers } from './shape.ts'
import { constant, listOf, member, optional, resource, shape } from './shape.ts'

/** `null` means that no endpoint returns the error code. */
export const errorDescriptions: Record<ErrorCode, string | null> = {
  INVALID_INPUT: 'One or more fields are invalid: the details name each field and the allowed values.',
  MALFORMED_JSON: 'The body is not JSON in UTF-8.',
  MALFORMED_REQUEST: 'The bytes are not a valid HTTP request, or end in the middle of it.',
  MISSING_TOKEN: 'The request has no API key or token.',
  INVALID_TOKEN:
    'The API key or token is malformed, unknown, expired or revoked, or the request has two different ones.',
  INSUFFICIENT_SCOPE: 'The API key or token lacks the scope that the message names.',
  NETWORK_NOT_ALLOWED: 'The API key may not be used from the address of the caller.',
  API_KEY_IN_BROWSER:
    'In live: a page sent an API key, as the `Origin` header shows. Pages send client tokens, which your server creates.',
  RESOURCE_NOT_FOUND: 'An object that the request names does not exist, or is not visible to the caller.',
  ENDPOINT_NOT_FOUND: 'There is no such path.',
  METHOD_NOT_ALLOWED: 'The path does not accept the method; `Allow` lists those that it accepts.',
  NOT_ACCEPTABLE: 'The `Accept` header allows no format that the endpoint can return.',
  REQUEST_TIMEOUT: 'The request did not arrive in time.',
  CUSTOMER_CLOSED: 'The customer is closed: nothing can be created or changed for it.',
  WEBHOOK_DISABLED: 'The webhook endpoint is disabled: enable it first.',
  PAYLOAD_TOO_LARGE: 'The body is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The body is not `application/json` in UTF-8, or is compressed.',
  EXPECTATION_FAILED: 'The `Expect` header has another value than `100-continue`.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used with another body.',
  WALLET_NOT_FOUND: 'The owner has no active wallet in this currency.',
  RATE_UNAVAILABLE: 'There is no rate between these currencies at present.',
  INSUFFICIENT_FUNDS: 'The wallet holds less than amount and fee; the details have `available` and `required`.',
  DEPOSIT_ADDRESS_UNAVAILABLE: 'The merchant has no deposit address left on this network.',
  WEBHOOK_LIMIT_REACHED: 'The merchant has the maximum number of webhook endpoints: delete one first.',
  BANK_LOOKUP_UNAVAILABLE: 'No rail of this service can answer about banks.',
  RATE_LIMITED: 'Too many requests; `Retry-After` says when to retry.',
  INTERNAL: 'The service failed; the request id identifies the entry in its log.',
  NOT_CONFIGURED: 'The operator of the service must set the variable that the message names.',
  UNAVAILABLE: 'The outcome is unknown, not a rejection: retry with the same idempotency key.',
  SANDBOX_ONLY: null,
  PAYOUT_STATUS_CONFLICT: null,
  DEPOSIT_REFERENCE_REUSED: null,
  BALANCE_LIMIT_EXCEEDED: null,
}

export const errorReferencePath = '/docs/errors'

export function errorAnchor(code: ErrorCode): string {
  return code.toLowerCase()
}

export const restErrorCodes = errorCodes.filter((code) => errorDescriptions[code] !== null)

export function toErrorPayload(
  { names, requestId, sent }: { names: FieldNames; requestId: string; sent: SentRequest | null },
  error: DomainError,
) {
  const { code, details } = error
  const formatted = formatDomainError(error, names)
  return {
    ...formatted,
    code,
    available: details.available,
    required: details.required,
    sentFields:
      sent && formatted.fields?.map((fieldError) => ({ ...fieldError, ...findSentField(sent, fieldError.field) })),
    requestId,
  }
}
type ErrorPayload = ReturnType<typeof toErrorPayload>

const exampleFieldError = { field: 'amount', code: 'MISSING_REQUIRED_FIELD', message: 'amount is required' }
const fieldErrorShape = shape<FieldError>('An invalid field.', {
  field: member(({ field }) => field, text('The wire name of the field.', exampleFieldError.field)),
  code: member(({ code }) => code, oneOf('The reason, for programs.', fieldErrorCodes, exampleFieldError.code)),
  message: member(({ message }) => message, text('The reason, for people.', exampleFieldError.message)),
})

/** Ruling 122. */
const sentFieldShape = shape<FieldError & SentField>('An invalid field, as the original provider reports it.', {
  type: constant('Marks an error of a field.', 'field'),
  msg: member(({ message }) => message, text('The reason, for people.', exampleFieldError.message)),
  path: member(({ field }) => field, text('The wire name of the field.', exampleFieldError.field)),
  location: member(({ location }) => location, oneOf('The part of the request with the field.', fieldLocations)),
  value: member(
    ({ value }) => value,
    unquotedType(
      {
        type: ['string', 'number', 'boolean', 'null'],
        description: 'The value as sent; null if it is absent, long, a list or an object, or may be a secret.',
        examples: [''],
      },
      JSON.stringify,
    ),
  ),
})

const details: ShapeMembers<ErrorPayload> = {
  fields: optional(({ fields }) => fields ?? undefined, listOf('All invalid fields.', fieldErrorShape)),
  available: optional(({ available }) => available, amount('The balance of the wallet.', '10.00000000')),
  required: optional(({ required }) => required, amount('The sum of amount and fee.', '26.00000000')),
}

const messageText = text('The reason, for people.', 'amount is required.')
const code = member(({ code }: ErrorPayload) => code, oneOf('The reason, for programs.', restErrorCodes))
const message = member(({ message }: ErrorPayload) => message, messageText)
const requestId = member(
  ({ requestId }: ErrorPayload) => requestId,
  text('The id of the request, as in `X-Request-Id`.', '01980c61-0a1b-7c2d-8e3f-405162738495'),
)

/** Rulings 2 and 122. */
export const failure = resource<ErrorPayload>('Failure', 'An error.', {
  status: constant('Marks an error.', 'failed'),
  message,
  error: shape('The error.', {
    code,
    message,
    details: optional(
      (payload) =>
        payload.fields || payload.available !== undefined || payload.required !== undefined ? payload : undefined,
      withSchema(shape('Details of some codes.', details), {
        examples: [{ fields: [exampleFieldError] }],
      }),
    ),
  }),
  errors: optional(
    ({ sentFields }) => sentFields ?? undefined,
    listOf('All invalid fields again, as the original provider reports them.', sentFieldShape),
  ),
  request_id: requestId,
})

/** RFC 9457 (ruling 10). */
export const problemDetails = resource<ErrorPayload>(
  'Problem',
  'The same error as RFC 9457 problem details, for callers that accept `application/problem+json`.',
  {
    type: member(
      ({ code }) => `${errorReferencePath}#${errorAnchor(code)}`,
      text(
        'Identifies the code, and leads to its explanation. Relative to the URL of the request.',
        `${errorReferencePath}#${errorAnchor('INVALID_INPUT')}`,
      ),
    ),
    title: code,
    status: member(({ code }) => httpStatusByCode[code], integer('The HTTP status.', 400)),
    detail: message,
    ...details,
    request_id: requestId,
  },
)
