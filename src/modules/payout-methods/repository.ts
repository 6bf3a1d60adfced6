import type { Params } from '../../database/query.ts'
import { change, from, insertRow, queryOne, remove, sameNames, statementOne } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'

type MethodKey = { merchantId: string; id: string }

export const insertPayoutMethod = insertRow('payoutMethods')

export const payoutMethodById = queryOne((p: Params<MethodKey>) =>
  from('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)

/** The method, which nobody else changes or deletes before the transaction ends. */
export const lockPayoutMethodById = statementOne((p: Params<MethodKey>) =>
  from('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forUpdate(),
)

const changeable = [
  ...(['currency', 'accountName', 'accountNumber', 'bankName', 'bankCode', 'checks', 'updatedAt'] as const),
  ...(['sortCode', 'swiftCode', 'routingNumber', 'iban'] as const),
]

/** Replaces what may change of a bank method. */
export const updateBankDetails = statementOne(
  (p: Params<MethodKey & Pick<RowOf<'payoutMethods'>, (typeof changeable)[number]>>) =>
    change('payoutMethods')
      .set(sameNames(p, changeable))
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id)
      .returning('id'),
)

export const deletePayoutMethodRow = statementOne((p: Params<MethodKey>) =>
  remove('payoutMethods').where('merchantId', '=', p.merchantId).where('id', '=', p.id).returning('id'),
)
