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
import { customerDescriptions, customerStatuses, customerTypes } from './customer.ts'
import { customers } from './list.ts'
import { updateCustomer } from './update-customer.ts'

const CustomerTypeEnum = enumType('CustomerType', customerTypes, customerDescriptions.customerType)

const CustomerStatusEnum = enumType('CustomerStatus', customerStatuses, customerDescriptions.status)

const { email, phone, addressLine1, addressLine2, postalCode, city, state, country } = customerDescriptions
const { firstName, middleName, lastName, expectedMonthlyIncome, accountPurpose, employmentStatus } =
  customerDescriptions
const { mostRecentOccupation, sourceOfFunds, businessName, businessType, businessWebsite } = customerDescriptions
const localityFields = { city, state, country }
const financialFields = { accountPurpose, employmentStatus, mostRecentOccupation, sourceOfFunds }
const businessFields = { businessType, businessWebsite }

const Address = objectType<CustomerRow>('Address', {
  description: 'A postal address.',
  fields: {
    line1: exposeColumn('addressLine1', addressLine1),
    line2: exposeNullableColumn('addressLine2', addressLine2),
    ...exposeStrings(localityFields),
    ...exposeNullableStrings({ postalCode }),
  },
})

const PersonalInfo = objectType<CustomerRow>('PersonalInfo', {
  description: 'The names and date of birth of a customer.',
  fields: {
    ...exposeNullableStrings({ firstName, lastName, middleName }),
    birthDate: exposeNullableColumn('birthDate', customerDescriptions.birthDate, 'Date'),
  },
})

const FinancialInfo = objectType<CustomerRow>('FinancialInfo', {
  description: 'Financial information from the customer.',
  fields: {
    ...exposeNullableStrings(financialFields),
    expectedMonthlyIncome: exposeNullableColumn('expectedMonthlyIncome', expectedMonthlyIncome, 'Decimal'),
  },
})

const BusinessInfo = objectType<CustomerRow>('BusinessInfo', {
  description: 'The business details of a customer.',
  fields: exposeNullableStrings({ businessName, ...businessFields }),
})

export const Customer = nodeType<CustomerRow>('Customer', {
  description: 'A person or business that the merchant serves, with its own wallets and payout methods.',
  source: sourceOfList(customers),
  fields: {
    uuid: exposeColumn('id', 'The id used in REST paths.', 'UUID'),
    type: exposeColumn('customerType', customerDescriptions.customerType, CustomerTypeEnum),
    ...exposeStrings({ email, phone }),
    status: exposeColumn('status', customerDescriptions.status, CustomerStatusEnum),
    address: exposeRowAs(Address, 'The residential or registered address.'),
    personalInfo: exposeRowAs(PersonalInfo, 'Names and date of birth; null for a business.'),
    financialInfo: exposeRowAs(FinancialInfo, 'Financial information from the customer.'),
    businessInfo: exposeNullableRowAs(
      BusinessInfo,
      ['customerType'],
      'The business details; null for an individual.',
      ({ customerType }) => customerType === 'business',
    ),
    createdAt: exposeColumn('createdAt', customerDescriptions.createdAt, 'DateTime'),
    updatedAt: exposeColumn('updatedAt', customerDescriptions.updatedAt, 'DateTime'),
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

const contact = { email, phone, addressLine1, ...localityFields }

const optionalDetails = {
  ...optionalTexts({ addressLine2, postalCode, middleName, ...financialFields, ...businessFields }),
  birthDate: optional('The date of birth, today at the latest.', 'Date'),
  expectedMonthlyIncome: optional('The expected monthly income, with at most two decimal places.', 'Decimal'),
}

addMutation(createCustomer, {
  description: 'Registers a customer.',
  inputDescription:
    'The customer to register. An individual needs a first and a last name, a business its business name.',
  input: {
    customerType: required('Whether the customer is an individual or a business. It never changes.', CustomerTypeEnum),
    ...requiredTexts(contact),
    ...optionalTexts({
      firstName: 'The first name; required for an individual.',
      lastName: 'The last name; required for an individual.',
      businessName: 'The registered name; required for a business.',
    }),
    ...optionalDetails,
  },
  payload: { customer: exposeRowAs(Customer, 'The new customer.') },
})

addMutation(updateCustomer, {
  description: 'Changes the details of a customer, but never its type.',
  inputDescription: 'The fields to change. An absent field keeps its value; an optional field that is null is cleared.',
  input: {
    customerId: requiredId('Customer'),
    ...optionalTexts({ ...contact, firstName, lastName, businessName }),
    ...optionalDetails,
  },
  payload: { customer: exposeRowAs(Customer, 'The changed customer.') },
})

addMutation(closeCustomer, {
  description:
    'Closes a customer permanently. Its objects stay readable, but nothing can be created or changed for it.',
  inputDescription: 'The customer to close.',
  input: { customerId: requiredId('Customer') },
  payload: { customer: exposeRowAs(Customer, 'The closed customer.') },
})
