import { oneOf, text, timestamp, uuid } from '../../rest/json-types.ts'
import { member, nullable, nullInExample, optional, resource, shape } from '../../rest/shape.ts'
import type { Customer } from './customer.ts'
import { customerStatuses, customerTypes } from './customer.ts'

const address = shape<Customer>('Where it lives or has its seat.', {
  line_1: member((customer) => customer.addressLine1, text('Street and number.', '12 Marina Road')),
  line_2: nullInExample((customer) => customer.addressLine2, text('What else finds the door.', 'Flat 3')),
  city: member((customer) => customer.city, text('The city.', 'Lagos')),
  state: member((customer) => customer.state, text('The state or province.', 'Lagos')),
  postal_code: nullable((customer) => customer.postalCode, text('The postal code.', '101241')),
  country: member((customer) => customer.country, text('The country.', 'Nigeria')),
})

const personalInfo = shape<Customer>('Who it is; mostly null for a business.', {
  first_name: nullable((customer) => customer.firstName, text('The first name.', 'Ada')),
  middle_name: nullInExample((customer) => customer.middleName, text('The middle name.', 'Ngozi')),
  last_name: nullable((customer) => customer.lastName, text('The last name.', 'Obi')),
  birth_date: nullable(
    (customer) => customer.birthDate,
    timestamp('The date of birth, as a time.', '1990-04-12T00:00:00.000Z'),
  ),
})

const financialInfo = shape<Customer>('What it said about its money.', {
  account_purpose: nullable(
    (customer) => customer.accountPurpose,
    text('What the account is for.', 'Personal savings'),
  ),
  employment_status: nullable((customer) => customer.employmentStatus, text('Whether and how it works.', 'Employed')),
  expected_monthly_income: nullable(
    (customer) => customer.expectedMonthlyIncome,
    text('What it expects to earn in a month, as a decimal string of two places.', '2500.00', {
      pattern: String.raw`^\d+\.\d{2}$`,
    }),
  ),
  most_recent_occupation: nullable(
    (customer) => customer.mostRecentOccupation,
    text('What it works or worked as.', 'Engineer'),
  ),
  source_of_funds: nullable((customer) => customer.sourceOfFunds, text('Where its money comes from.', 'Salary')),
})

const businessInfo = shape<Customer>('Present for a business only.', {
  business_name: nullable((customer) => customer.businessName, text('The name of the business.', 'Obi Trading Ltd')),
  business_type: nullable((customer) => customer.businessType, text('What kind of business it is.', 'Limited company')),
  business_website: nullable(
    (customer) => customer.businessWebsite,
    text('Its website.', 'https://obi-trading.example.com'),
  ),
})

/** The wire shape of contract 2.1. */
export const customer = resource<Customer>('Customer', 'A person or business that the merchant serves.', {
  id: member((customer) => customer.id, uuid('The id of the customer.')),
  customer_type: member(
    (customer) => customer.customerType,
    oneOf('Whether it is a person or a business.', customerTypes),
  ),
  email: member((customer) => customer.email, text('The e-mail address.', 'ada.obi@example.com')),
  phone: member((customer) => customer.phone, text('The telephone number in international form.', '+2348012345678')),
  created_at: member((customer) => customer.createdAt, timestamp('When it was registered.')),
  updated_at: member((customer) => customer.updatedAt, timestamp('When it last changed.')),
  status: member(
    (customer) => customer.status,
    oneOf('Whether it is served; nothing can be made or changed for a closed one.', customerStatuses),
  ),
  address,
  personal_info: personalInfo,
  financial_info: financialInfo,
  business_info: optional((customer) => (customer.customerType === 'business' ? customer : undefined), businessInfo),
})
