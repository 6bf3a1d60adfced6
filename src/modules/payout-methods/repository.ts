import type { Params } from '../../database/query.ts'
import {
  deleteFrom,
  insertRow,
  pickParams,
  queryOne,
  selectFrom,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'

type PayoutMethodKey = { merchantId: string; id: string }

export const insertPayoutMethod = insertRow('payoutMethods')

export const payoutMethodById = queryOne((p: Params<PayoutMethodKey>) =>
  selectFrom('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)

export const lockPayoutMethodById = statementOne((p: Params<PayoutMethodKey>) =>
  selectFrom('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forUpdate(),
)

const updatableColumns = [
  ...(['currency', 'accountName', 'accountNumber', 'bankName', 'bankCode', 'checks', 'updatedAt'] as const),
  ...(['sortCode', 'swiftCode', 'routingNumber', 'iban'] as const),
]

export const updateBankDetails = statementOne(
  (p: Params<PayoutMethodKey & Pick<RowOf<'payoutMethods'>, (typeof updatableColumns)[number]>>) =>
    updateTable('payoutMethods')
      .set(pickParams(p, updatableColumns))
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id)
      .returning('id'),
)

export const deletePayoutMethodRow = statementOne((p: Params<PayoutMethodKey>) =>
  deleteFrom('payoutMethods').where('merchantId', '=', p.merchantId).where('id', '=', p.id).returning('id'),
)
