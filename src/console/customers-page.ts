import type { Customer } from '../modules/customers/customer.ts'
import { customerStatuses, customerTypes } from '../modules/customers/customer.ts'
import { customers } from '../modules/customers/list.ts'
import { customerName, customerRow } from '../modules/operators/list-rows.ts'
import { html } from '../server/pages/html.ts'
import { ageElement, choices, statusBadge, valueOrEmpty } from './components.ts'
import { listPage, merchantLink } from './list-page.ts'

export const customersPage = listPage({
  title: 'Customers',
  path: '/customers',
  noun: 'customer',
  list: customers,
  filters: [
    { name: 'status', label: 'Status', options: choices(customerStatuses) },
    { name: 'type', label: 'Type', options: choices(customerTypes), field: 'customerType' },
  ],
  filterOf: ({ status, type }) => ({
    status: (status || undefined) as Customer['status'] | undefined,
    customerType: (type || undefined) as Customer['customerType'] | undefined,
  }),
  columns: [
    {
      column: 'Customer',
      cell: (customer, { urlFor }) =>
        html`<a href="${urlFor(`/customers/${customer.id}`)}" title="${customer.id}">${customerName(customer) || customer.id}</a>`,
    },
    { column: 'Type', cell: ({ customerType }) => html`${customerType}` },
    { column: 'Status', cell: ({ status }) => statusBadge(status) },
    { column: 'Email', cell: ({ email }) => valueOrEmpty(email) },
    { column: 'Phone', cell: ({ phone }) => valueOrEmpty(phone) },
    { column: 'Country', cell: ({ country }) => valueOrEmpty(country) },
    { column: 'Created', cell: ({ createdAt }, { now }) => ageElement(createdAt, now) },
    { column: 'Merchant', cell: merchantLink, names: 'merchant' },
  ],
  record: customerRow,
  empty: html`There is no customer yet. A merchant creates one with the mutation <code>createCustomer</code>.`,
})
