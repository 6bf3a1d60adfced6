import { sql } from 'kysely'
import type { RangeParams } from '../database/created-range.ts'
import { rangeFilters } from '../database/created-range.ts'
import { countsOfEach, createdConditions, idsOfEach } from '../database/each.ts'
import type { Params } from '../database/query.ts'
import {
  change,
  from,
  insertRow,
  list,
  query,
  queryOne,
  queryWithFilters,
  remove,
  statementOne,
} from '../database/query.ts'
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

/** What a list tells of a method. */
const listedColumns = [
  ...(['id', 'type', 'currency', 'createdAt', 'updatedAt', 'customerId'] as const),
  ...(['accountName', 'accountNumber', 'bankName', 'bankCode'] as const),
  ...(['sortCode', 'swiftCode', 'routingNumber', 'iban'] as const),
  ...(['label', 'walletAddress', 'network'] as const),
]

export type ListedColumn = (typeof listedColumns)[number]

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
    let methods = from('payoutMethods').select(listedColumns).where('merchantId', '=', p.merchantId)
    if (has('ownerId')) methods = methods.where('ownerId', '=', p.ownerId)
    if (has('type')) methods = methods.where('type', '=', p.type)
    if (has('currency')) methods = methods.where('currency', '=', p.currency)
    return methods.where(sequence, '<=', p.fromSequence).orderBy(sequence, 'desc').limit(p.limit).offset(p.skip)
  },
)

/** The merchant's methods among `ids`, in any order; another merchant's are not found. */
export const payoutMethodsByIds = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  from('payoutMethods').selectAll().where('merchantId', '=', p.merchantId).where('id', 'in', list(p.ids)),
)

type BrowsedRange = RangeParams & { merchantId: string; ownerId: string; type: PayoutMethodType; currency: string }

const browseFilters = ['ownerId', 'type', 'currency', ...rangeFilters] as const
type BrowseFilter = (typeof browseFilters)[number]

/** The methods in a range of the merchant's numbers, or of the owner's own when one is given. */
function methodsInRange(p: Params<BrowsedRange>, has: (filter: BrowseFilter) => boolean) {
  const sequence = sequenceOfList(has)
  let methods = from('payoutMethods')
    .where('merchantId', '=', p.merchantId)
    .where(sequence, '>', p.above)
    .where(sequence, '<', p.below)
  if (has('ownerId')) methods = methods.where('ownerId', '=', p.ownerId)
  if (has('type')) methods = methods.where('type', '=', p.type)
  if (has('currency')) methods = methods.where('currency', '=', p.currency)
  if (has('createdFrom')) methods = methods.where('createdAt', '>=', p.createdFrom)
  if (has('createdBefore')) methods = methods.where('createdAt', '<', p.createdBefore)
  return methods
}

function sequenceOfList(has: (filter: 'ownerId') => boolean) {
  return has('ownerId') ? 'ownerSequence' : 'sequence'
}

/** The methods in a range, newest first unless `isAscending`. */
export const browsedPayoutMethods = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  methodsInRange(p, has)
    .selectAll()
    .orderBy(sequenceOfList(has), has('isAscending') ? 'asc' : 'desc')
    .limit(p.limit),
)

/** How many methods a range has, of which at most `limit` are looked at. */
export const countBrowsedPayoutMethods = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  from(methodsInRange(p, has).select(sequenceOfList(has)).limit(p.limit).as('counted')).select(
    sql<number>`count(*)`.as('rowCount'),
  ),
)

/** The number and time of the method at or below a number, the merchant's or the owner's own. */
export const payoutMethodMarks = queryWithFilters(
  ['ownerId'],
  (p: Params<{ merchantId: string; ownerId: string; fromSequence: number }>, has) => {
    const sequence = sequenceOfList(has)
    let methods = from('payoutMethods').where('merchantId', '=', p.merchantId)
    if (has('ownerId')) methods = methods.where('ownerId', '=', p.ownerId)
    return methods
      .where(sequence, '<=', p.fromSequence)
      .select([`${sequence} as sequence`, 'createdAt'])
      .orderBy(sequence, 'desc')
      .limit(1)
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

const methodsOfCustomers = {
  parents: 'customers',
  table: 'payout_methods',
  parentColumn: 'owner_id',
  sequenceColumn: 'owner_sequence',
  idColumn: 'id',
  conditions: {
    type: (type: unknown) => sql`items.type = ${type}`,
    currency: (currency: unknown) => sql`items.currency = ${currency}`,
    ...createdConditions,
  },
}

/** Up to `limit` methods of each customer, from one end of its list. */
export const payoutMethodIdsOfCustomers = idsOfEach(methodsOfCustomers)

/** How many methods each customer has, of which at most `limit` are looked at. */
export const payoutMethodCountsOfCustomers = countsOfEach(methodsOfCustomers)
