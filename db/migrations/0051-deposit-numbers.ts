import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// `sequence` is a deposit's number among the merchant's deposits. `transaction_number` is a deposit's number among the
// merchant's deposits and payouts. By `sequence` and `transaction_number`, a query finds a page of the list of
// transactions without counting rows.
export const depositNumbers: Migration = {
  name: '0051-deposit-numbers',
  rewrites: 'every deposit, which gets its number in the list of transactions',
  statements: (schema, { uuid, raw, milliseconds, setPlannerStatistics }) => [
    schema.alterTable('deposits').addColumn('sequence', 'integer', (c) => c.notNull().defaultTo(0)),
    schema.alterTable('deposits').addColumn('transaction_number', 'integer', (c) => c.notNull().defaultTo(0)),
    schema.alterTable('deposits').addColumn('customer_id', uuid),
    schema.alterTable('deposits').addColumn('asset_code', 'text', (c) => c.notNull().defaultTo('')),
    raw(sql`update deposits set customer_id = wallets.customer_id, asset_code = wallets.currency from wallets
      where wallets.merchant_id = deposits.merchant_id and wallets.id = deposits.wallet_id`),
    // The creation times of early payouts can be slightly out of order. The query therefore sorts by the running
    // maximum of the payouts' creation times.
    raw(sql`update deposits set sequence = numbered.sequence, transaction_number = numbered.transaction_number
      from (
        select merchant_id, reference, is_deposit,
          sum(is_deposit) over (partition by merchant_id order by at, is_deposit, own_number, reference
            rows unbounded preceding) as sequence,
          row_number() over (partition by merchant_id order by at, is_deposit, own_number, reference)
            as transaction_number
        from (
          select merchant_id, cast(null as text) as reference, 0 as is_deposit, sequence as own_number,
            max(created_at) over (partition by merchant_id order by sequence) as at
          from payouts
          union all
          select merchant_id, reference, 1, 0, created_at from deposits
        ) as transactions
      ) as numbered
      where numbered.merchant_id = deposits.merchant_id and numbered.reference = deposits.reference
        and numbered.is_deposit = 1`),
    raw(sql`insert into sequences (merchant_id, name, latest, latest_time, latest_id)
      select merchant_id, 'deposits', count(*), 0, null from deposits group by merchant_id`),
    // Creation times of payouts must not precede existing deposits, so that the list of transactions stays in order.
    raw(sql`update sequences set latest_time = deposited.latest_time
      from (
        select merchant_id, ${milliseconds(sql`max(created_at)`)} as latest_time from deposits group by merchant_id
      ) as deposited
      where deposited.merchant_id = sequences.merchant_id and sequences.name = 'payouts'
        and sequences.latest_time < deposited.latest_time`),
    schema.createIndex('deposits_by_sequence').unique().on('deposits').columns(['merchant_id', 'sequence']),
    schema
      .createIndex('deposits_by_transaction_number')
      .unique()
      .on('deposits')
      .columns(['merchant_id', 'transaction_number', 'sequence']),
    schema.createIndex('deposits_by_customer').on('deposits').columns(['merchant_id', 'customer_id', 'sequence']),
    schema.createIndex('deposits_by_asset').on('deposits').columns(['merchant_id', 'asset_code', 'sequence']),
    schema.createIndex('deposits_by_transfer').unique().on('deposits').columns(['merchant_id', 'transfer_id']),
    ...setPlannerStatistics('deposits', {
      key: [100_000, 1],
      by_sequence: [100_000, 1],
      by_transaction_number: [100_000, 1, 1],
      by_customer: [100_000, 1_000, 1],
      by_asset: [100_000, 50_000, 1],
      by_transfer: [100_000, 1],
    }),
  ],
}
