import type { Migration } from '../../src/database/migration.ts'

// The action and its row in the operator log are written in one transaction.
export const operatorActions: Migration = {
  name: '0041-operator-actions',
  statements: (schema, { uuid, timestamp, json, table, appendOnly }) => [
    table(
      schema
        .createTable('operator_actions')
        .addColumn('id', uuid, (c) => c.notNull().primaryKey())
        // The id of a submitted form of the console is unique, so that a form is processed once. A command has no form.
        .addColumn('form_id', uuid)
        .addColumn('created_at', timestamp, (c) => c.notNull())
        // `operator` is the signed-in operator of the console, or the user of the operating system. `session`
        // identifies a session of the console, or is `command`.
        .addColumn('operator', 'text', (c) => c.notNull())
        .addColumn('session', 'text', (c) => c.notNull())
        // `action` is the equivalent command. `subject` is the id of the changed object.
        .addColumn('action', 'text', (c) => c.notNull())
        .addColumn('subject', 'text', (c) => c.notNull())
        .addColumn('reason', 'text')
        // The details contain no secret.
        .addColumn('details', json, (c) => c.notNull()),
    ),
    ...appendOnly('operator_actions'),
    schema.createIndex('operator_actions_by_form').unique().on('operator_actions').columns(['form_id']),
    schema.createIndex('operator_actions_by_subject').on('operator_actions').columns(['subject', 'id']),
  ],
}
