import type { Params } from '../../database/query.ts'
import {
  insertRow,
  merchantIdQuery,
  pickParams,
  queryOne,
  selectFrom,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { tables } from '../../database/tables.ts'

type CustomerKey = { merchantId: string; id: string }

export const insertCustomer = insertRow('customers')

export const lockCustomerById = statementOne((p: Params<CustomerKey>) =>
  selectFrom('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forNoKeyUpdate(),
)

/** Locks the customer against changes, but not against other share locks. */
export const shareLockCustomerById = statementOne((p: Params<CustomerKey>) =>
  selectFrom('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forShare(),
)

const { merchantId, id, sequence, customerType, status, createdAt, ...details } = tables.customers
const updatableColumns = Object.keys(details) as (keyof typeof details)[]

export const updateCustomerDetails = statementOne((p: Params<RowOf<'customers'>>) =>
  updateTable('customers')
    .set(pickParams(p, updatableColumns))
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .returning('id'),
)

export const setCustomerClosed = statementOne((p: Params<CustomerKey & { updatedAt: string }>) =>
  updateTable('customers')
    .set({ status: 'closed', updatedAt: p.updatedAt })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('status', '=', 'active')
    .returningAll(),
)

type ComplianceKey = { merchantId: string; customerId: string }

export const insertComplianceDetails = insertRow('customerComplianceDetails')

export const complianceDetailsOfCustomer = queryOne((p: Params<ComplianceKey>) =>
  selectFrom('customerComplianceDetails')
    .select('details')
    .where('merchantId', '=', p.merchantId)
    .where('customerId', '=', p.customerId),
)

export const updateComplianceDetails = statementOne((p: Params<ComplianceKey & { details: string }>) =>
  updateTable('customerComplianceDetails')
    .set({ details: p.details })
    .where('merchantId', '=', p.merchantId)
    .where('customerId', '=', p.customerId)
    .returning('customerId'),
)

/** Looks up the id in each merchant, because operators do not know the merchant. */
export const merchantOfCustomer = merchantIdQuery('customers')
