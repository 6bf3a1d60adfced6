import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// Operators from the environment variable CONSOLE_USERS are not in this table.
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
        // The revision increases when the role or password of the operator changes. A higher revision ends all sessions
        // of the operator.
        .addColumn('revision', 'integer', (c) => c.notNull())
        .addColumn('created_at', timestamp, (c) => c.notNull()),
    ),
    schema.createIndex('operators_by_name').unique().on('operators').columns(['name']),
    schema.createIndex('operators_by_link').unique().on('operators').columns(['link_hash']),
  ],
}
