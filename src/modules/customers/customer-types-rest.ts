import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { lookupId, optionalOneOf, text } from '../../core/input.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'
import { idField, notInContract } from '../../rest/input-fields.ts'
import type { ConvertedInput, RouteGroup } from '../../rest/route.ts'
import { converted } from '../../rest/route.ts'
import { CreateCustomerInput, createCustomer } from './create-customer.ts'
import type { CustomerType } from './customer.ts'
import { customerDescriptions as descriptions } from './customer.ts'
import { changedCustomer } from './customer-shape.ts'
import { updateCustomer } from './update-customer.ts'

type AddressForm = { readonly object: string; readonly members: Readonly<Record<AddressField, string>> }
type AddressField = keyof typeof locality | 'addressLine1' | 'addressLine2'

const locality = { city: 'city', state: 'state', postalCode: 'postal_code', country: 'country' } as const
const olderForm: AddressForm = {
  object: 'address',
  members: { addressLine1: 'line_1', addressLine2: 'line_2', ...locality },
}
const newerForm: AddressForm = {
  object: 'registered_address',
  members: { addressLine1: 'street1', addressLine2: 'street2', ...locality },
}
const addressFields = Object.keys(olderForm.members) as AddressField[]

const addressObject = () => z.record(z.string(), z.unknown()).nullish()

const required = { type: 'string', maxLength: 255 }
const notRequired = { type: ['string', 'null'], maxLength: 255 }
const addressFieldSchemas: Record<AddressField, JsonSchema> = {
  addressLine1: { ...required, description: descriptions.addressLine1 },
  addressLine2: { ...notRequired, description: descriptions.addressLine2 },
  city: { ...required, description: descriptions.city },
  state: { ...required, description: descriptions.state },
  postalCode: { ...notRequired, description: descriptions.postalCode },
  country: { ...required, description: 'The name of the country, or its code.' },
}

const addressSchema = (description: string, { members }: AddressForm) => ({
  type: 'object',
  description,
  properties: Object.fromEntries(addressFields.map((field) => [members[field], addressFieldSchemas[field]])),
})

const { email, phone, accountPurpose, sourceOfFunds, expectedMonthlyIncome } = CreateCustomerInput.shape
const commonInput = {
  email,
  phone,
  accountPurpose,
  sourceOfFunds,
  expectedMonthlyIncome,
  address: addressObject(),
  registeredAddress: addressObject(),
}
const { middleName, birthDate, employmentStatus, mostRecentOccupation } = CreateCustomerInput.shape
const { businessType, businessWebsite } = CreateCustomerInput.shape

const IndividualInput = z.object({
  customerType: optionalOneOf(['individual']),
  firstName: text(),
  middleName,
  lastName: text(),
  birthDate,
  employmentStatus,
  mostRecentOccupation,
  ...commonInput,
})

const BusinessInput = z.object({
  customerType: optionalOneOf(['business']),
  businessName: text(),
  businessType,
  businessWebsite,
  ...commonInput,
})

const ChangedIndividualInput = IndividualInput.partial().extend({ customerId: lookupId() })
const ChangedBusinessInput = BusinessInput.partial().extend({ customerId: lookupId() })

const typeDescription = 'Optional, because the path implies it.'
const commonFields = {
  email: descriptions.email,
  phone: descriptions.phone,
  accountPurpose: descriptions.accountPurpose,
  sourceOfFunds: descriptions.sourceOfFunds,
  expectedMonthlyIncome: {
    type: ['string', 'number', 'null'],
    description: `${descriptions.expectedMonthlyIncome.replace('with two', 'with at most two')} Not negative.`,
    acceptsNumber: true as const,
  },
  address: addressSchema('The address. Either this or `registered_address` is required for a new customer.', olderForm),
  registeredAddress: addressSchema('The address in the newer form of the original provider.', newerForm),
}
const individualFields = {
  customerType: typeDescription,
  firstName: descriptions.firstName,
  middleName: descriptions.middleName,
  lastName: descriptions.lastName,
  birthDate: descriptions.birthDate,
  employmentStatus: descriptions.employmentStatus,
  mostRecentOccupation: descriptions.mostRecentOccupation,
  ...commonFields,
}
const businessFields = {
  customerType: typeDescription,
  businessName: descriptions.businessName,
  businessType: descriptions.businessType,
  businessWebsite: descriptions.businessWebsite,
  ...commonFields,
}
const customerId = { ...idField('The id of the customer.'), name: 'customerId' }

const exampleId = '01980c5e-7a10-7c3f-9d2b-4e5f60718293'
const exampleAddress = { line_1: '12 Marina Road', city: 'Lagos', state: 'Lagos', country: 'Nigeria' }
const contactExample = { email: 'ada.obi@example.com', phone: '+2348012345678', address: exampleAddress }
const newDescription = `An unknown field, such as a compliance detail or a document, is stored as sent and returned nowhere. ${notInContract}`
const changeDescription = `Changes the sent fields, also of an address. An optional field that is sent as null or empty is cleared. Unknown fields are stored as sent. ${notInContract}`

export const customerTypeEndpoints: RouteGroup = {
  name: 'Individuals and businesses',
  description: 'Customers in the forms of the original provider.',
  routes: [
    converted({ method: 'POST', path: '/api/individual-customers' }, createCustomer, {
      name: 'createIndividualCustomer',
      title: 'Register an individual',
      description: `Registers a person. ${newDescription}`,
      input: IndividualInput,
      convert: toOperationInput('individual', 'customerType'),
      fields: individualFields,
      example: { firstName: 'Ada', lastName: 'Obi', ...contactExample },
      response: { data: changedCustomer },
      location: ({ id }) => `/api/customers/${id}`,
    }),
    converted({ method: 'PUT', path: '/api/individual-customers/:customerId' }, updateCustomer, {
      name: 'updateIndividualCustomer',
      title: 'Change an individual',
      description: changeDescription,
      input: ChangedIndividualInput,
      convert: toOperationInput('individual', 'ofType'),
      fields: { ...individualFields, customerId },
      example: { customerId: exampleId, phone: '+2348012345679' },
      response: { data: changedCustomer },
    }),
    converted({ method: 'POST', path: '/api/business-customers' }, createCustomer, {
      name: 'createBusinessCustomer',
      title: 'Register a business',
      description: `Registers a company. ${newDescription}`,
      input: BusinessInput,
      convert: toOperationInput('business', 'customerType'),
      fields: businessFields,
      example: { businessName: 'Obi Trading Ltd', ...contactExample },
      response: { data: changedCustomer },
      location: ({ id }) => `/api/customers/${id}`,
    }),
    converted({ method: 'PUT', path: '/api/business-customers/:customerId' }, updateCustomer, {
      name: 'updateBusinessCustomer',
      title: 'Change a business',
      description: changeDescription,
      input: ChangedBusinessInput,
      convert: toOperationInput('business', 'ofType'),
      fields: { ...businessFields, customerId },
      example: { customerId: exampleId, businessWebsite: 'https://obi-trading.example.com' },
      response: { data: changedCustomer },
    }),
  ],
}

type SentCustomer = {
  readonly customerType?: unknown
  readonly address?: unknown
  readonly registeredAddress?: unknown
}

function toOperationInput(customerType: CustomerType, typeField: 'customerType' | 'ofType') {
  return (
    { customerType: sentType, address, registeredAddress, ...fields }: SentCustomer,
    otherMembers: Readonly<Record<string, unknown>>,
  ): ConvertedInput => {
    const { object, members } = registeredAddress === undefined || registeredAddress === null ? olderForm : newerForm
    const compliance = toComplianceText(otherMembers)
    return {
      input: {
        ...fields,
        [typeField]: customerType,
        ...addressOf(address),
        ...addressOf(registeredAddress),
        ...(compliance.text !== null && { complianceDetails: compliance.text }),
      },
      names: {
        firstName: 'first_name',
        middleName: 'middle_name',
        lastName: 'last_name',
        birthDate: 'birth_date',
        employmentStatus: 'employment_status',
        mostRecentOccupation: 'most_recent_occupation',
        businessName: 'business_name',
        businessType: 'business_type',
        businessWebsite: 'business_website',
        accountPurpose: 'account_purpose',
        sourceOfFunds: 'source_of_funds',
        expectedMonthlyIncome: 'expected_monthly_income',
        complianceDetails: compliance.largestName,
        ...Object.fromEntries(addressFields.map((field) => [field, `${object}.${members[field]}`])),
      },
      errors: [
        ...typeErrors(customerType, sentType),
        ...objectErrors('address', address),
        ...objectErrors('registered_address', registeredAddress),
        ...compliance.errors,
      ],
    }
  }
}

/** An address in a request uses the field names of `olderForm` or of `newerForm`. */
function addressOf(address: unknown): Partial<Record<AddressField, unknown>> {
  if (!isObject(address)) return {}
  const members = addressFields.flatMap((field) => {
    const name = [olderForm, newerForm].map((form) => form.members[field]).find((each) => Object.hasOwn(address, each))
    return name === undefined ? [] : [[field, address[name]] as const]
  })
  return Object.fromEntries(members)
}

function typeErrors(customerType: CustomerType, sent: unknown): FieldError[] {
  if (optionalOneOf([customerType]).safeParse(sent).success) return []
  return [{ field: 'customer_type', code: 'INVALID_PARAMETER', message: `must be one of ${customerType}` }]
}

function objectErrors(field: string, sent: unknown): FieldError[] {
  if (sent === undefined || sent === null || isObject(sent)) return []
  return [{ field, code: 'INVALID_FORMAT', message: 'must be an object' }]
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** If all compliance fields together are too long, the error refers to the longest field. */
function toComplianceText(members: Readonly<Record<string, unknown>>) {
  const errors: FieldError[] = []
  const written: { readonly name: string; readonly member: string }[] = []
  for (const [name, value] of Object.entries(members)) {
    try {
      written.push({ name, member: `${JSON.stringify(name)}:${JSON.stringify(value)}` })
    } catch (error) {
      // JSON.parse accepts deeply nested JSON, but JSON.stringify is recursive and can overflow the stack.
      if (!(error instanceof RangeError)) throw error
      errors.push({ field: name, code: 'INVALID_FORMAT', message: 'is nested too deeply to be stored' })
    }
  }
  const [longest] = written.toSorted((one, other) => other.member.length - one.member.length)
  const text = written.length === 0 ? null : `{${written.map(({ member }) => member).join(',')}}`
  return { text, largestName: longest?.name ?? 'body', errors }
}
