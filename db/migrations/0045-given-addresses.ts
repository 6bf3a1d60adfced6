import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// A deposit address belongs to at most one merchant. Sandbox merchants that already share a deposit address continue to
// share it.
export const givenAddresses: Migration = {
  name: '0045-given-addresses',
  formerName: '0046-given-addresses',
  statements: (schema, { uuid, raw, clusteredTable }) => [
    clusteredTable(
      schema
        .createTable('given_addresses')
        .addColumn('address', 'text', (c) => c.notNull())
        .addColumn('merchant_id', uuid, (c) => c.notNull())
        .addPrimaryKeyConstraint('given_addresses_key', ['address'])
        .addForeignKeyConstraint('given_addresses_merchant', ['merchant_id'], 'merchants', ['id']),
    ),
    raw(sql`insert into given_addresses (address, merchant_id)
      select address, cast(min(cast(merchant_id as text)) as ${uuid}) from wallet_addresses group by address`),
  ],
}
