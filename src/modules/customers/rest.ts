import { idField } from '../../rest/input-fields.ts'
import { listRoute } from '../../rest/list-route.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get } from '../../rest/route.ts'
import { listOf } from '../../rest/shape.ts'
import { customer } from './customer-shape.ts'
import { GetCustomerInput, getCustomer } from './get-customer.ts'
import { customers } from './list.ts'
import { ListCustomersInput, listCustomers } from './list-customers.ts'

export const customerEndpoints: RouteGroup = {
  name: 'Customers',
  description: 'The persons and businesses that the merchant serves.',
  routes: [
    listRoute(
      '/api/customers',
      { ...customers, PageInput: ListCustomersInput, page: listCustomers },
      {
        name: 'listCustomers',
        title: 'List customers',
        description: 'Returns the customers of the merchant, newest first.',
        example: { limit: 2 },
        fields: {
          search: {
            examples: ['Ada O'],
            description:
              'Only customers with this e-mail address, phone number or id, or a name that begins with it, in any case.',
          },
          startDate: {
            type: 'string',
            examples: ['2026-11-01'],
            description: 'Only customers registered from this day (UTC) or time.',
          },
          endDate: {
            type: 'string',
            examples: ['2026-11-30'],
            description: 'Only customers registered until this day (UTC), or before this time.',
          },
        },
        rows: listOf('The customers of the page.', customer),
      },
    ),
    get('/api/customers/:customerId', {
      name: 'getCustomer',
      title: 'Get a customer',
      description: 'Returns one customer of the merchant, including a closed one.',
      input: GetCustomerInput,
      operation: getCustomer,
      fields: { customerId: { ...idField('The id of the customer.'), name: 'customerId' } },
      example: { customerId: '01980c5e-7a10-7c3f-9d2b-4e5f60718293' },
      errors: ['RESOURCE_NOT_FOUND'],
      response: { data: customer },
    }),
  ],
}
