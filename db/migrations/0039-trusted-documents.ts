import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The text that belongs to a document id must never change, so a removed document keeps its row.
export const trustedDocuments: Migration = {
  name: '0039-trusted-documents',
  statements: (schema, { timestamp, table }) => [
    table(
      schema
        .createTable('trusted_documents')
        .addColumn('id', 'text', (c) => c.notNull().primaryKey())
        // Each change increases the revision. A process reads only the documents with a higher revision than its own
        // copy.
        .addColumn('revision', 'integer', (c) => c.notNull().check(sql`revision > 0`))
        .addColumn('name', 'text')
        .addColumn('text', 'text', (c) => c.notNull())
        .addColumn('added_at', timestamp, (c) => c.notNull())
        .addColumn('removed_at', timestamp),
    ),
    // This index serves `documentsChangedAfter` and `latestRevision`. Its uniqueness serializes concurrent changes.
    schema.createIndex('trusted_documents_by_revision').unique().on('trusted_documents').columns(['revision']),
  ],
}
