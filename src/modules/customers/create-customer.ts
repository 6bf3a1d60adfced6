import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { hasValue, oneOf, optional, optionalText, parseInput, rejectField, text } from '../../core/input.ts'
import { newRowFields } from '../../lists/sequence.ts'
import type { Context, IdempotentResult } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { complianceDetails, mergeComplianceDetails } from './compliance-details.ts'
import type { Customer, CustomerType } from './customer.ts'
import { customerTypes } from './customer.ts'
import { insertCustomer } from './search-keys.ts'

const textMatching = (pattern: RegExp, message: string) =>
  text().transform((value, context) => (pattern.test(value) ? value : rejectField(context, 'INVALID_FORMAT', message)))

/** An amount with at most two decimal places (contract 2.1). Other amounts are rejected, not rounded. */
const optionalMoney = () =>
  optionalText().transform((value, context) => {
    if (value === null) return null
    const [, whole, places = ''] = /^(0|[1-9]\d{0,12})(?:\.(\d{1,2}))?$/.exec(value) ?? []
    if (whole !== undefined) return `${whole}.${places.padEnd(2, '0')}`
    return rejectField(context, 'INVALID_FORMAT', 'must be a decimal string with at most two places, such as "2400.00"')
  })

export const CreateCustomerInput = z.object({
  customerType: oneOf(customerTypes),
  email: textMatching(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'must be an e-mail address'),
  phone: textMatching(/^\+[1-9]\d{6,14}$/, 'must be a phone number in international form, such as +2348012345678'),
  addressLine1: text(),
  addressLine2: optionalText(),
  city: text(),
  state: text(),
  postalCode: optionalText(),
  country: text(),
  firstName: optionalText(),
  middleName: optionalText(),
  lastName: optionalText(),
  birthDate: optional(z.iso.date()).transform((date) => date && `${date}T00:00:00.000Z`),
  accountPurpose: optionalText(),
  employmentStatus: optionalText(),
  expectedMonthlyIncome: optionalMoney(),
  mostRecentOccupation: optionalText(),
  sourceOfFunds: optionalText(),
  businessName: optionalText(),
  businessType: optionalText(),
  businessWebsite: optionalText(),
  complianceDetails: complianceDetails(),
})

/**
 * The contract describes customers (2.1), but has no endpoint that creates them.
 *
 * @param input `birthDate` has the form `1990-01-31` and must not be in the future. An individual needs a first and a
 *   last name, a business needs a business name. `complianceDetails` is a JSON string.
 */
export const createCustomer = defineOperation(
  {
    name: 'createCustomer',
    input: CreateCustomerInput,
    scope: 'customers',
    movesMoney: false,
    sandboxOnly: false,
    errors: [],
  },
  async (context, input): Promise<IdempotentResult<Customer>> => {
    const request = parseInput(CreateCustomerInput, input, [
      ...missingNameErrors(input),
      ...futureBirthDateErrors(context, input),
    ])
    return runOnce(context, 'createCustomer', request, async (tx) => {
      const { complianceDetails, ...details } = request
      const row = await newRowFields(tx, context, 'customers')
      const customer: Customer = { ...row, ...details, status: 'active' }
      await insertCustomer(tx, customer)
      if (complianceDetails !== null) await mergeComplianceDetails(tx, customer, complianceDetails)
      await recordEvent(tx, context, {
        type: 'customer.created',
        objectId: customer.id,
        at: customer.createdAt,
        data: customer,
      })
      return customer
    })
  },
)

export function futureBirthDateErrors(
  { now }: Pick<Context, 'now'>,
  { birthDate }: { birthDate?: unknown },
): FieldError[] {
  const parsed = CreateCustomerInput.shape.birthDate.safeParse(birthDate)
  if (!parsed.success || parsed.data === null || parsed.data <= timestamp(now())) return []
  return [{ field: 'birthDate', code: 'INVALID_PARAMETER', message: 'must not be in the future' }]
}

type CustomerNames = Pick<
  z.input<typeof CreateCustomerInput>,
  'customerType' | 'firstName' | 'lastName' | 'businessName'
>

const requiredNamesOfType: Record<CustomerType, readonly ('firstName' | 'lastName' | 'businessName')[]> = {
  individual: ['firstName', 'lastName'],
  business: ['businessName'],
}

export function missingNameErrors(input: CustomerNames): FieldError[] {
  // The input schema reports an unknown customer type.
  const type = customerTypes.find((each) => each === input.customerType)
  const names = type === undefined ? [] : requiredNamesOfType[type]
  return names
    .filter((field) => !hasValue(input[field]))
    .map((field) => ({ field, code: 'MISSING_REQUIRED_FIELD', message: `is required for a customer of this type` }))
}
