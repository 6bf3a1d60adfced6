import { sql } from 'kysely'
import type { Params } from '../database/query.ts'
import { change, from, insertRow, into, queryOne, statement, statementOne } from '../database/query.ts'
import type { Amount } from '../money/amount.ts'
import type { ClearingAccountKind } from './account.ts'

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
      })
      .onConflict((conflict) => conflict.columns(['merchantId', 'id']).doNothing()),
)

/** Takes `amount` from a wallet's account if it holds that much; `null` if it doesn't. */
export const debitWalletAccount = statementOne((p: Params<AccountKey & { amount: Amount }>) =>
  change('accounts')
    .set({ balance: sql`balance - ${p.amount}`, entryCount: sql`entry_count + 1` })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('balance', '>=', p.amount)
    .returning(['balance', 'entryCount']),
)

/** Adds `amount` to a wallet's account if it holds at most `highestBefore`; `null` if it holds more. */
export const creditWalletAccount = statementOne((p: Params<AccountKey & { amount: Amount; highestBefore: Amount }>) =>
  change('accounts')
    .set({ balance: sql`balance + ${p.amount}`, entryCount: sql`entry_count + 1` })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where('balance', '<=', p.highestBefore)
    .returning(['balance', 'entryCount']),
)

export const insertTransfer = insertRow('transfers')

export const insertEntry = insertRow('entries')

/** A wallet account's balance. */
export const accountBalance = queryOne((p: Params<AccountKey>) =>
  from('accounts').select('balance').where('merchantId', '=', p.merchantId).where('id', '=', p.id),
)
