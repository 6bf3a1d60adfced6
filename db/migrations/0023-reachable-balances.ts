import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The sum of a wallet's deposits can exceed 64 bits, so whole units and fractions are summed separately. If the sum of
// the deposits exceeds 64 bits, the query returns the largest 64-bit integer.
const units = sql`sum(amount / 100000000)`
const rest = sql`sum(amount % 100000000)`
const total = sql`case when ${units} + ${rest} / 100000000 >= 92233720368 then 9223372036854775807
  else ${units} * 100000000 + ${rest} end`

// `reachable_balance` is the sum of a wallet's deposits, the highest balance that the wallet can have. If an incorrect
// ledger has a higher balance, the migration stores the balance in `reachable_balance`, so that the check constraint
// does not fail.
export const reachableBalances: Migration = {
  name: '0023-reachable-balances',
  statements: (schema, { amount, raw }) => [
    schema
      .alterTable('accounts')
      .addColumn('reachable_balance', amount, (c) => c.check(sql`balance <= reachable_balance`)),
    raw(sql`update accounts set reachable_balance = case when sums.total < balance then balance else sums.total end
      from (select merchant_id, wallet_id, ${total} as total from deposits group by merchant_id, wallet_id) as sums
      where sums.merchant_id = accounts.merchant_id and cast(sums.wallet_id as text) = accounts.id`),
    raw(sql`update accounts set reachable_balance = balance where kind = 'wallet' and reachable_balance is null`),
  ],
}
