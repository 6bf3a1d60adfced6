import type { Params } from '../../database/query.ts'
import { insertRow, merchantIdQuery, pickParams, selectFrom, statementOne, updateTable } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { tables } from '../../database/tables.ts'

type CustomerKey = { merchantId: string; id: string }

export const insertCustomer = insertRow('customers')

/** The customer, which nobody else changes until the transaction ends. */
export const lockCustomerById = statementOne((p: Params<CustomerKey>) =>
  selectFrom('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forNoKeyUpdate(),
)

/** The customer, which stays as it is until the transaction ends. */
export const shareLockCustomerById = statementOne((p: Params<CustomerKey>) =>
  selectFrom('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forShare(),
)

const { merchantId, id, sequence, customerType, status, createdAt, ...details } = tables.customers
const updatableColumns = Object.keys(details) as (keyof typeof details)[]

/** Replaces what may change of a customer. */
export const updateCustomerDetails = statementOne((p: Params<RowOf<'customers'>>) =>
  updateTable('customers')
    .set(pickParams(p, updatableColumns))
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .returning('id'),
)

/** Closes a customer; `null` when it is closed already. */
export const setCustomerClosed = statementOne((p: Params<CustomerKey & { updatedAt: string }>) =>
  updateTable('customers')
    .set({ status: 'closed', updatedAt: p.updatedAt })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('status', '=', 'active')
    .returningAll(),
)

/** The merchant of a customer, for an operator who has nothing but the customer's id: one look per merchant. */
export const merchantOfCustomer = merchantIdQuery('customers')
