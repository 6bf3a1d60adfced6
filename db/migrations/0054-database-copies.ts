import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// `database_copies` has at most one row: the current or latest copy to or from another database.
export const databaseCopies: Migration = {
  name: '0054-database-copies',
  statements: (schema, { uuid, timestamp, json, table }) => [
    table(
      schema
        .createTable('database_copies')
        .addColumn('id', 'integer', (c) => c.primaryKey().notNull().check(sql`id = 1`))
        // The source database and the target database store the same copy id.
        .addColumn('copy_id', uuid, (c) => c.notNull())
        .addColumn('role', 'text', (c) => c.notNull().check(sql`role in ('source', 'target')`))
        // The name of the other database, without its password.
        .addColumn('other', 'text', (c) => c.notNull())
        .addColumn('started_at', timestamp, (c) => c.notNull())
        .addColumn('completed_at', timestamp)
        // `progress` identifies the last copied row, so that an interrupted copy can continue.
        .addColumn('progress', json),
    ),
  ],
}
