import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// A document id must always belong to the same text, so the row of a removed document is kept.
export const trustedDocuments: Migration = {
  name: '0039-trusted-documents',
  statements: (schema, { timestamp, table }) => [
    table(
      schema
        .createTable('trusted_documents')
        .addColumn('id', 'text', (c) => c.notNull().primaryKey())
        // Each change increases the revision. A process loads changes by reading the documents with a higher revision
        // than its cached documents.
        .addColumn('revision', 'integer', (c) => c.notNull().check(sql`revision > 0`))
        .addColumn('name', 'text')
        .addColumn('text', 'text', (c) => c.notNull())
        .addColumn('added_at', timestamp, (c) => c.notNull())
        .addColumn('removed_at', timestamp),
    ),
    // This index serves `documentsChangedAfter` and `latestRevision`. Because the index is unique, concurrent changes
    // of documents are serialized.
    schema.createIndex('trusted_documents_by_revision').unique().on('trusted_documents').columns(['revision']),
  ],
}
