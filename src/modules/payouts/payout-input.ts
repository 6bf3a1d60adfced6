import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import {
  findFieldErrors,
  hasValue,
  identifier,
  notOneOfError,
  oneOf,
  optional,
  optionalFreeText,
  optionalIdentifier,
  optionalText,
  optionalUuid,
  parseInput,
  positiveAmount,
  text,
  uuid,
} from '../../core/input.ts'
import {
  corridorTo,
  paymentPurposes,
  payoutAssetCodes,
  recipientCountries,
  recipientCurrencies,
  transferTypes,
} from './payout.ts'

/** The input must identify the recipient either by `payoutMethodId` or by the six fields of a bank account. */
export const CreatePayoutInput = z.object({
  customerId: optionalUuid(),
  walletId: optionalUuid(),
  payoutMethodId: optionalUuid(),
  assetCode: oneOf(payoutAssetCodes),
  accountNumber: optionalIdentifier(),
  bankName: optionalText(),
  bankCode: optionalIdentifier(),
  amount: positiveAmount(),
  recipientName: optionalText(),
  recipientCurrency: optional(oneOf(recipientCurrencies)),
  recipientCountry: optional(oneOf(recipientCountries)),
  // The contract's field list requires the payment purpose, but the contract's sample omits the field (ruling 40).
  paymentPurpose: optional(oneOf(paymentPurposes)).transform((purpose) => purpose ?? 'OTHER'),
  narration: optionalFreeText(),
  // The contract requires `transferType` only for USD, and no payout can be in USD (ruling 41).
  transferType: optional(oneOf(transferTypes)),
})

/** Contract 4.8. */
export const BankPayoutInput = CreatePayoutInput.omit({ walletId: true, payoutMethodId: true }).extend({
  accountNumber: identifier(),
  bankName: text(),
  bankCode: identifier(),
  recipientName: text(),
  recipientCurrency: oneOf(recipientCurrencies),
  recipientCountry: oneOf(recipientCountries),
})

const omittedField = z
  .unknown()
  .optional()
  .transform(() => null)

const DetailedPayoutInput = BankPayoutInput.extend({
  walletId: CreatePayoutInput.shape.walletId,
  payoutMethodId: omittedField,
})

const recipientFields = [
  'accountNumber',
  'bankName',
  'bankCode',
  'recipientName',
  'recipientCurrency',
  'recipientCountry',
] as const

const MethodPayoutInput = CreatePayoutInput.extend({
  payoutMethodId: uuid(),
  accountNumber: omittedField,
  bankName: omittedField,
  bankCode: omittedField,
  recipientName: omittedField,
  recipientCurrency: omittedField,
  recipientCountry: omittedField,
})

const MethodIdInput = CreatePayoutInput.pick({ payoutMethodId: true })

export type PayoutInput = z.input<typeof CreatePayoutInput>

export type PayoutRequest = z.output<typeof MethodPayoutInput> | z.output<typeof DetailedPayoutInput>

/** @throws DomainError INVALID_INPUT, also if the input identifies two recipients */
export function parsePayout(input: PayoutInput): PayoutRequest {
  if (hasValue(input.payoutMethodId)) return parseInput(MethodPayoutInput, input, methodConflictErrors(input))
  return parseInput(DetailedPayoutInput, input, [...payoutMethodIdErrors(input), ...corridorErrors(input)])
}

/** Rejects fields of a bank account, because a payout to a payout method would ignore them. */
function methodConflictErrors(input: PayoutInput): FieldError[] {
  return recipientFields
    .filter((field) => hasValue(input[field]))
    .map((field) => ({ field, code: 'INVALID_PARAMETER', message: 'must be absent if a payout method is given' }))
}

/** Reports an invalid `payoutMethodId` even if the input has a bank account. */
export function payoutMethodIdErrors({ payoutMethodId }: PayoutInput): FieldError[] {
  return findFieldErrors(MethodIdInput, { payoutMethodId })
}

/** Ruling 39. */
export function corridorErrors({ recipientCurrency, recipientCountry }: PayoutInput): FieldError[] {
  const corridor = corridorTo(recipientCurrency)
  const isKnownCountry = recipientCountries.some((country) => country === recipientCountry)
  if (!corridor || !isKnownCountry || corridor.recipientCountry === recipientCountry) return []
  const { message, ...error } = notOneOfError('recipientCountry', [corridor.recipientCountry])
  return [{ ...error, message: `${message} for a recipient paid in ${corridor.recipientCurrency}` }]
}
