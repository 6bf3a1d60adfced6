import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const walletAddresses: Migration = {
  name: '0011-wallet-addresses',
  statements: (schema, { uuid, timestamp, table, clusteredTable }) => [
    table(
      schema
        .createTable('wallet_addresses')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('wallet_id', uuid, (c) => c.notNull())
        .addColumn('id', uuid, (c) => c.notNull())
        .addColumn('network', 'text', (c) => c.notNull())
        .addColumn('address', 'text', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addPrimaryKeyConstraint('wallet_addresses_key', ['merchant_id', 'wallet_id', 'id'])
        // A deposit to an address shared by two wallets would be ambiguous.
        .addUniqueConstraint('wallet_addresses_once', ['merchant_id', 'address', 'network'])
        .addForeignKeyConstraint('wallet_addresses_wallet', ['merchant_id', 'wallet_id'], 'wallets', [
          'merchant_id',
          'id',
        ]),
    ),
    // On networks without address derivation, each new wallet gets the imported address with the lowest sequence
    // number.
    clusteredTable(
      schema
        .createTable('pooled_addresses')
        .addColumn('merchant_id', uuid, (c) => c.notNull().references('merchants.id'))
        .addColumn('family', 'text', (c) => c.notNull().check(sql`family in ('evm', 'tron', 'solana')`))
        .addColumn('sequence', 'integer', (c) => c.notNull())
        .addColumn('address', 'text', (c) => c.notNull())
        .addPrimaryKeyConstraint('pooled_addresses_key', ['merchant_id', 'family', 'sequence'])
        .addUniqueConstraint('pooled_addresses_once', ['merchant_id', 'family', 'address']),
    ),
  ],
}
