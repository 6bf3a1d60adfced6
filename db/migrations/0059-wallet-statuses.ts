import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

const columns = sql`merchant_id, id, customer_id, sequence, owner_sequence, asset_type, currency, description, status,
  created_at, updated_at`

// A wallet can also be suspended. SQLite cannot change a check constraint, so the migration rebuilds the table.
export const walletStatuses: Migration = {
  name: '0059-wallet-statuses',
  rewrites: 'every wallet, which may have one more status, and checks the wallet of every payout, transfer and deposit',
  statements: (
    schema,
    { uuid, timestamp, referenceToText, table, raw, replaceTable, setPlannerStatistics: expectRows },
  ) => [
    table(
      schema
        .createTable('wallets_with_statuses')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('customer_id', uuid)
        .addColumn('owner_id', uuid, (c) =>
          c.generatedAlwaysAs(sql`coalesce(customer_id, merchant_id)`).stored().notNull(),
        )
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('owner_sequence', 'integer', (c) => c.notNull())
        .addColumn('asset_type', 'text', (c) => c.notNull().check(sql`asset_type in ('FIAT', 'STABLECOIN')`))
        .addColumn('currency', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('description', 'text', (c) => c.notNull())
        .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('active', 'suspended')`))
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('wallets_with_statuses_key', ['merchant_id', 'id'])
        .addForeignKeyConstraint('wallets_customer', ['merchant_id', 'customer_id'], 'customers', ['merchant_id', 'id'])
        .$call((wallets) => referenceToText(wallets, { name: 'wallets_account', column: 'id', target: 'accounts' })),
    ),
    raw(
      sql`insert into wallets_with_statuses (${columns}) select ${columns} from wallets order by merchant_id, sequence`,
    ),
    ...replaceTable('wallets', {
      by: 'wallets_with_statuses',
      referrers: [
        { table: 'wallet_addresses', name: 'wallet_addresses_wallet', column: 'wallet_id' },
        { table: 'deposits', name: 'deposits_wallet', column: 'wallet_id' },
        { table: 'payouts', name: 'payouts_wallet', column: 'wallet_id' },
        { table: 'transfers', name: 'transfers_wallet_id', column: 'wallet_id' },
        { table: 'deposit_reversals', name: 'deposit_reversals_wallet', column: 'wallet_id' },
      ],
      removedReferrers: [],
    }),
    ...indexes.map(({ name, columns, isUnique }) => {
      const index = schema
        .createIndex(`wallets_by_${name}`)
        .on('wallets')
        .columns(['merchant_id', ...columns])
      return isUnique ? index.unique() : index
    }),
    ...expectRows('wallets', {
      key: [100_000, 1],
      by_sequence: [100_000, 1],
      by_type: [100_000, 50_000, 1],
      by_code: [100_000, 25_000, 1],
      by_status: [100_000, 50_000, 1],
      by_owner: [100_000, 100, 1],
      by_asset_type: [100_000, 100, 50, 1],
      by_currency: [100_000, 100, 25, 1],
      by_owner_and_status: [100_000, 100, 50, 1],
    }),
  ],
}

// Each index serves the list of a merchant's wallets or of an owner's wallets, with at most one filter. The index
// `wallets_by_currency` also serves the search for the wallet that funds a payout.
const indexes = [
  { name: 'sequence', columns: ['sequence'], isUnique: true },
  { name: 'type', columns: ['asset_type', 'sequence'], isUnique: false },
  { name: 'code', columns: ['currency', 'sequence'], isUnique: false },
  { name: 'status', columns: ['status', 'sequence'], isUnique: false },
  { name: 'owner', columns: ['owner_id', 'owner_sequence'], isUnique: true },
  { name: 'asset_type', columns: ['owner_id', 'asset_type', 'owner_sequence'], isUnique: false },
  { name: 'currency', columns: ['owner_id', 'currency', 'owner_sequence'], isUnique: false },
  { name: 'owner_and_status', columns: ['owner_id', 'status', 'owner_sequence'], isUnique: false },
]
