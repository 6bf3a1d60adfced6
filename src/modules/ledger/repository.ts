import { sql } from 'kysely'
import type { Amount } from '../../core/money/amount.ts'
import type { Params, RowsQuery } from '../../database/query.ts'
import {
  insertRow,
  listParam,
  query,
  queryWithFilters,
  selectFrom,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { Entry } from './entry.ts'

type AccountKey = { merchantId: string; id: string }

export const insertWalletAccount = insertRow('accounts')

type BalanceChange = { amount: Amount; time: bigint }
type AccountBalanceChange = AccountKey & BalanceChange

/** No entry of a statement is older than the one before it, whatever the clock says. */
const nextEntryColumns = (p: Params<BalanceChange>) => ({
  entryCount: sql<number>`entry_count + 1`,
  latestTime: sql<bigint>`case when latest_time < ${p.time} then ${p.time} else latest_time end`,
})

const updatedColumns = ['balance', 'entryCount', 'latestTime'] as const

/** Whose wallet pays in an asset, and which of them if that is said. */
export type PayingWalletFilter = { ownerId: string; assetCode: string; walletId: string }

/**
 * Takes `amount` from the oldest of the owner's active wallets in the asset that holds that much, or from the one said if it is
 * one of these; `null` if none does.
 */
export const debitOldestWallet = queryWithFilters(
  ['walletId'],
  (p: Params<{ merchantId: string } & BalanceChange & PayingWalletFilter>, has) => {
    const covering = selectFrom('wallets')
      .innerJoin('accounts', (join) =>
        join.onRef('accounts.merchantId', '=', 'wallets.merchantId').onRef('accounts.id', '=', 'wallets.id'),
      )
      .where('wallets.merchantId', '=', p.merchantId)
      .where('wallets.ownerId', '=', p.ownerId)
      .where('wallets.currency', '=', p.assetCode)
      .where('wallets.status', '=', 'active')
      .where('accounts.balance', '>=', p.amount)
      .select('accounts.id')
      .orderBy('wallets.ownerSequence')
      .limit(1)
    return (
      updateTable('accounts')
        .set({ balance: sql`balance - ${p.amount}`, ...nextEntryColumns(p) })
        .where('merchantId', '=', p.merchantId)
        .where('id', '=', has('walletId') ? covering.where('wallets.id', '=', p.walletId) : covering)
        // Somebody else may have emptied it in between.
        .where('balance', '>=', p.amount)
        .returning(['id', ...updatedColumns])
    )
  },
)

/** Puts back into a wallet's account what was taken from it. */
export const refundWalletAccount = statementOne((p: Params<AccountBalanceChange>) =>
  updateTable('accounts')
    .set({ balance: sql`balance + ${p.amount}`, ...nextEntryColumns(p) })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .returning(updatedColumns),
)

/** Adds new money to a wallet's account if at most `highestBefore` is reachable there; `null` if more is. */
export const depositToWalletAccount = statementOne((p: Params<AccountBalanceChange & { highestBefore: Amount }>) =>
  updateTable('accounts')
    .set({
      balance: sql`balance + ${p.amount}`,
      reachableBalance: sql`reachable_balance + ${p.amount}`,
      ...nextEntryColumns(p),
    })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('reachableBalance', '<=', p.highestBefore)
    .returning(updatedColumns),
)

/**
 * Takes a deposit back out of a wallet's account, if the balance covers it; `null` if not. What was deposited there counts less
 * from then on, but for accounts of which all that is known is that it was the most there can be (migration 0023).
 */
export const reverseDepositInWalletAccount = statementOne((p: Params<AccountBalanceChange & { most: Amount }>) =>
  updateTable('accounts')
    .set({
      balance: sql`balance - ${p.amount}`,
      reachableBalance: sql`case when reachable_balance = ${p.most} then reachable_balance
        else reachable_balance - ${p.amount} end`,
      ...nextEntryColumns(p),
    })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('balance', '>=', p.amount)
    .returning(updatedColumns),
)

export const insertTransfer = insertRow('transfers')

/** How many entries the statement of each wallet among `ids` has. */
export const entryCounts = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  selectFrom('accounts')
    .select(['id', 'entryCount as total'])
    .where('merchantId', '=', p.merchantId)
    .where('id', 'in', listParam(p.ids)),
)

/** Transfers as lines of the statements of their wallets; those that have one. */
export const selectEntries = (transfers: RowsQuery<'transfers'>) =>
  transfers
    .select([
      ...(['transfers.merchantId', 'transfers.id as transferId', 'transfers.walletId', 'transfers.kind'] as const),
      ...(['transfers.assetCode', 'transfers.fee', 'transfers.sequence', 'transfers.balanceAfter'] as const),
      ...(['transfers.payoutId', 'transfers.reference', 'transfers.createdAt'] as const),
      sql`transfers.amount + transfers.fee`.as('amount'),
      sql`case when transfers.kind in ('deposit_reversal', 'payout') then 'debit' else 'credit' end`.as('direction'),
    ])
    .$castTo<Entry>()

/** The wallet entries of the transfers among `transferIds`, in any order. */
export const walletEntriesOfTransfers = query((p: Params<{ merchantId: string; transferIds: readonly string[] }>) =>
  selectEntries(selectFrom('transfers'))
    .where('transfers.merchantId', '=', p.merchantId)
    .where('transfers.id', 'in', listParam(p.transferIds))
    .where('transfers.walletId', 'is not', null),
)
