import { sql } from 'kysely'
import type { RangeParams } from '../database/created-range.ts'
import { rangeFilters } from '../database/created-range.ts'
import { countsOfEach, idsOfEach } from '../database/each.ts'
import type { Params } from '../database/query.ts'
import {
  change,
  from,
  insertRow,
  into,
  list,
  query,
  queryOne,
  queryWithFilters,
  statement,
  statementOne,
} from '../database/query.ts'
import type { Amount } from '../money/amount.ts'
import type { ClearingAccountKind } from './account.ts'
import type { EntryDirection, TransferKind } from './entry.ts'

type AccountKey = { merchantId: string; id: string }

export const insertWalletAccount = insertRow('accounts')

/** Opens a clearing account where the merchant has none of this kind and asset yet. */
export const insertClearingAccount = statement(
  (p: Params<AccountKey & { kind: ClearingAccountKind; assetCode: string }>) =>
    into('accounts')
      .values({
        merchantId: p.merchantId,
        id: p.id,
        kind: p.kind,
        assetCode: p.assetCode,
        balance: null,
        entryCount: 0,
        latestTime: 0n,
        reachableBalance: null,
      })
      .onConflict((conflict) => conflict.columns(['merchantId', 'id']).doNothing()),
)

type Movement = AccountKey & { amount: Amount; time: bigint }

/** No entry of a statement is older than the one before it, whatever the clock says. */
const nextPlace = (p: Params<Movement>) => ({
  entryCount: sql<number>`entry_count + 1`,
  latestTime: sql<bigint>`case when latest_time < ${p.time} then ${p.time} else latest_time end`,
})

const place = ['balance', 'entryCount', 'latestTime'] as const

/** Takes `amount` from a wallet's account if it holds that much; `null` if it doesn't. What may come back stays reachable. */
export const debitWalletAccount = statementOne((p: Params<Movement>) =>
  change('accounts')
    .set({ balance: sql`balance - ${p.amount}`, ...nextPlace(p) })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('balance', '>=', p.amount)
    .returning(place),
)

/** Puts back into a wallet's account what was taken from it. */
export const refundWalletAccount = statementOne((p: Params<Movement>) =>
  change('accounts')
    .set({ balance: sql`balance + ${p.amount}`, ...nextPlace(p) })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .returning(place),
)

/** Adds new money to a wallet's account if at most `highestBefore` is reachable there; `null` if more is. */
export const depositToWalletAccount = statementOne((p: Params<Movement & { highestBefore: Amount }>) =>
  change('accounts')
    .set({
      balance: sql`balance + ${p.amount}`,
      reachableBalance: sql`reachable_balance + ${p.amount}`,
      ...nextPlace(p),
    })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('reachableBalance', '<=', p.highestBefore)
    .returning(place),
)

export const insertTransfer = insertRow('transfers')

export const insertEntry = insertRow('entries')

/** A wallet account's balance. */
export const accountBalance = queryOne((p: Params<AccountKey>) =>
  from('accounts').select('balance').where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)

/** How many entries a wallet's account has. */
export const accountEntryCount = queryOne((p: Params<AccountKey>) =>
  from('accounts').select('entryCount').where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)

const entriesWithTransfer = () =>
  from('entries').innerJoin('transfers', (join) =>
    join.onRef('transfers.merchantId', '=', 'entries.merchantId').onRef('transfers.id', '=', 'entries.transferId'),
  )

/** What of an entry's transfer is told with it. */
const transferColumns = [
  'transfers.kind',
  'transfers.assetCode',
  'transfers.createdAt',
  'transfers.payoutId',
  'transfers.reference',
] as const

type BrowsedRange = RangeParams & {
  merchantId: string
  accountId: string
  direction: EntryDirection
  kind: TransferKind
}

const browseFilters = ['direction', 'kind', ...rangeFilters] as const
type BrowseFilter = (typeof browseFilters)[number]

function entriesInRange(p: Params<BrowsedRange>, has: (filter: BrowseFilter) => boolean) {
  let entries = entriesWithTransfer()
    .where('entries.merchantId', '=', p.merchantId)
    .where('entries.accountId', '=', p.accountId)
    .where('entries.sequence', '>', p.above)
    .where('entries.sequence', '<', p.below)
  if (has('direction')) entries = entries.where('entries.direction', '=', p.direction)
  if (has('kind')) entries = entries.where('transfers.kind', '=', p.kind)
  if (has('createdFrom')) entries = entries.where('transfers.createdAt', '>=', p.createdFrom)
  if (has('createdBefore')) entries = entries.where('transfers.createdAt', '<', p.createdBefore)
  return entries
}

/** The entries of a wallet's statement in a range, newest first unless `isAscending`. */
export const browsedEntries = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  entriesInRange(p, has)
    .selectAll('entries')
    .select(transferColumns)
    .orderBy('entries.sequence', has('isAscending') ? 'asc' : 'desc')
    .limit(p.limit),
)

/** How many entries a range has, of which at most `limit` are looked at. */
export const countBrowsedEntries = queryWithFilters(browseFilters, (p: Params<BrowsedRange>, has) =>
  from(entriesInRange(p, has).select('entries.sequence').limit(p.limit).as('counted')).select(
    sql<number>`count(*)`.as('rowCount'),
  ),
)

/** The number and time of a wallet's entry at or below a number. */
export const entryMark = queryOne((p: Params<{ merchantId: string; accountId: string; fromSequence: number }>) =>
  entriesWithTransfer()
    .where('entries.merchantId', '=', p.merchantId)
    .where('entries.accountId', '=', p.accountId)
    .where('entries.sequence', '<=', p.fromSequence)
    .select((eb) => eb.ref('entries.sequence').$notNull().as('sequence'))
    .select('transfers.createdAt')
    .orderBy('entries.sequence', 'desc')
    .limit(1),
)

/** The wallet entries of the transfers among `transferIds`, in any order. */
export const walletEntriesOfTransfers = query((p: Params<{ merchantId: string; transferIds: readonly string[] }>) =>
  entriesWithTransfer()
    .where('entries.merchantId', '=', p.merchantId)
    .where('entries.transferId', 'in', list(p.transferIds))
    .where('entries.sequence', 'is not', null)
    .selectAll('entries')
    .select(transferColumns),
)

const transferOf = (column: string) => sql`(
  select transfers.${sql.ref(column)} from transfers
  where transfers.merchant_id = items.merchant_id and transfers.id = items.transfer_id
)`

const entriesOfWallets = {
  // A wallet's account has the wallet's id.
  parents: 'accounts',
  table: 'entries',
  parentColumn: 'account_id',
  sequenceColumn: 'sequence',
  idColumn: 'transfer_id',
  conditions: {
    direction: (direction: unknown) => sql`items.direction = ${direction}`,
    kind: (kind: unknown) => sql`${transferOf('kind')} = ${kind}`,
    createdFrom: (moment: unknown) => sql`${transferOf('created_at')} >= ${moment}`,
    createdBefore: (moment: unknown) => sql`${transferOf('created_at')} < ${moment}`,
  },
}

/** The transfers of up to `limit` entries of each wallet, from one end of its statement. */
export const transferIdsOfWallets = idsOfEach(entriesOfWallets)

/** How many entries each wallet has, of which at most `limit` are looked at. */
export const entryCountsOfWallets = countsOfEach(entriesOfWallets)

/** How many entries each account among `ids` has. */
export const accountEntryCounts = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  from('accounts').select(['id', 'entryCount']).where('merchantId', '=', p.merchantId).where('id', 'in', list(p.ids)),
)
