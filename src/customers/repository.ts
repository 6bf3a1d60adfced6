import type { Params } from '../database/query.ts'
import { acrossMerchants, change, from, insertRow, query, queryOne, statementOne } from '../database/query.ts'

type CustomerKey = { merchantId: string; id: string }

export const insertCustomer = insertRow('customers')

export const customerById = queryOne((p: Params<CustomerKey>) =>
  from('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id),
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
