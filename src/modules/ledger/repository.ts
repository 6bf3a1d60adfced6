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

/** The times in a statement never decrease, even if the clock was set back. */
const nextEntryColumns = (p: Params<BalanceChange>) => ({
  entryCount: sql<number>`entry_count + 1`,
  latestTime: sql<bigint>`case when latest_time < ${p.time} then ${p.time} else latest_time end`,
})

const updatedColumns = ['balance', 'entryCount', 'latestTime'] as const

export type PayingWalletFilter = { ownerId: string; assetCode: string; walletId: string }

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
        // Another transaction may have changed the balance after this transaction read it.
        .where('balance', '>=', p.amount)
        .returning(['id', ...updatedColumns])
    )
  },
)

export const refundWalletAccount = statementOne((p: Params<AccountBalanceChange>) =>
  updateTable('accounts')
    .set({ balance: sql`balance + ${p.amount}`, ...nextEntryColumns(p) })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .returning(updatedColumns),
)

/**
 * Returns `null` if the reachable balance (the sum of all deposits that were not reversed) exceeds
 * `maxReachableBefore`.
 */
export const depositToWalletAccount = statementOne((p: Params<AccountBalanceChange & { maxReachableBefore: Amount }>) =>
  updateTable('accounts')
    .set({
      balance: sql`balance + ${p.amount}`,
      reachableBalance: sql`reachable_balance + ${p.amount}`,
      ...nextEntryColumns(p),
    })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('reachableBalance', '<=', p.maxReachableBefore)
    .returning(updatedColumns),
)

/**
 * Returns `null` if the balance is less than the amount. Does not change a reachable balance (the sum of deposits) that
 * migration 0023 set to the maximum because the sum was unknown.
 */
export const reverseDepositInWalletAccount = statementOne((p: Params<AccountBalanceChange & { maxBalance: Amount }>) =>
  updateTable('accounts')
    .set({
      balance: sql`balance - ${p.amount}`,
      reachableBalance: sql`case when reachable_balance = ${p.maxBalance} then reachable_balance
        else reachable_balance - ${p.amount} end`,
      ...nextEntryColumns(p),
    })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('balance', '>=', p.amount)
    .returning(updatedColumns),
)

export const insertTransfer = insertRow('transfers')

export const entryCounts = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  selectFrom('accounts')
    .select(['id', 'entryCount as total'])
    .where('merchantId', '=', p.merchantId)
    .where('id', 'in', listParam(p.ids)),
)

/** The caller must exclude ledger transfers without a wallet. */
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

export const walletEntriesOfTransfers = query((p: Params<{ merchantId: string; transferIds: readonly string[] }>) =>
  selectEntries(selectFrom('transfers'))
    .where('transfers.merchantId', '=', p.merchantId)
    .where('transfers.id', 'in', listParam(p.transferIds))
    .where('transfers.walletId', 'is not', null),
)
