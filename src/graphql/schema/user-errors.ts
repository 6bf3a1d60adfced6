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

/** Errors without a description have no GraphQL type, and are in the response's top-level `errors`. */
const userErrorDescriptions: Record<ErrorCode, string | null> = {
  INVALID_INPUT: 'The input is invalid: `fields` has every invalid field, and what is allowed.',
  RESOURCE_NOT_FOUND: 'An object that the input refers to does not exist, or is not visible to this merchant.',
  CUSTOMER_CLOSED: 'The customer is closed, so nothing can be created or changed for it.',
  PAYOUT_STATUS_CONFLICT: "The payout can't change from its status to the requested one.",
  WEBHOOK_DISABLED: 'The webhook endpoint is disabled. Enable it first.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was already used with a different input.',
  DEPOSIT_REFERENCE_REUSED: 'The reference was already used for a different deposit.',
  WALLET_NOT_FOUND: 'There is no active wallet in this currency to pay from.',
  RATE_UNAVAILABLE: 'There is currently no rate between these currencies.',
  INSUFFICIENT_FUNDS: 'The balance of the wallet is less than the amount and fee of the payout.',
  BALANCE_LIMIT_EXCEEDED: 'The balance would exceed the maximum of a wallet.',
  DEPOSIT_ADDRESS_UNAVAILABLE: 'The merchant has no unused deposit address left on this network.',
  WEBHOOK_LIMIT_REACHED: 'The merchant has the maximum number of webhook endpoints. Delete one first.',
  NOT_CONFIGURED: 'The service is not configured for this. The message names the variable that its operator must set.',
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
  BANK_LOOKUP_UNAVAILABLE: null,
  UNAVAILABLE: null,
}

const userErrorCodes = errorCodes.filter((code) => userErrorDescriptions[code] !== null)

export type UserErrorSource = {
  readonly error: DomainError
  readonly message: string
  readonly field: string | null
  readonly fields: readonly { readonly field: string; readonly code: string; readonly message: string }[]
}

const ErrorCodeEnum = describedEnumType(
  'ErrorCode',
  'The reason of an error. The REST API uses the same codes.',
  Object.fromEntries(userErrorCodes.map((code) => [code, userErrorDescriptions[code] ?? ''])),
)

const fieldErrorDescriptions: Record<FieldErrorCode, string> = {
  MISSING_REQUIRED_FIELD: 'The field is required, but missing or empty.',
  INVALID_FORMAT: 'The value has the wrong type or format.',
  INVALID_PARAMETER: 'The value is not allowed.',
}

const FieldErrorCodeEnum = describedEnumType('FieldFaultCode', 'The kind of a field error.', fieldErrorDescriptions)

const FieldErrorType = objectType<UserErrorSource['fields'][number]>('FieldFault', {
  description: 'An invalid field of an input.',
  fields: {
    ...exposeStrings({
      field: 'The path of the field below `input`, such as `recipient.bankAccount.accountNumber`.',
      message: 'A sentence that explains what is allowed.',
    }),
    code: exposeColumnAs('code', 'The kind of error.', FieldErrorCodeEnum),
  },
})

const commonFields: ObjectFields<UserErrorSource> = {
  code: computedField(ErrorCodeEnum, ['error'], 'The code of the error, for programs.', ({ error }) => error.code),
  message: exposeColumn('message', 'The error as a sentence, for people.'),
  field: exposeNullableColumn(
    'field',
    'The path below `input` of the first invalid field; null if the error is not about a field.',
  ),
}

const extraFields: Partial<Record<ErrorCode, ObjectFields<UserErrorSource>>> = {
  INVALID_INPUT: { fields: exposeColumn('fields', 'Every invalid field.', [FieldErrorType]) },
  INSUFFICIENT_FUNDS: {
    available: computedField(
      'Amount',
      ['error'],
      'The balance of the wallet.',
      ({ error }) => error.details.available ?? 0n,
    ),
    required: computedField(
      'Amount',
      ['error'],
      'The amount of the payout and its fee.',
      ({ error }) => error.details.required ?? 0n,
    ),
  },
}

const UserError = builder.interfaceRef<UserErrorSource>('UserError').implement({
  description: 'The reason why a mutation changed nothing. Select this interface to read any error.',
  resolveType: ({ error }) => errorTypeName(error.code),
  fields: buildFields(commonFields),
})

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

export function errorTypeName(code: ErrorCode): string {
  const words = code.split('_').map((word) => word.charAt(0) + word.slice(1).toLowerCase())
  return `${words.join('')}Error`
}

export function toUserError(error: DomainError, names: FieldNames): UserErrorSource {
  const { message, fields } = formatDomainError(error, names)
  return { error, message, field: fields?.[0]?.field ?? null, fields: fields ?? [] }
}

export function isUserError(value: object): value is UserErrorSource {
  return 'error' in value && value.error instanceof DomainError
}

export function rethrowWithFieldNames(nameOf: (field: string) => string) {
  return (error: unknown): never => {
    if (!(error instanceof DomainError) || !error.details.fields) throw error
    throw invalidInput(error.details.fields.map((fault) => ({ ...fault, field: nameOf(fault.field) })))
  }
}
