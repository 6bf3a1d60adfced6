import type { Migration } from '../../src/database/migration.ts'

// What operators did: who, what, to what and why, each written in the transaction that did it. It is history, so no row of it
// changes.
export const operatorActions: Migration = {
  name: '0041-operator-actions',
  statements: (schema, { uuid, timestamp, json, table, appendOnly }) => [
    table(
      schema
        .createTable('operator_actions')
        .addColumn('id', uuid, (c) => c.notNull().primaryKey())
        // Of the form that asked for it, which does it once however often it is sent; NULL for a command.
        .addColumn('form_id', uuid)
        .addColumn('created_at', timestamp, (c) => c.notNull())
        // The machine's user, and the session of a console or the command line.
        .addColumn('operator', 'text', (c) => c.notNull())
        .addColumn('session', 'text', (c) => c.notNull())
        // The command that does the same, and the id of what it was done to.
        .addColumn('action', 'text', (c) => c.notNull())
        .addColumn('subject', 'text', (c) => c.notNull())
        // NULL where a command was given none.
        .addColumn('reason', 'text')
        // What else was said; never a secret.
        .addColumn('details', json, (c) => c.notNull()),
    ),
    ...appendOnly('operator_actions'),
    // operatorActionOfForm
    schema.createIndex('operator_actions_by_form').unique().on('operator_actions').columns(['form_id']),
    // operatorActionsOf
    schema.createIndex('operator_actions_by_subject').on('operator_actions').columns(['subject', 'id']),
  ],
}
