import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The table has only the current or latest copy to or from another database. The command `copy` never copies this
// table.
export const databaseCopies: Migration = {
  name: '0054-database-copies',
  statements: (schema, { uuid, timestamp, json, table }) => [
    table(
      schema
        .createTable('database_copies')
        .addColumn('id', 'integer', (c) => c.primaryKey().notNull().check(sql`id = 1`))
        // Source and target have the same id.
        .addColumn('copy_id', uuid, (c) => c.notNull())
        .addColumn('role', 'text', (c) => c.notNull().check(sql`role in ('source', 'target')`))
        // The name of the other database has no password.
        .addColumn('other', 'text', (c) => c.notNull())
        .addColumn('started_at', timestamp, (c) => c.notNull())
        // After this time the target is in use instead of the source.
        .addColumn('completed_at', timestamp)
        // An interrupted copy continues at this position of the target.
        .addColumn('progress', json),
    ),
  ],
}
