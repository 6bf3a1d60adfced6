import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The text of a document id never changes, so a removed document keeps its row.
export const trustedDocuments: Migration = {
  name: '0039-trusted-documents',
  statements: (schema, { timestamp, table }) => [
    table(
      schema
        .createTable('trusted_documents')
        .addColumn('id', 'text', (c) => c.notNull().primaryKey())
        // The revision increases with each change, so that a process can read the changes after the last change that it
        // knows.
        .addColumn('revision', 'integer', (c) => c.notNull().check(sql`revision > 0`))
        .addColumn('name', 'text')
        .addColumn('text', 'text', (c) => c.notNull())
        .addColumn('added_at', timestamp, (c) => c.notNull())
        .addColumn('removed_at', timestamp),
    ),
    // This unique index serves `documentsChangedAfter` and `latestRevision`, and serializes concurrent changes of
    // documents.
    schema.createIndex('trusted_documents_by_revision').unique().on('trusted_documents').columns(['revision']),
  ],
}
