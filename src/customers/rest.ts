import type { z } from 'zod'
import { listAnswer, listRoute, listSchemas } from '../rest/list-route.ts'
import type { JsonSchema, Reference } from '../rest/reference.ts'
import { idField, listOf, mostlyNull, object, oneOf, orNull, text, timestamp, uuid } from '../rest/reference.ts'
import type { WireNames } from '../rest/route.ts'
import { get } from '../rest/route.ts'
import type { Customer } from './customer.ts'
import { customerStatuses, customerTypes } from './customer.ts'
import { GetCustomerInput, getCustomer } from './get-customer.ts'
import { customers } from './list.ts'

const getNames: WireNames<z.input<typeof GetCustomerInput>> = { customerId: 'customerId' }

const getReference: Reference<z.input<typeof GetCustomerInput>> = {
  name: 'getCustomer',
  title: 'Get a customer',
  description: 'Gives one customer of the merchant, also a closed one.',
  fields: { customerId: idField('The id of the customer.') },
  example: { customerId: '01980c5e-7a10-7c3f-9d2b-4e5f60718293' },
  refusals: ['RESOURCE_NOT_FOUND'],
  answer: () => ({ data: customerSchema() }),
}

export const customerRoutes = [
  listRoute('/api/customers', customers, {
    name: 'listCustomers',
    title: 'List customers',
    description: 'Lists the customers of the merchant, newest first.',
    example: { limit: 2 },
    answer: listAnswer(customerJson),
    schemas: listSchemas(() => listOf('The customers of the page.', customerSchema())),
  }),
  get('/api/customers/:customerId', GetCustomerInput, getNames, getReference, async (context, input) => ({
    data: customerJson(await getCustomer(context, input)),
  })),
]

/** The wire shape of contract 2.1: frozen, so every key is spelled out. */
function customerJson(customer: Customer) {
  return {
    id: customer.id,
    customer_type: customer.customerType,
    email: customer.email,
    phone: customer.phone,
    created_at: customer.createdAt,
    updated_at: customer.updatedAt,
    status: customer.status,
    address: {
      line_1: customer.addressLine1,
      line_2: customer.addressLine2,
      city: customer.city,
      state: customer.state,
      postal_code: customer.postalCode,
      country: customer.country,
    },
    personal_info: {
      first_name: customer.firstName,
      middle_name: customer.middleName,
      last_name: customer.lastName,
      birth_date: customer.birthDate,
    },
    financial_info: {
      account_purpose: customer.accountPurpose,
      employment_status: customer.employmentStatus,
      expected_monthly_income: customer.expectedMonthlyIncome,
      most_recent_occupation: customer.mostRecentOccupation,
      source_of_funds: customer.sourceOfFunds,
    },
    // Present for business customers only, as the contract says.
    ...(customer.customerType === 'business' && {
      business_info: {
        business_name: customer.businessName,
        business_type: customer.businessType,
        business_website: customer.businessWebsite,
      },
    }),
  }
}

function customerSchema(): JsonSchema {
  type Json = ReturnType<typeof customerJson>
  return object<Json>(
    'A person or business that the merchant serves.',
    {
      id: uuid('The id of the customer.'),
      customer_type: oneOf('Whether it is a person or a business.', customerTypes),
      email: text('The e-mail address.', 'ada.obi@example.com'),
      phone: text('The telephone number in international form.', '+2348012345678'),
      created_at: timestamp('When it was registered.'),
      updated_at: timestamp('When it last changed.'),
      status: oneOf('Whether it is served; nothing can be made or changed for a closed one.', customerStatuses),
      address: object<Json['address']>('Where it lives or has its seat.', {
        line_1: text('Street and number.', '12 Marina Road'),
        line_2: mostlyNull(text('What else finds the door.', 'Flat 3')),
        city: text('The city.', 'Lagos'),
        state: text('The state or province.', 'Lagos'),
        postal_code: orNull(text('The postal code.', '101241')),
        country: text('The country.', 'Nigeria'),
      }),
      personal_info: object<Json['personal_info']>('Who it is; mostly null for a business.', {
        first_name: orNull(text('The first name.', 'Ada')),
        middle_name: mostlyNull(text('The middle name.', 'Ngozi')),
        last_name: orNull(text('The last name.', 'Obi')),
        birth_date: orNull(timestamp('The date of birth, as a time.', '1990-04-12T00:00:00.000Z')),
      }),
      financial_info: object<Json['financial_info']>('What it said about its money.', {
        account_purpose: orNull(text('What the account is for.', 'Personal savings')),
        employment_status: orNull(text('Whether and how it works.', 'Employed')),
        expected_monthly_income: orNull({
          ...text('What it expects to earn in a month, as a decimal string of two places.', '2500.00'),
          pattern: String.raw`^\d+\.\d{2}$`,
        }),
        most_recent_occupation: orNull(text('What it works or worked as.', 'Engineer')),
        source_of_funds: orNull(text('Where its money comes from.', 'Salary')),
      }),
      business_info: object<NonNullable<Json['business_info']>>('Present for a business only.', {
        business_name: orNull(text('The name of the business.', 'Obi Trading Ltd')),
        business_type: orNull(text('What kind of business it is.', 'Limited company')),
        business_website: orNull(text('Its website.', 'https://obi-trading.example.com')),
      }),
    },
    { title: 'Customer', optional: ['business_info'] },
  )
}
