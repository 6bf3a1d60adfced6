import type { Params } from '../database/query.ts'
import { change, from, insertRow, queryOne, remove, statementOne } from '../database/query.ts'
import type { RowOf } from '../database/tables.ts'

type MethodKey = { merchantId: string; id: string }

export const insertPayoutMethod = insertRow('payoutMethods')

export const payoutMethodById = queryOne((p: Params<MethodKey>) =>
  from('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)

/** The method, which nobody else changes or deletes before the transaction ends. */
export const lockPayoutMethodById = statementOne((p: Params<MethodKey>) =>
  from('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forUpdate(),
)

/** Replaces what may change of a bank method. */
export const updateBankDetails = statementOne(
  (
    p: Params<
      Pick<
        RowOf<'payoutMethods'>,
        | 'merchantId'
        | 'id'
        | 'currency'
        | 'accountName'
        | 'accountNumber'
        | 'bankName'
        | 'bankCode'
        | 'sortCode'
        | 'swiftCode'
        | 'routingNumber'
        | 'iban'
        | 'checks'
        | 'updatedAt'
      >
    >,
  ) =>
    change('payoutMethods')
      .set({
        currency: p.currency,
        accountName: p.accountName,
        accountNumber: p.accountNumber,
        bankName: p.bankName,
        bankCode: p.bankCode,
        sortCode: p.sortCode,
        swiftCode: p.swiftCode,
        routingNumber: p.routingNumber,
        iban: p.iban,
        checks: p.checks,
        updatedAt: p.updatedAt,
      })
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id)
      .returning('id'),
)

export const deletePayoutMethodRow = statementOne((p: Params<MethodKey>) =>
  remove('payoutMethods').where('merchantId', '=', p.merchantId).where('id', '=', p.id).returning('id'),
)
