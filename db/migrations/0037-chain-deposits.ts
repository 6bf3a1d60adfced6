import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// What whoever has a node watches, and what was seen there.
export const chainDeposits: Migration = {
  name: '0037-chain-deposits',
  statements: (schema, { uuid, timestamp, amount, raw, table, clusteredTable }) => [
    // By the address that a node knows, which tells the merchant. The number is given when a list is asked for, so that no
    // address ever comes before one that a list had already: NULL until then.
    clusteredTable(
      schema
        .createTable('watched_addresses')
        .addColumn('address_id', uuid, (c) => c.notNull())
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('wallet_id', uuid, (c) => c.notNull())
        .addColumn('number', 'integer')
        .addPrimaryKeyConstraint('watched_addresses_key', ['address_id']),
    ),
    // Serves the list, and those that have no number yet.
    schema.createIndex('watched_addresses_by_number').unique().on('watched_addresses').columns(['number']),
    raw(sql`insert into watched_addresses select id, merchant_id, wallet_id, null from wallet_addresses`),
    // Whose an event on a chain is: one is one merchant's, and pays once among all.
    clusteredTable(
      schema
        .createTable('chain_events')
        .addColumn('reference', 'text', (c) => c.notNull())
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addPrimaryKeyConstraint('chain_events_key', ['reference'])
        .addForeignKeyConstraint('chain_events_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    table(
      schema
        .createTable('chain_deposits')
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('network', 'text', (c) => c.notNull())
        .addColumn('tx_hash', 'text', (c) => c.notNull())
        .addColumn('log_index', 'integer', (c) => c.notNull())
        // `network:tx_hash:log_index`: that of the deposit, too.
        .addColumn('reference', 'text', (c) => c.notNull())
        .addColumn('address_id', uuid, (c) => c.notNull())
        .addColumn('wallet_id', uuid, (c) => c.notNull())
        .addColumn('asset_code', 'text', (c) => c.notNull())
        .addColumn('amount', amount, (c) => c.notNull().check(sql`amount > 0`))
        // The most that were reported since it was last gone.
        .addColumn('confirmations', 'integer', (c) => c.notNull())
        .addColumn('state', 'text', (c) =>
          c.notNull().check(sql`state in ('DETECTED', 'CONFIRMED', 'REORGED', 'ATTENTION', 'DISMISSED')`),
        )
        // Why a person must look.
        .addColumn('cause', 'text')
        // The deposit that credited it; NULL until then.
        .addColumn('deposit_reference', 'text')
        // Which rail reported it first.
        .addColumn('rail', 'text', (c) => c.notNull())
        .addColumn('detected_at', timestamp, (c) => c.notNull())
        .addColumn('credited_at', timestamp)
        .addColumn('updated_at', timestamp, (c) => c.notNull())
        // What is confirmed was credited, and what is pending or gone was not.
        .addCheckConstraint(
          'chain_deposits_credited',
          sql`case state when 'CONFIRMED' then deposit_reference is not null when 'ATTENTION' then cause is not null
            else deposit_reference is null end`,
        )
        .addPrimaryKeyConstraint('chain_deposits_key', ['merchant_id', 'network', 'tx_hash', 'log_index'])
        .addUniqueConstraint('chain_deposits_once', ['merchant_id', 'reference'])
        .addForeignKeyConstraint(
          'chain_deposits_address',
          ['merchant_id', 'wallet_id', 'address_id'],
          'wallet_addresses',
          ['merchant_id', 'wallet_id', 'id'],
        )
        .addForeignKeyConstraint('chain_deposits_deposit', ['merchant_id', 'deposit_reference'], 'deposits', [
          'merchant_id',
          'reference',
        ]),
    ),
    // What a wallet waits for.
    schema
      .createIndex('chain_deposits_pending')
      .on('chain_deposits')
      .columns(['merchant_id', 'wallet_id', 'detected_at desc', 'reference'])
      .where(sql.ref('state'), '=', sql.lit('DETECTED')),
    // What a person must look at.
    schema
      .createIndex('chain_deposits_attention')
      .on('chain_deposits')
      .columns(['merchant_id', 'updated_at', 'reference'])
      .where(sql.ref('state'), '=', sql.lit('ATTENTION')),
  ],
}
