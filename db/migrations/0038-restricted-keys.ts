import type { Migration } from '../../src/database/migration.ts'

// What a key may do, until when, and from where: NULL is everything, for ever, from anywhere, as keys before were.
export const restrictedKeys: Migration = {
  name: '0038-restricted-keys',
  statements: (schema, { json, timestamp }) => [
    schema.alterTable('api_keys').addColumn('scopes', json),
    schema.alterTable('api_keys').addColumn('expires_at', timestamp),
    schema.alterTable('api_keys').addColumn('networks', json),
  ],
}
