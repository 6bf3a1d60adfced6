import type { z } from 'zod'
import type { WireNames } from '../rest/route.ts'
import { get, pagination } from '../rest/route.ts'
import type { Customer } from './customer.ts'
import { GetCustomerInput, getCustomer } from './get-customer.ts'
import { ListCustomersInput, listCustomers } from './list-customers.ts'

const listNames: WireNames<z.input<typeof ListCustomersInput>> = { page: 'page', limit: 'limit' }

const getNames: WireNames<z.input<typeof GetCustomerInput>> = { customerId: 'customerId' }

export const customerRoutes = [
  get('/api/customers', ListCustomersInput, listNames, async (context, input) => {
    const page = await listCustomers(context, input)
    return { data: page.items.map(customerJson), pagination: pagination(page) }
  }),
  get('/api/customers/:customerId', GetCustomerInput, getNames, async (context, input) => ({
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
