import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { findFieldErrors, hasValue, identifier, notOneOfError, oneOf, optional, optionalFreeText, optionalIdentifier, optionalText, optionalUuid, parseInput, positiveAmount, text, uuid } from '../../core/input.ts'
import { corridorTo, paymentPurposes, payoutAssetCodes, recipientCountries, recipientCurrencies, transferTypes } from './payout.ts'

/**
 * Every field of a payout. Whom to pay is said in one of two ways: by `payoutMethodId`, or by the six fields that are
 * what such a method stands for, which are required then.
 */
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
  // The contract's field list requires it and its sample omits it: absent means OTHER (ruling 40).
  paymentPurpose: optional(oneOf(paymentPurposes)).transform((purpose) => purpose ?? 'OTHER'),
  narration: optionalFreeText(),
  // Required for USD only, which is not payable yet (ruling 41).
  transferType: optional(oneOf(transferTypes)),
})

/** A payout as the contract's endpoint takes it (4.8): it names neither the wallet nor a method. */
export const BankPayoutInput = CreatePayoutInput.omit({ walletId: true, payoutMethodId: true }).extend({
  accountNumber: identifier(),
  bankName: text(),
  bankCode: identifier(),
  recipientName: text(),
  recipientCurrency: oneOf(recipientCurrencies),
  recipientCountry: oneOf(recipientCountries),
})

/** What a request does not say that speaks of the recipient in the other way. */
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

/** A payout as it was asked for: whom to pay is said by `payoutMethodId` or by the six fields, and the other is null. */
export type PayoutRequest = z.output<typeof MethodPayoutInput> | z.output<typeof DetailedPayoutInput>

/** @throws Refusal INVALID_INPUT, also where whom to pay is said in both ways */
export function parsePayout(input: PayoutInput): PayoutRequest {
  if (hasValue(input.payoutMethodId)) return parseInput(MethodPayoutInput, input, methodConflictErrors(input))
  return parseInput(DetailedPayoutInput, input, [...payoutMethodIdErrors(input), ...corridorErrors(input)])
}

/** What the method says must not be said again: one of the two would be ignored. */
function methodConflictErrors(input: PayoutInput): FieldError[] {
  return recipientFields
    .filter((field) => hasValue(input[field]))
    .map((field) => ({ field, code: 'INVALID_PARAMETER', message: 'must be absent where a payout method is named' }))
}

/** A recipient that is given in full is no reason to overlook the id of another. */
export function payoutMethodIdErrors({ payoutMethodId }: PayoutInput): FieldError[] {
  return findFieldErrors(MethodIdInput, { payoutMethodId })
}

/** Currency and country of the recipient must agree (ruling 39). */
export function corridorErrors({ recipientCurrency, recipientCountry }: PayoutInput): FieldError[] {
  const corridor = corridorTo(recipientCurrency)
  const isKnownCountry = recipientCountries.some((country) => country === recipientCountry)
  if (!corridor || !isKnownCountry || corridor.recipientCountry === recipientCountry) return []
  const { message, ...fault } = notOneOfError('recipientCountry', [corridor.recipientCountry])
  return [{ ...fault, message: `${message} for a recipient paid in ${corridor.recipientCurrency}` }]
}
