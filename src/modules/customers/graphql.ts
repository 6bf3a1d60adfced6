import { addConnection, filterType } from '../../graphql/schema/connection-fields.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import {
  exposeColumn,
  exposeNullableColumn,
  exposeNullableRowAs,
  exposeNullableStrings,
  exposeRowAs,
  exposeStrings,
  objectType,
} from '../../graphql/schema/fields.ts'
import { optional, optionalTexts, required, requiredId, requiredTexts } from '../../graphql/schema/inputs.ts'
import { sourceOfList } from '../../graphql/schema/loader.ts'
import { addMutation } from '../../graphql/schema/mutation.ts'
import { addNodeQuery, nodeType } from '../../graphql/schema/node.ts'
import { Merchant } from '../merchants/graphql.ts'
import { closeCustomer } from './close-customer.ts'
import { createCustomer } from './create-customer.ts'
import type { Customer as CustomerRow } from './customer.ts'
import { customerStatuses, customerTypes } from './customer.ts'
import { customers } from './list.ts'
import { updateCustomer } from './update-customer.ts'

const CustomerTypeEnum = enumType('CustomerType', customerTypes, 'Whether a customer is a person or a company.')

const CustomerStatusEnum = enumType(
  'CustomerStatus',
  customerStatuses,
  'Whether anything can be made or changed for a customer.',
)

const email = 'The e-mail address.'
const businessName = 'The registered name.'

const personalNames = { firstName: 'The first name.', lastName: 'The last name.' }
const middleName = { middleName: 'The middle names.' }

const localityFields = {
  city: 'The city or town.',
  state: 'The state or province.',
  country: 'The country, by its name.',
}
const addressLine1 = 'Street and number.'
const addressLine2 = 'Flat, floor or building.'
const postalCode = { postalCode: 'The postal code.' }

const financialFields = {
  employmentStatus: 'How it earns its living.',
  mostRecentOccupation: 'Its latest occupation.',
  sourceOfFunds: 'Where its money comes from.',
  accountPurpose: 'What the account is for.',
}

const businessFields = { businessType: 'The legal form.', businessWebsite: 'The address of its website.' }

const Address = objectType<CustomerRow>('Address', {
  description: 'A postal address.',
  fields: {
    line1: exposeColumn('addressLine1', addressLine1),
    line2: exposeNullableColumn('addressLine2', addressLine2),
    ...exposeStrings(localityFields),
    ...exposeNullableStrings(postalCode),
  },
})

const PersonalInfo = objectType<CustomerRow>('PersonalInfo', {
  description: 'Who a customer is, as a person.',
  fields: {
    ...exposeNullableStrings({ ...personalNames, ...middleName }),
    birthDate: exposeNullableColumn('birthDate', 'The day of birth.', 'Date'),
  },
})

const FinancialInfo = objectType<CustomerRow>('FinancialInfo', {
  description: 'What a customer said about its money.',
  fields: {
    ...exposeNullableStrings(financialFields),
    expectedMonthlyIncome: exposeNullableColumn(
      'expectedMonthlyIncome',
      'What it expects to receive in a month, with two places.',
      'Decimal',
    ),
  },
})

const BusinessInfo = objectType<CustomerRow>('BusinessInfo', {
  description: 'What a customer is, as a company.',
  fields: exposeNullableStrings({ businessName, ...businessFields }),
})

export const Customer = nodeType<CustomerRow>('Customer', {
  description: 'Somebody whom the merchant serves: a person or a company with wallets and payout methods of its own.',
  source: sourceOfList(customers),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST paths use.', 'UUID'),
    type: exposeColumn('customerType', 'A person, or a company.', CustomerTypeEnum),
    ...exposeStrings({ email, phone: 'The phone number in international form.' }),
    status: exposeColumn('status', 'Whether anything can be made for it.', CustomerStatusEnum),
    address: exposeRowAs(Address, 'Where it lives or has its seat.'),
    personalInfo: exposeRowAs(PersonalInfo, 'Its names and day of birth.'),
    financialInfo: exposeRowAs(FinancialInfo, 'What it said about its money.'),
    businessInfo: exposeNullableRowAs(
      BusinessInfo,
      ['customerType'],
      'What it is as a company; null for a person.',
      ({ customerType }) => customerType === 'business',
    ),
    createdAt: exposeColumn('createdAt', 'When it was registered.', 'DateTime'),
    updatedAt: exposeColumn('updatedAt', 'When it last changed.', 'DateTime'),
  },
})

addNodeQuery('customer', Customer)

const CustomerFilter = filterType('CustomerFilter', customers, { which: 'Which customers' })
const customersDescription = 'The customers of the merchant'

addConnection('customers', customers, {
  of: Customer,
  items: 'customers',
  places: [
    { summary: customersDescription, filter: CustomerFilter },
    { on: Merchant, summary: customersDescription, filter: CustomerFilter },
  ],
})

const phone = 'The phone number in international form, such as `+2348012345678`.'
const contact = { email, phone, addressLine1, ...localityFields }

/** What a customer may say of itself, when it is registered or later. */
const optionalDetails = {
  ...optionalTexts({ addressLine2, ...postalCode, ...middleName, ...financialFields, ...businessFields }),
  birthDate: optional('The day of birth, today at the latest.', 'Date'),
  expectedMonthlyIncome: optional('What it expects to receive in a month, with at most two places.', 'Decimal'),
}

addMutation(createCustomer, {
  description: 'Registers a customer.',
  inputDescription: 'A customer to register. A person needs a first and a last name, a company its business name.',
  input: {
    customerType: required('A person, or a company; it never changes.', CustomerTypeEnum),
    ...requiredTexts(contact),
    ...optionalTexts({
      firstName: 'The first name; required for a person.',
      lastName: 'The last name; required for a person.',
      businessName: 'The registered name; required for a company.',
    }),
    ...optionalDetails,
  },
  payload: { customer: exposeRowAs(Customer, 'The new customer.') },
})

addMutation(updateCustomer, {
  description: 'Changes what is known about a customer, but never whether it is a person or a company.',
  inputDescription:
    'What to change of a customer: a field that is absent stays, an optional one that is null is cleared.',
  input: {
    customerId: requiredId('Customer'),
    ...optionalTexts({ ...contact, ...personalNames, businessName }),
    ...optionalDetails,
  },
  payload: { customer: exposeRowAs(Customer, 'The customer as it is now.') },
})

addMutation(closeCustomer, {
  description: 'Closes a customer for good: what it owns stays readable, and nothing can be made or changed for it.',
  inputDescription: 'The customer to close.',
  input: { customerId: requiredId('Customer') },
  payload: { customer: exposeRowAs(Customer, 'The customer, closed.') },
})
