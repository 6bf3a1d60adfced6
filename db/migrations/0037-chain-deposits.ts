import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const chainDeposits: Migration = {
  name: '0037-chain-deposits',
  statements: (schema, { uuid, timestamp, amount, raw, table, clusteredTable }) => [
    // The primary key omits the merchant id, because the address id identifies the merchant. The `number` of a watched
    // address is NULL until a client first lists the address.
    clusteredTable(
      schema
        .createTable('watched_addresses')
        .addColumn('address_id', uuid, (c) => c.notNull())
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addColumn('wallet_id', uuid, (c) => c.notNull())
        .addColumn('number', 'integer')
        .addPrimaryKeyConstraint('watched_addresses_key', ['address_id']),
    ),
    schema.createIndex('watched_addresses_by_number').unique().on('watched_addresses').columns(['number']),
    raw(sql`insert into watched_addresses select id, merchant_id, wallet_id, null from wallet_addresses`),
    // One blockchain event must not be credited to two merchants, so its reference is unique across merchants.
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
        // The reference has the form `network:tx_hash:log_index`. The reference of a blockchain event is also the
        // reference of the credited deposit.
        .addColumn('reference', 'text', (c) => c.notNull())
        .addColumn('address_id', uuid, (c) => c.notNull())
        .addColumn('wallet_id', uuid, (c) => c.notNull())
        .addColumn('asset_code', 'text', (c) => c.notNull())
        .addColumn('amount', amount, (c) => c.notNull().check(sql`amount > 0`))
        // `confirmations` is the highest reported number of confirmations. If a chain reorganization removes the
        // deposit, `confirmations` is reset.
        .addColumn('confirmations', 'integer', (c) => c.notNull())
        .addColumn('state', 'text', (c) =>
          c.notNull().check(sql`state in ('DETECTED', 'CONFIRMED', 'REORGED', 'ATTENTION', 'DISMISSED')`),
        )
        .addColumn('cause', 'text')
        .addColumn('deposit_reference', 'text')
        .addColumn('rail', 'text', (c) => c.notNull())
        .addColumn('detected_at', timestamp, (c) => c.notNull())
        .addColumn('credited_at', timestamp)
        .addColumn('updated_at', timestamp, (c) => c.notNull())
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
    schema
      .createIndex('chain_deposits_pending')
      .on('chain_deposits')
      .columns(['merchant_id', 'wallet_id', 'detected_at desc', 'reference'])
      .where(sql.ref('state'), '=', sql.lit('DETECTED')),
    schema
      .createIndex('chain_deposits_attention')
      .on('chain_deposits')
      .columns(['merchant_id', 'updated_at', 'reference'])
      .where(sql.ref('state'), '=', sql.lit('ATTENTION')),
  ],
}
