import type { InputFieldBuilder } from '@pothos/core'
import type { Types } from '../graphql/builder.ts'
import { builder } from '../graphql/builder.ts'
import { connectionType } from '../graphql/connection.ts'
import { valuesEnum } from '../graphql/enums.ts'
import { localId, localIdOrNull } from '../graphql/global-ids.ts'
import { filterType, listing } from '../graphql/list-fields.ts'
import { loaderById } from '../graphql/loader.ts'
import { addMutation, asGiven, idempotencyKeyDescription } from '../graphql/mutation.ts'
import { addNodeType, idDescription, Node, nodeId } from '../graphql/node.ts'
import { Merchant } from '../merchants/graphql.ts'
import { closeCustomer } from './close-customer.ts'
import { createCustomer } from './create-customer.ts'
import type { Customer as CustomerRow } from './customer.ts'
import { customerStatuses, customerTypes } from './customer.ts'
import { customers } from './list.ts'
import { updateCustomer } from './update-customer.ts'

export const CustomerTypeEnum = valuesEnum(
  'CustomerType',
  customerTypes,
  'Whether a customer is a person or a company.',
)

export const CustomerStatusEnum = valuesEnum(
  'CustomerStatus',
  customerStatuses,
  'Whether anything can be made or changed for a customer.',
)

const Address = builder.objectRef<CustomerRow>('Address').implement({
  description: 'A postal address.',
  extensions: { table: 'customers' },
  fields: (t) => ({
    line1: t.exposeString('addressLine1', { description: 'Street and number.' }),
    line2: t.exposeString('addressLine2', { nullable: true, description: 'Flat, floor or building.' }),
    city: t.exposeString('city', { description: 'The city or town.' }),
    state: t.exposeString('state', { description: 'The state or province.' }),
    postalCode: t.exposeString('postalCode', { nullable: true, description: 'The postal code.' }),
    country: t.exposeString('country', { description: 'The country, by its name.' }),
  }),
})

const PersonalInfo = builder.objectRef<CustomerRow>('PersonalInfo').implement({
  description: 'Who a customer is, as a person.',
  extensions: { table: 'customers' },
  fields: (t) => ({
    firstName: t.exposeString('firstName', { nullable: true, description: 'The first name.' }),
    middleName: t.exposeString('middleName', { nullable: true, description: 'The middle names.' }),
    lastName: t.exposeString('lastName', { nullable: true, description: 'The last name.' }),
    birthDate: t.expose('birthDate', { type: 'Date', nullable: true, description: 'The day of birth.' }),
  }),
})

const FinancialInfo = builder.objectRef<CustomerRow>('FinancialInfo').implement({
  description: 'What a customer said about its money.',
  extensions: { table: 'customers' },
  fields: (t) => ({
    accountPurpose: t.exposeString('accountPurpose', { nullable: true, description: 'What the account is for.' }),
    employmentStatus: t.exposeString('employmentStatus', { nullable: true, description: 'How it earns its living.' }),
    expectedMonthlyIncome: t.expose('expectedMonthlyIncome', {
      type: 'Decimal',
      nullable: true,
      description: 'What it expects to receive in a month, with two places.',
    }),
    mostRecentOccupation: t.exposeString('mostRecentOccupation', {
      nullable: true,
      description: 'Its latest occupation.',
    }),
    sourceOfFunds: t.exposeString('sourceOfFunds', { nullable: true, description: 'Where its money comes from.' }),
  }),
})

const BusinessInfo = builder.objectRef<CustomerRow>('BusinessInfo').implement({
  description: 'What a customer is, as a company.',
  extensions: { table: 'customers' },
  fields: (t) => ({
    businessName: t.exposeString('businessName', { nullable: true, description: 'The registered name.' }),
    businessType: t.exposeString('businessType', { nullable: true, description: 'The legal form.' }),
    businessWebsite: t.exposeString('businessWebsite', { nullable: true, description: 'The address of its website.' }),
  }),
})

export const Customer = builder.objectRef<CustomerRow>('Customer').implement({
  description: 'Somebody whom the merchant serves: a person or a company with wallets and payout methods of its own.',
  extensions: { table: 'customers' },
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('Customer', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST paths use.' }),
    type: t.expose('customerType', { type: CustomerTypeEnum, description: 'A person, or a company.' }),
    email: t.exposeString('email', { description: 'The e-mail address.' }),
    phone: t.exposeString('phone', { description: 'The phone number in international form.' }),
    status: t.expose('status', { type: CustomerStatusEnum, description: 'Whether anything can be made for it.' }),
    address: t.field({
      type: Address,
      description: 'Where it lives or has its seat.',
      extensions: { columns: [] },
      resolve: (customer) => customer,
    }),
    personalInfo: t.field({
      type: PersonalInfo,
      description: 'Its names and day of birth.',
      extensions: { columns: [] },
      resolve: (customer) => customer,
    }),
    financialInfo: t.field({
      type: FinancialInfo,
      description: 'What it said about its money.',
      extensions: { columns: [] },
      resolve: (customer) => customer,
    }),
    businessInfo: t.field({
      type: BusinessInfo,
      nullable: true,
      description: 'What it is as a company; null for a person.',
      extensions: { columns: ['customerType'] },
      resolve: (customer) => (customer.customerType === 'business' ? customer : null),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was registered.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

/** Customers of one request, by id. */
export const customerLoader = loaderById<CustomerRow>(customers.find)

addNodeType('Customer', customerLoader)

const CustomerConnection = connectionType<CustomerRow>('Customer', Customer, 'customers')

const CustomerFilter = filterType('CustomerFilter', customers, {
  description: 'Which customers: those that every field here lets through.',
})

const listedCustomers = { filter: CustomerFilter, filterDescription: 'Which customers to list; all without it.' }

builder.queryFields((t) => ({
  customer: t.field({
    type: Customer,
    nullable: true,
    description: 'One customer; null when it does not exist or is not visible.',
    args: { id: t.arg.id({ required: true, description: idDescription('customer') }) },
    resolve: (_, { id }, context) => {
      const customerId = localIdOrNull('Customer', id)
      return customerId === null ? null : customerLoader(context).load(customerId)
    },
  }),
  customers: t.field({
    type: CustomerConnection,
    description: 'The customers of the merchant, newest first.',
    ...listing(t, customers, listedCustomers),
  }),
}))

builder.objectField(Merchant, 'customers', (t) =>
  t.field({
    type: CustomerConnection,
    description: 'The customers of the merchant, newest first.',
    ...listing(t, customers, listedCustomers),
  }),
)

const required = { required: true } as const

/** What a customer may say of itself, when it is registered or later. */
function optionalDetails(t: InputFieldBuilder<Types, 'InputObject'>) {
  return {
    addressLine2: t.string({ description: 'Flat, floor or building.' }),
    postalCode: t.string({ description: 'The postal code.' }),
    middleName: t.string({ description: 'The middle names.' }),
    birthDate: t.field({ type: 'Date', description: 'The day of birth, today at the latest.' }),
    accountPurpose: t.string({ description: 'What the account is for.' }),
    employmentStatus: t.string({ description: 'How it earns its living.' }),
    expectedMonthlyIncome: t.field({
      type: 'Decimal',
      description: 'What it expects to receive in a month, with at most two places.',
    }),
    mostRecentOccupation: t.string({ description: 'Its latest occupation.' }),
    sourceOfFunds: t.string({ description: 'Where its money comes from.' }),
    businessType: t.string({ description: 'The legal form.' }),
    businessWebsite: t.string({ description: 'The address of its website.' }),
  }
}

const CreateCustomerInput = builder.inputType('CreateCustomerInput', {
  description: 'A customer to register. A person needs a first and a last name, a company its business name.',
  fields: (t) => ({
    customerType: t.field({
      type: CustomerTypeEnum,
      ...required,
      description: 'A person, or a company; it never changes.',
    }),
    email: t.string({ ...required, description: 'The e-mail address.' }),
    phone: t.string({ ...required, description: 'The phone number in international form, such as `+2348012345678`.' }),
    addressLine1: t.string({ ...required, description: 'Street and number.' }),
    city: t.string({ ...required, description: 'The city or town.' }),
    state: t.string({ ...required, description: 'The state or province.' }),
    country: t.string({ ...required, description: 'The country, by its name.' }),
    firstName: t.string({ description: 'The first name; required for a person.' }),
    lastName: t.string({ description: 'The last name; required for a person.' }),
    businessName: t.string({ description: 'The registered name; required for a company.' }),
    ...optionalDetails(t),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

const UpdateCustomerInput = builder.inputType('UpdateCustomerInput', {
  description: 'What to change of a customer: a field that is absent stays, an optional one that is null is cleared.',
  fields: (t) => ({
    customerId: t.id({ ...required, description: idDescription('customer') }),
    email: t.string({ description: 'The e-mail address.' }),
    phone: t.string({ description: 'The phone number in international form, such as `+2348012345678`.' }),
    addressLine1: t.string({ description: 'Street and number.' }),
    city: t.string({ description: 'The city or town.' }),
    state: t.string({ description: 'The state or province.' }),
    country: t.string({ description: 'The country, by its name.' }),
    firstName: t.string({ description: 'The first name.' }),
    lastName: t.string({ description: 'The last name.' }),
    businessName: t.string({ description: 'The registered name.' }),
    ...optionalDetails(t),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

const CloseCustomerInput = builder.inputType('CloseCustomerInput', {
  description: 'The customer to close.',
  fields: (t) => ({
    customerId: t.id({ ...required, description: idDescription('customer') }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('createCustomer', {
  description: 'Registers a customer.',
  input: CreateCustomerInput,
  node: customerLoader,
  run: (context, input) => context.perform(createCustomer, context, input),
  payload: (t) => ({
    customer: t.field({ type: Customer, description: 'The new customer.', resolve: (customer) => customer }),
  }),
  errors: ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED'],
})

addMutation('updateCustomer', {
  description: 'Changes what is known about a customer, but never whether it is a person or a company.',
  input: UpdateCustomerInput,
  node: customerLoader,
  run: (context, input) =>
    context.perform(
      updateCustomer,
      context,
      asGiven<Parameters<typeof updateCustomer>[1]>({ ...input, customerId: localId('Customer', input.customerId) }),
    ),
  payload: (t) => ({
    customer: t.field({ type: Customer, description: 'The customer as it is now.', resolve: (customer) => customer }),
  }),
  errors: ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
})

addMutation('closeCustomer', {
  description: 'Closes a customer for good: what it owns stays readable, and nothing can be made or changed for it.',
  input: CloseCustomerInput,
  node: customerLoader,
  run: (context, input) =>
    context.perform(closeCustomer, context, { customerId: localId('Customer', input.customerId) }),
  payload: (t) => ({
    customer: t.field({ type: Customer, description: 'The customer, closed.', resolve: (customer) => customer }),
  }),
  errors: ['INVALID_INPUT', 'IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
})
