import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

export const installation: Migration = {
  name: '0016-installation',
  statements: (schema, { timestamp, table }) => [
    table(
      schema
        .createTable('installation')
        .addColumn('id', 'integer', (c) => c.primaryKey().notNull().check(sql`id = 1`))
        .addColumn('mode', 'text', (c) => c.notNull().check(sql`mode in ('sandbox', 'live')`))
        .addColumn('created_at', timestamp, (c) => c.notNull()),
    ),
  ],
}
