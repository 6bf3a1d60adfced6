import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

// The GraphQL documents that this installation trusts, of whichever merchant. An id means one text for good, so one that is
// removed keeps its row.
export const trustedDocuments: Migration = {
  name: '0039-trusted-documents',
  statements: (schema, { timestamp, table }) => [
    table(
      schema
        .createTable('trusted_documents')
        .addColumn('id', 'text', (c) => c.notNull().primaryKey())
        // The latest change of any row has the highest number: whoever knows all up to one asks for those after it.
        .addColumn('revision', 'integer', (c) => c.notNull().check(sql`revision > 0`))
        .addColumn('name', 'text')
        .addColumn('text', 'text', (c) => c.notNull())
        .addColumn('added_at', timestamp, (c) => c.notNull())
        .addColumn('removed_at', timestamp),
    ),
    // documentsAfter, latestRevision; and of two who change something at once one waits for the other.
    schema.createIndex('trusted_documents_by_revision').unique().on('trusted_documents').columns(['revision']),
  ],
}
