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

const updatableBankColumns = [
  ...(['currency', 'accountName', 'accountNumber', 'bankName', 'bankCode', 'checks', 'updatedAt'] as const),
  ...(['sortCode', 'swiftCode', 'routingNumber', 'iban'] as const),
]

export const updateBankDetails = statementOne(
  (p: Params<PayoutMethodKey & Pick<RowOf<'payoutMethods'>, (typeof updatableBankColumns)[number]>>) =>
    updateTable('payoutMethods')
      .set(pickParams(p, updatableBankColumns))
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id)
      .returning('id'),
)

const updatableWalletColumns = [...(['currency', 'walletAddress', 'network', 'label', 'checks', 'updatedAt'] as const)]

export const updateWalletDetails = statementOne(
  (p: Params<PayoutMethodKey & Pick<RowOf<'payoutMethods'>, (typeof updatableWalletColumns)[number]>>) =>
    updateTable('payoutMethods')
      .set(pickParams(p, updatableWalletColumns))
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id)
      .returning('id'),
)

export const deletePayoutMethodRow = statementOne((p: Params<PayoutMethodKey>) =>
  deleteFrom('payoutMethods').where('merchantId', '=', p.merchantId).where('id', '=', p.id).returning('id'),
)
