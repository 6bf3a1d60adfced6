import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Summed as whole units and the rest, because no sum may leave 64 bits; what would is the most that there can be.
const units = sql`sum(amount / 100000000)`
const rest = sql`sum(amount % 100000000)`
const total = sql`case when ${units} + ${rest} / 100000000 >= 92233720368 then 9223372036854775807
  else ${units} * 100000000 + ${rest} end`

// What a wallet would hold if all that was paid out from it came back: all that was ever deposited. A wallet's account
// only. Where the books are wrong already it is what the wallet holds: that is for an audit to find, and no reason not to start.
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
