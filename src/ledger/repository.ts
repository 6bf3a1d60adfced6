import { sql } from 'kysely'
import type { Params, Rows } from '../database/query.ts'
import { change, from, insertRow, list, query, statementOne } from '../database/query.ts'
import type { Amount } from '../money/amount.ts'
import type { Entry } from './entry.ts'

type AccountKey = { merchantId: string; id: string }

export const insertWalletAccount = insertRow('accounts')

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

/** How many entries the statement of each wallet among `ids` has. */
export const entryCounts = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  from('accounts')
    .select(['id', 'entryCount as total'])
    .where('merchantId', '=', p.merchantId)
    .where('id', 'in', list(p.ids)),
)

/** Transfers as lines of the statements of their wallets; those that have one. */
export const selectEntries = (transfers: Rows<'transfers'>) =>
  transfers
    .select([
      ...(['transfers.merchantId', 'transfers.id as transferId', 'transfers.walletId', 'transfers.kind'] as const),
      ...(['transfers.assetCode', 'transfers.fee', 'transfers.sequence', 'transfers.balanceAfter'] as const),
      ...(['transfers.payoutId', 'transfers.reference', 'transfers.createdAt'] as const),
      sql`transfers.amount + transfers.fee`.as('amount'),
      sql`case transfers.kind when 'payout' then 'debit' else 'credit' end`.as('direction'),
    ])
    .$castTo<Entry>()

/** The wallet entries of the transfers among `transferIds`, in any order. */
export const walletEntriesOfTransfers = query((p: Params<{ merchantId: string; transferIds: readonly string[] }>) =>
  selectEntries(from('transfers'))
    .where('transfers.merchantId', '=', p.merchantId)
    .where('transfers.id', 'in', list(p.transferIds))
    .where('transfers.walletId', 'is not', null),
)
