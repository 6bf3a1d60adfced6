import type { Params } from '../database/query.ts'
import { change, from, insertRow, queryOne, queryWithFilters, remove, statementOne } from '../database/query.ts'
import type { RowOf } from '../database/tables.ts'
import type { PayoutMethodType } from './payout-method.ts'

type MethodKey = { merchantId: string; id: string }

export const insertPayoutMethod = insertRow('payoutMethods')

export const payoutMethodById = queryOne((p: Params<MethodKey>) =>
  from('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)

/** The method, which nobody else changes or deletes before the transaction ends. */
export const payoutMethodToChange = statementOne((p: Params<MethodKey>) =>
  from('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forUpdate(),
)

/** The merchant's methods at or below a sequence number, newest first; the owner's own numbers when one is given. */
export const payoutMethodsDownFrom = queryWithFilters(
  ['ownerId', 'type', 'currency'],
  (
    p: Params<{
      merchantId: string
      fromSequence: number
      skip: number
      limit: number
      ownerId: string
      type: PayoutMethodType
      currency: string
    }>,
    has,
  ) => {
    const sequence = has('ownerId') ? 'ownerSequence' : 'sequence'
    let methods = from('payoutMethods').selectAll().where('merchantId', '=', p.merchantId)
    if (has('ownerId')) methods = methods.where('ownerId', '=', p.ownerId)
    if (has('type')) methods = methods.where('type', '=', p.type)
    if (has('currency')) methods = methods.where('currency', '=', p.currency)
    return methods.where(sequence, '<=', p.fromSequence).orderBy(sequence, 'desc').limit(p.limit).offset(p.skip)
  },
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
