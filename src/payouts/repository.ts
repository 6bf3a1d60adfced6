import { sql } from 'kysely'
import type { RangeParams } from '../database/created-range.ts'
import { countsOfEach, createdConditions, idsOfEach } from '../database/each.ts'
import type { Params } from '../database/query.ts'
import {
  acrossMerchants,
  change,
  from,
  insertRow,
  list,
  query,
  queryOne,
  queryWithFilters,
  statementOne,
} from '../database/query.ts'
import type { PayoutStatus } from './payout.ts'

type PayoutKey = { merchantId: string; id: string }

/** Records a payout; it may only be written beside its ledger transfer. */
export const insertPayout = insertRow('payouts')

export const payoutById = queryOne((p: Params<PayoutKey>) =>
  from('payouts').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)

export const payoutByIdempotencyKey = queryOne((p: Params<{ merchantId: string; idempotencyKey: string }>) =>
  from('payouts').selectAll().where('merchantId', '=', p.merchantId).where('idempotencyKey', '=', p.idempotencyKey),
)

/** The merchant's payouts numbered `fromSequence` and below, newest first. */
export const payoutsDownFrom = query((p: Params<{ merchantId: string; fromSequence: number; limit: number }>) =>
  from('payouts')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '<=', p.fromSequence)
    .orderBy('sequence', 'desc')
    .limit(p.limit),
)

/** The merchant's payouts among `ids`, in any order; another merchant's are not found. */
export const payoutsByIds = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  from('payouts').selectAll().where('merchantId', '=', p.merchantId).where('id', 'in', list(p.ids)),
)

type BrowsedRange = RangeParams & {
  merchantId: string
  customerId: string
  isMerchantOwned: true
  walletId: string
  status: PayoutStatus
  assetCode: string
  recipientCurrency: string
}

const narrowings = [
  'customerId',
  'isMerchantOwned',
  'walletId',
  'status',
  'assetCode',
  'recipientCurrency',
  'createdFrom',
  'createdBefore',
] as const
const browseFilters = [...narrowings, 'isAscending'] as const

function payoutsInRange(
  p: Params<Omit<BrowsedRange, 'isAscending'>>,
  has: (filter: (typeof narrowings)[number]) => boolean,
) {
  let payouts = from('payouts')
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '>', p.above)
    .where('sequence', '<', p.below)
  if (has('customerId')) payouts = payouts.where('customerId', '=', p.customerId)
  if (has('isMerchantOwned')) payouts = payouts.where('customerId', 'is', null)
  if (has('walletId')) payouts = payouts.where('walletId', '=', p.walletId)
  if (has('status')) payouts = payouts.where('status', '=', p.status)
  if (has('assetCode')) payouts = payouts.where('assetCode', '=', p.assetCode)
  if (has('recipientCurrency')) payouts = payouts.where('recipientCurrency', '=', p.recipientCurrency)
  if (has('createdFrom')) payouts = payouts.where('createdAt', '>=', p.createdFrom)
  if (has('createdBefore')) payouts = payouts.where('createdAt', '<', p.createdBefore)
  return payouts
}

/** The payouts in a range, newest first unless `isAscending`. */
export const browsedPayouts = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  payoutsInRange(p, has)
    .selectAll()
    .orderBy('sequence', has('isAscending') ? 'asc' : 'desc')
    .limit(p.limit),
)

type NumberedRange = Omit<BrowsedRange, 'isAscending'> & { skip: number }

/** The number of the payout in a range that `skip` newer ones come before. */
export const browsedPayoutNumber = queryWithFilters(narrowings, (p: Params<NumberedRange>, has) =>
  payoutsInRange(p, has).select('sequence').orderBy('sequence', 'desc').limit(p.limit).offset(p.skip),
)

/** How many payouts a range has, of which at most `limit` are looked at. */
export const countBrowsedPayouts = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  from(payoutsInRange(p, has).select('sequence').limit(p.limit).as('counted')).select(
    sql<number>`count(*)`.as('rowCount'),
  ),
)

/** The number and time of the payout at or below a number. */
export const payoutMark = queryOne((p: Params<{ merchantId: string; fromSequence: number }>) =>
  from('payouts')
    .select(['sequence', 'createdAt'])
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '<=', p.fromSequence)
    .orderBy('sequence', 'desc')
    .limit(1),
)

/** Moves a payout from one status to another; `null` when it is not in the first. */
export const changePayoutStatus = statementOne(
  (p: Params<PayoutKey & { from: PayoutStatus; to: PayoutStatus; updatedAt: string }>) =>
    change('payouts')
      .set({ status: p.to, updatedAt: p.updatedAt })
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id)
      .where('status', '=', p.from)
      .returningAll(),
)

export const insertPayoutEvent = insertRow('payoutEvents')

/** What became of the payouts among `payoutIds`, oldest first for each. */
export const eventsOfPayouts = query((p: Params<{ merchantId: string; payoutIds: readonly string[] }>) =>
  from('payoutEvents')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('payoutId', 'in', list(p.payoutIds))
    .orderBy('payoutId')
    .orderBy('createdAt')
    // Of the same time only COMPLETED and RETURNED can be.
    .orderBy('status'),
)

/** Which payouts have changed since the event numbered `after`, the first `limit` of these events. */
export const payoutEventsAfter = query((p: Params<{ merchantId: string; after: number; limit: number }>) =>
  from('payoutEvents')
    .select(['payoutId', 'sequence'])
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '>', p.after)
    .orderBy('sequence')
    .limit(p.limit),
)

/** The merchant of a payout, for an operator who has nothing but the payout's id: one look per merchant. */
export const merchantOfPayout = queryOne((p: Params<{ id: string }>) =>
  acrossMerchants(
    from('merchants')
      .crossJoin('payouts')
      .whereRef('payouts.merchantId', '=', 'merchants.id')
      .where('payouts.id', '=', p.id)
      .select('merchants.id'),
  ),
)

const payoutConditions = {
  status: (status: unknown) => sql`items.status = ${status}`,
  assetCode: (code: unknown) => sql`items.asset_code = ${code}`,
  recipientCurrency: (currency: unknown) => sql`items.recipient_currency = ${currency}`,
  ...createdConditions,
}

const payoutsOfCustomers = {
  parents: 'customers',
  table: 'payouts',
  parentColumn: 'customer_id',
  sequenceColumn: 'sequence',
  idColumn: 'id',
  conditions: payoutConditions,
}

const payoutsOfWallets = { ...payoutsOfCustomers, parents: 'wallets', parentColumn: 'wallet_id' }

/** Up to `limit` payouts of each customer, or from each wallet, from one end of the list. */
export const payoutIdsOfCustomers = idsOfEach(payoutsOfCustomers)
export const payoutIdsOfWallets = idsOfEach(payoutsOfWallets)

/** How many payouts each customer or wallet has, of which at most `limit` are looked at. */
export const payoutCountsOfCustomers = countsOfEach(payoutsOfCustomers)
export const payoutCountsOfWallets = countsOfEach(payoutsOfWallets)
