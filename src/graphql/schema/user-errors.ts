import type { ObjectRef } from '@pothos/core'
import type { ErrorCode, FieldErrorCode, FieldNames } from '../../core/errors.ts'
import { DomainError, errorCodes, formatDomainError, invalidInput } from '../../core/errors.ts'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import { describedEnumType } from './enums.ts'
import type { ObjectFields } from './fields.ts'
import {
  buildFields,
  computedField,
  exposeColumn,
  exposeColumnAs,
  exposeNullableColumn,
  exposeStrings,
  objectType,
} from './fields.ts'

/**
 * The refusals that a mutation answers as a type of its own, with what each means; `null` for those that are faults of the
 * request as a whole, which GraphQL answers beside the data.
 */
const userErrorDescriptions: Record<ErrorCode, string | null> = {
  INVALID_INPUT: 'The input is wrong in itself: `fields` names every faulty field, and what is allowed.',
  RESOURCE_NOT_FOUND: 'Something that the input names does not exist, or is not visible to this merchant.',
  CUSTOMER_CLOSED: 'The customer is closed: nothing can be made or changed for it any more.',
  PAYOUT_STATUS_CONFLICT: 'The payout is in a status that does not lead to the one asked for.',
  WEBHOOK_DISABLED: 'The webhook endpoint is disabled, so nothing is sent to it: it must be enabled first.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used before with another input.',
  DEPOSIT_REFERENCE_REUSED: 'The reference was used before for another deposit.',
  WALLET_NOT_FOUND: 'There is no active wallet in this currency to pay from.',
  RATE_UNAVAILABLE: 'There is no rate between these currencies now.',
  INSUFFICIENT_FUNDS: 'The wallet holds less than the payout with its fee takes.',
  BALANCE_LIMIT_EXCEEDED: 'The wallet would hold more than any wallet may.',
  DEPOSIT_ADDRESS_UNAVAILABLE: 'The merchant has no deposit address left to give on this network.',
  WEBHOOK_LIMIT_REACHED: 'The merchant has as many webhook endpoints as it may have: one must be deleted first.',
  NOT_CONFIGURED: 'The service is not configured for this: the message names the variable that its operator must set.',
  // The live schema has no field that could answer it.
  SANDBOX_ONLY: null,
  INSUFFICIENT_SCOPE: null,
  NETWORK_NOT_ALLOWED: null,
  MALFORMED_JSON: null,
  MALFORMED_REQUEST: null,
  MISSING_TOKEN: null,
  INVALID_TOKEN: null,
  API_KEY_IN_BROWSER: null,
  ENDPOINT_NOT_FOUND: null,
  METHOD_NOT_ALLOWED: null,
  NOT_ACCEPTABLE: null,
  REQUEST_TIMEOUT: null,
  PAYLOAD_TOO_LARGE: null,
  UNSUPPORTED_MEDIA_TYPE: null,
  EXPECTATION_FAILED: null,
  RATE_LIMITED: null,
  INTERNAL: null,
  UNAVAILABLE: null,
}

const userErrorCodes = errorCodes.filter((code) => userErrorDescriptions[code] !== null)

/** A refusal as a mutation answers it, with fields under the caller's names. */
export type UserErrorSource = {
  readonly refusal: DomainError
  readonly message: string
  readonly field: string | null
  readonly fields: readonly { readonly field: string; readonly code: string; readonly message: string }[]
}

const ErrorCodeEnum = describedEnumType(
  'ErrorCode',
  'Why something was refused; the REST endpoints use the same codes.',
  Object.fromEntries(userErrorCodes.map((code) => [code, userErrorDescriptions[code] ?? ''])),
)

const fieldErrorDescriptions: Record<FieldErrorCode, string> = {
  MISSING_REQUIRED_FIELD: 'It is missing or empty, and must not be.',
  INVALID_FORMAT: 'It has the wrong type or form.',
  INVALID_PARAMETER: 'Its value is not one that is allowed.',
}

const FieldErrorCodeEnum = describedEnumType('FieldFaultCode', 'What is wrong with a field.', fieldErrorDescriptions)

const FieldErrorType = objectType<UserErrorSource['fields'][number]>('FieldFault', {
  description: 'What is wrong with one field of an input.',
  fields: {
    ...exposeStrings({
      field: 'The path of the field below `input`, such as `recipient.bankAccount.accountNumber`.',
      message: 'A sentence that says what is allowed.',
    }),
    code: exposeColumnAs('code', 'The kind of fault.', FieldErrorCodeEnum),
  },
})

const commonFields: ObjectFields<UserErrorSource> = {
  code: computedField(ErrorCodeEnum, ['refusal'], 'The code, for programs.', ({ refusal }) => refusal.code),
  message: exposeColumn('message', 'A sentence for people.'),
  field: exposeNullableColumn('field', 'The path of the field at fault below `input`; null when none alone is.'),
}

/** What errors of a code say beyond what every error does. */
const extraFields: Partial<Record<ErrorCode, ObjectFields<UserErrorSource>>> = {
  INVALID_INPUT: { fields: exposeColumn('fields', 'Every faulty field.', [FieldErrorType]) },
  INSUFFICIENT_FUNDS: {
    available: computedField(
      'Amount',
      ['refusal'],
      'What the wallet holds.',
      ({ refusal }) => refusal.details.available ?? 0n,
    ),
    required: computedField(
      'Amount',
      ['refusal'],
      'What the payout with its fee takes.',
      ({ refusal }) => refusal.details.required ?? 0n,
    ),
  },
}

/** What every typed error of a mutation has. */
const UserError = builder.interfaceRef<UserErrorSource>('UserError').implement({
  description: 'Why a mutation changed nothing. Selecting this interface reads every error alike.',
  resolveType: ({ refusal }) => errorTypeName(refusal.code),
  fields: buildFields(commonFields),
})

/** The error type of each code that a mutation can be refused with. */
export const userErrorTypes = Object.fromEntries(
  userErrorCodes.map((code) => [
    code,
    builder.objectRef<UserErrorSource>(errorTypeName(code)).implement({
      description: userErrorDescriptions[code] ?? '',
      interfaces: [UserError],
      fields: buildFields(extraFields[code] ?? {}),
    }),
  ]),
) as Readonly<Partial<Record<ErrorCode, ObjectRef<SchemaTypes, UserErrorSource>>>>

/** The type of a code: `InsufficientFundsError`. */
export function errorTypeName(code: ErrorCode): string {
  const words = code.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase())
  return `${words.join('')}Error`
}

/** A refusal as the source of its error type. */
export function toUserError(refusal: DomainError, names: FieldNames): UserErrorSource {
  const { message, fields } = formatDomainError(refusal, names)
  return { refusal, message, field: fields?.[0]?.field ?? null, fields: fields ?? [] }
}

/** Whether a resolved value is a refusal rather than a payload. */
export function isUserError(value: object): value is UserErrorSource {
  return 'refusal' in value && value.refusal instanceof DomainError
}

/** Refuses with the names that the caller wrote, where they are not the operation's. */
export function rethrowWithFieldNames(nameOf: (field: string) => string) {
  return (error: unknown): never => {
    if (!(error instanceof DomainError) || !error.details.fields) throw error
    throw invalidInput(error.details.fields.map((fault) => ({ ...fault, field: nameOf(fault.field) })))
  }
}
