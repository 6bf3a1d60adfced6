import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import {
  deleteFrom,
  insertRow,
  listParam,
  merchantIdQuery,
  pickParams,
  query,
  queryOne,
  selectFrom,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { tables } from '../../database/tables.ts'

type CustomerKey = { merchantId: string; id: string }

export const insertCustomerRow = insertRow('customers')

export const insertSearchKey = insertRow('customerSearchKeys')

export const deleteSearchKey = statementOne((p: Params<RowOf<'customerSearchKeys'>>) =>
  deleteFrom('customerSearchKeys')
    .where('merchantId', '=', p.merchantId)
    .where('kind', '=', p.kind)
    .where('key', '=', p.key)
    .where('customerId', '=', p.customerId)
    .returning('customerId'),
)

type KeyLookup<Value extends object> = Params<{ merchantId: string; limit: number } & Value>

export const customerIdsByKey = query((p: KeyLookup<{ kind: 'email' | 'phone'; key: string }>) =>
  selectFrom('customerSearchKeys')
    .select('customerId as id')
    .where('merchantId', '=', p.merchantId)
    .where('kind', '=', p.kind)
    .where('key', '=', p.key)
    .orderBy('customerId')
    .limit(p.limit),
)

export const customerIdsByName = query((p: KeyLookup<{ from: string; to: string }>) =>
  selectFrom('customerSearchKeys')
    .select('customerId as id')
    .where('merchantId', '=', p.merchantId)
    .where('kind', '=', sql.lit('name'))
    .where('key', '>=', p.from)
    .where('key', '<', p.to)
    .orderBy('key')
    .orderBy('customerId')
    .limit(p.limit),
)

export const customerListingsByIds = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  selectFrom('customers')
    .select(['id', 'sequence', 'customerType', 'status', 'createdAt'])
    .where('merchantId', '=', p.merchantId)
    .where('id', 'in', listParam(p.ids)),
)

export const lockCustomerById = statementOne((p: Params<CustomerKey>) =>
  selectFrom('customers').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forNoKeyUpdate(),
)

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

export const merchantOfCustomer = merchantIdQuery('customers')
