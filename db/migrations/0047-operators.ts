import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The table does not contain the operators that the variable CONSOLE_USERS defines.
export const operators: Migration = {
  name: '0047-operators',
  statements: (schema, { uuid, timestamp, table }) => [
    table(
      schema
        .createTable('operators')
        .addColumn('id', uuid, (c) => c.notNull().primaryKey())
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('role', 'text', (c) => c.notNull().check(sql`role in ('look', 'act')`))
        // The password hash is NULL until the operator has chosen a password.
        .addColumn('password_hash', 'text')
        .addColumn('link_hash', 'text')
        .addColumn('link_expires_at', timestamp)
        // The revision increases when the role or password of the operator changes. An increase of the revision ends
        // all sessions of the operator.
        .addColumn('revision', 'integer', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull()),
    ),
    // Serves operatorByName.
    schema.createIndex('operators_by_name').unique().on('operators').columns(['name']),
    // Serves operatorByLink.
    schema.createIndex('operators_by_link').unique().on('operators').columns(['link_hash']),
  ],
}
