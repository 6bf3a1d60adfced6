import { defineList } from '../../lists/define-list.ts'
import { filterByEnum } from '../../lists/filters.ts'
import { customerStatuses, customerTypes } from './customer.ts'

export const customers = defineList({
  name: 'customers',
  importedAs: 'customers',
  noun: 'Customer',
  table: 'customers',
  select: (customers) => customers.selectAll('customers'),
  order: 'customers.sequence',
  createdAt: 'customers.createdAt',
  conditions: { status: { column: 'customers.status' }, customerType: { column: 'customers.customerType' } },
  filters: {
    status: filterByEnum(customerStatuses, 'Only customers in this status.', null),
    customerType: filterByEnum(customerTypes, 'Only individuals, or only businesses.'),
  },
  numberedBy: 'customers',
  // The sample queries in the API contract request ten customers per page.
  pageSize: 10,
})
