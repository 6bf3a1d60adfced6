import { sql } from 'kysely'
import type { RangeParams } from '../database/created-range.ts'
import { rangeFilters } from '../database/created-range.ts'
import type { Params } from '../database/query.ts'
import {
  acrossMerchants,
  change,
  from,
  insertRow,
  list,
  query,
  queryOne,
  queryWithFilters,
  statementOne,
} from '../database/query.ts'
import type { RowOf } from '../database/tables.ts'
import type { CustomerStatus, CustomerType } from './customer.ts'

type CustomerKey = { merchantId: string; id: string }

export const insertCustomer = insertRow('customers')

export const customerById = queryOne((p: Params<CustomerKey>) =>
  from('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)

/** The customer, which nobody else changes until the transaction ends. */
export const customerToChange = statementOne((p: Params<CustomerKey>) =>
  from('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forNoKeyUpdate(),
)

/** The customer, which stays as it is until the transaction ends. */
export const customerToBuildOn = statementOne((p: Params<CustomerKey>) =>
  from('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forShare(),
)

/** The customers numbered `fromSequence` and below, newest first. */
export const customersDownFrom = query((p: Params<{ merchantId: string; fromSequence: number; limit: number }>) =>
  from('customers')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '<=', p.fromSequence)
    .orderBy('sequence', 'desc')
    .limit(p.limit),
)

/** The merchant's customers among `ids`, in any order; another merchant's are not found. */
export const customersByIds = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  from('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', 'in', list(p.ids)),
)

type BrowsedRange = RangeParams & { merchantId: string; status: CustomerStatus; customerType: CustomerType }

const browseFilters = ['status', 'customerType', ...rangeFilters] as const
type BrowseFilter = (typeof browseFilters)[number]

function customersInRange(p: Params<BrowsedRange>, has: (filter: BrowseFilter) => boolean) {
  let customers = from('customers')
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '>', p.above)
    .where('sequence', '<', p.below)
  if (has('status')) customers = customers.where('status', '=', p.status)
  if (has('customerType')) customers = customers.where('customerType', '=', p.customerType)
  if (has('createdFrom')) customers = customers.where('createdAt', '>=', p.createdFrom)
  if (has('createdBefore')) customers = customers.where('createdAt', '<', p.createdBefore)
  return customers
}

/** The customers in a range, newest first unless `isAscending`. */
export const browsedCustomers = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  customersInRange(p, has)
    .selectAll()
    .orderBy('sequence', has('isAscending') ? 'asc' : 'desc')
    .limit(p.limit),
)

/** How many customers a range has, of which at most `limit` are looked at. */
export const countBrowsedCustomers = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  from(customersInRange(p, has).select('sequence').limit(p.limit).as('counted')).select(
    sql<number>`count(*)`.as('rowCount'),
  ),
)

/** The number and time of the customer at or below a number. */
export const customerMark = queryOne((p: Params<{ merchantId: string; fromSequence: number }>) =>
  from('customers')
    .select(['sequence', 'createdAt'])
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '<=', p.fromSequence)
    .orderBy('sequence', 'desc')
    .limit(1),
)

/** Replaces what may change of a customer. */
export const updateCustomerDetails = statementOne((p: Params<RowOf<'customers'>>) =>
  change('customers')
    .set({
      email: p.email,
      phone: p.phone,
      addressLine1: p.addressLine1,
      addressLine2: p.addressLine2,
      city: p.city,
      state: p.state,
      postalCode: p.postalCode,
      country: p.country,
      firstName: p.firstName,
      middleName: p.middleName,
      lastName: p.lastName,
      birthDate: p.birthDate,
      accountPurpose: p.accountPurpose,
      employmentStatus: p.employmentStatus,
      expectedMonthlyIncome: p.expectedMonthlyIncome,
      mostRecentOccupation: p.mostRecentOccupation,
      sourceOfFunds: p.sourceOfFunds,
      businessName: p.businessName,
      businessType: p.businessType,
      businessWebsite: p.businessWebsite,
      updatedAt: p.updatedAt,
    })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .returning('id'),
)

/** Closes a customer; `null` when it is closed already. */
export const setCustomerClosed = statementOne((p: Params<CustomerKey & { updatedAt: string }>) =>
  change('customers')
    .set({ status: 'closed', updatedAt: p.updatedAt })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('status', '=', 'active')
    .returningAll(),
)

/** The merchant of a customer, for an operator who has nothing but the customer's id: one look per merchant. */
export const merchantOfCustomer = queryOne((p: Params<{ id: string }>) =>
  acrossMerchants(
    from('merchants')
      .crossJoin('customers')
      .whereRef('customers.merchantId', '=', 'merchants.id')
      .where('customers.id', '=', p.id)
      .select('merchants.id'),
  ),
)
