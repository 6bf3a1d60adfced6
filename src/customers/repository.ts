import type { Params } from '../database/query.ts'
import { acrossMerchants, change, from, insertRow, queryOne, statementOne } from '../database/query.ts'
import type { RowOf } from '../database/tables.ts'

type CustomerKey = { merchantId: string; id: string }

export const insertCustomer = insertRow('customers')

/** The customer, which nobody else changes until the transaction ends. */
export const customerToChange = statementOne((p: Params<CustomerKey>) =>
  from('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forNoKeyUpdate(),
)

/** The customer, which stays as it is until the transaction ends. */
export const customerToBuildOn = statementOne((p: Params<CustomerKey>) =>
  from('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forShare(),
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
