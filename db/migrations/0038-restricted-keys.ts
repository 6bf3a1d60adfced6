import type { Migration } from '../../src/database/migration.ts'

// NULL means no restriction.
export const restrictedKeys: Migration = {
  name: '0038-restricted-keys',
  statements: (schema, { json, timestamp }) => [
    schema.alterTable('api_keys').addColumn('scopes', json),
    schema.alterTable('api_keys').addColumn('expires_at', timestamp),
    schema.alterTable('api_keys').addColumn('networks', json),
  ],
}
