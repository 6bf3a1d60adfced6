import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const assetCodes: Migration = {
  name: '0003-asset-codes',
  statements: (schema, { uuid, timestamp, table }) => [
    table(
      schema
        .createTable('asset_codes')
        .addColumn('id', uuid, (c) => c.primaryKey().notNull())
        .addColumn('asset_type', 'text', (c) => c.notNull().check(sql`asset_type in ('FIAT', 'STABLECOIN')`))
        .addColumn('code', 'text', (c) => c.notNull().unique())
        .addColumn('minor_unit_places', 'integer', (c) => c.notNull().check(sql`minor_unit_places between 0 and 8`))
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addColumn('updated_at', timestamp, (c) => c.notNull()),
    ),
    table(
      schema
        .createTable('asset_networks')
        .addColumn('id', uuid, (c) => c.primaryKey().notNull())
        .addColumn('asset_code', 'text', (c) => c.notNull().references('asset_codes.code'))
        .addColumn('network', 'text', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull())
        .addUniqueConstraint('asset_networks_once', ['asset_code', 'network']),
    ),
  ],
}
