import { oneOf, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { ShapeMembers } from '../../rest/shape.ts'
import { member, nullable, nullInExample, optional, resource, shape } from '../../rest/shape.ts'
import type { Customer } from './customer.ts'
import { customerDescriptions, customerStatuses, customerTypes } from './customer.ts'

const { line_1, line_2, ...locality } = {
  line_1: member((customer) => customer.addressLine1, text(customerDescriptions.addressLine1, '12 Marina Road')),
  line_2: nullInExample((customer) => customer.addressLine2, text(customerDescriptions.addressLine2, 'Flat 3')),
  city: member((customer) => customer.city, text(customerDescriptions.city, 'Lagos')),
  state: member((customer) => customer.state, text(customerDescriptions.state, 'Lagos')),
  postal_code: nullable((customer) => customer.postalCode, text(customerDescriptions.postalCode, '101241')),
  country: member((customer) => customer.country, text(customerDescriptions.country, 'Nigeria')),
} satisfies ShapeMembers<Customer>

const addressDescription = 'The residential or registered address.'

const personalInfo = shape<Customer>('Names and date of birth; null for a business.', {
  first_name: nullable((customer) => customer.firstName, text(customerDescriptions.firstName, 'Ada')),
  middle_name: nullInExample((customer) => customer.middleName, text(customerDescriptions.middleName, 'Ngozi')),
  last_name: nullable((customer) => customer.lastName, text(customerDescriptions.lastName, 'Obi')),
  birth_date: nullable(
    (customer) => customer.birthDate,
    timestamp(customerDescriptions.birthDate, '1990-04-12T00:00:00.000Z'),
  ),
})

const financialInfo = shape<Customer>('Financial information from the customer.', {
  account_purpose: nullable(
    (customer) => customer.accountPurpose,
    text(customerDescriptions.accountPurpose, 'Personal savings'),
  ),
  employment_status: nullable(
    (customer) => customer.employmentStatus,
    text(customerDescriptions.employmentStatus, 'Employed'),
  ),
  expected_monthly_income: nullable(
    (customer) => customer.expectedMonthlyIncome,
    text(customerDescriptions.expectedMonthlyIncome, '2500.00', {
      pattern: String.raw`^\d+\.\d{2}$`,
    }),
  ),
  most_recent_occupation: nullable(
    (customer) => customer.mostRecentOccupation,
    text(customerDescriptions.mostRecentOccupation, 'Engineer'),
  ),
  source_of_funds: nullable((customer) => customer.sourceOfFunds, text(customerDescriptions.sourceOfFunds, 'Salary')),
})

const businessInfo = shape<Customer>('The business details; absent for an individual.', {
  business_name: nullable(
    (customer) => customer.businessName,
    text(customerDescriptions.businessName, 'Obi Trading Ltd'),
  ),
  business_type: nullable(
    (customer) => customer.businessType,
    text(customerDescriptions.businessType, 'Limited company'),
  ),
  business_website: nullable(
    (customer) => customer.businessWebsite,
    text(customerDescriptions.businessWebsite, 'https://obi-trading.example.com'),
  ),
})

const customerResource = (title: string, address: ShapeMembers<Customer>) =>
  resource<Customer>(title, 'A person or business that the merchant serves.', {
    id: member((customer) => customer.id, uuid('The id of the customer.')),
    customer_type: member((customer) => customer.customerType, oneOf(customerDescriptions.customerType, customerTypes)),
    email: member((customer) => customer.email, text(customerDescriptions.email, 'ada.obi@example.com')),
    phone: member((customer) => customer.phone, text(customerDescriptions.phone, '+2348012345678')),
    created_at: member((customer) => customer.createdAt, timestamp(customerDescriptions.createdAt)),
    updated_at: member((customer) => customer.updatedAt, timestamp(customerDescriptions.updatedAt)),
    status: member((customer) => customer.status, oneOf(customerDescriptions.status, customerStatuses)),
    address: shape<Customer>(addressDescription, address),
    personal_info: personalInfo,
    financial_info: financialInfo,
    business_info: optional((customer) => (customer.customerType === 'business' ? customer : undefined), businessInfo),
  })

/** Contract 2.1. */
export const customer = customerResource('Customer', { line_1, line_2, ...locality })

/** The response contains each address line under both names that a request can use (ruling 124). */
export const changedCustomer = customerResource('ChangedCustomer', {
  line_1,
  line_2,
  street1: line_1,
  street2: line_2,
  ...locality,
})
