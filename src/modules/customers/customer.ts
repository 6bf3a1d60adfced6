import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'

export const customerTypes = defineEnum({
  individual: 'A person. First and last name are required.',
  business: 'A company. Its business name is required.',
})
export type CustomerType = (typeof customerTypes)[number]

export const customerStatuses = defineEnum({
  active: 'Wallets, payout methods and payouts can be created for the customer.',
  closed: 'Everything stays readable, but nothing can be created or changed.',
})

/** Contract 2.1. */
export type Customer = RowOf<'customers'>

export const customerDescriptions = {
  customerType: 'Whether the customer is an individual or a business.',
  status: 'Whether anything can be created or changed for the customer.',
  email: 'The email address.',
  phone: 'The phone number in international format, such as `+2348012345678`.',
  createdAt: 'When the customer was registered.',
  updatedAt: 'When the customer last changed.',
  addressLine1: 'Street and number.',
  addressLine2: 'Flat, floor or building.',
  city: 'The city or town.',
  state: 'The state or province.',
  postalCode: 'The postal code.',
  country: 'The name of the country.',
  firstName: 'The first name.',
  middleName: 'The middle names.',
  lastName: 'The last name.',
  birthDate: 'The date of birth.',
  accountPurpose: 'The purpose of the account.',
  employmentStatus: 'The employment status.',
  expectedMonthlyIncome: 'The expected monthly income, with two decimal places.',
  mostRecentOccupation: 'The current or latest occupation.',
  sourceOfFunds: 'The source of the funds.',
  businessName: 'The registered name.',
  businessType: 'The legal form.',
  businessWebsite: 'The URL of the website.',
} as const
