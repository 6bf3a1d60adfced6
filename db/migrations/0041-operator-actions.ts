import type { Migration } from '../../src/database/migration.ts'

// Each row of the operator log is written in the transaction of its action.
export const operatorActions: Migration = {
  name: '0041-operator-actions',
  statements: (schema, { uuid, timestamp, json, table, appendOnly }) => [
    table(
      schema
        .createTable('operator_actions')
        .addColumn('id', uuid, (c) => c.notNull().primaryKey())
        // Each submitted form of the console has an id, so that it is processed once. A command has no form.
        .addColumn('form_id', uuid)
        .addColumn('created_at', timestamp, (c) => c.notNull())
        // The operator is an operator of the console, or the user of the operating system. The session is a session of
        // the console or a command line.
        .addColumn('operator', 'text', (c) => c.notNull())
        .addColumn('session', 'text', (c) => c.notNull())
        // `action` is the equivalent command. `subject` is the id of the object that the action changes.
        .addColumn('action', 'text', (c) => c.notNull())
        .addColumn('subject', 'text', (c) => c.notNull())
        .addColumn('reason', 'text')
        // The parameters contain no secret.
        .addColumn('details', json, (c) => c.notNull()),
    ),
    ...appendOnly('operator_actions'),
    // Serves operatorActionByForm.
    schema.createIndex('operator_actions_by_form').unique().on('operator_actions').columns(['form_id']),
    // Serves operatorActionsOfSubject.
    schema.createIndex('operator_actions_by_subject').on('operator_actions').columns(['subject', 'id']),
  ],
}
