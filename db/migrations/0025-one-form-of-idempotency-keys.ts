import { sql } from 'kysely'
import type { Migration } from '../../src/database/migration.ts'

const tables = [
  { table: 'payouts', column: 'idempotency_key', scope: ['merchant_id'] },
  { table: 'idempotency_keys', column: 'key', scope: ['merchant_id', 'operation'] },
]

// Earlier versions stored the idempotency keys of GraphQL requests with quotes and surrounding spaces. This migration
// normalizes stored idempotency keys like `parseIdempotencyKey`, so that retries remain idempotent. If two stored keys
// have the same normalized form, only one row gets the normalized key. No request matches a stored key that is not
// normalized.
export const oneFormOfIdempotencyKeys: Migration = {
  name: '0025-one-form-of-idempotency-keys',
  statements: (_schema, { raw }) =>
    tables.flatMap(({ table, column, scope }) => {
      const key = sql.ref(`${table}.${column}`)
      const unquoted = sql`trim(substr(trim(${key}), 2, length(trim(${key})) - 2))`
      const names = scope.map((name) => sql.ref(name))
      const sameScope = scope.map((name) => sql`taken.${sql.ref(name)} = ${sql.ref(`${table}.${name}`)}`)
      return [
        { form: unquoted, isOther: sql`length(trim(${key})) > 2 and trim(${key}) like '"%"'` },
        { form: sql`trim(${key})`, isOther: sql`${key} <> trim(${key})` },
      ].map(({ form, isOther }) =>
        raw(sql`update ${sql.table(table)} set ${sql.ref(column)} = ${form}
          where ${isOther} and ${form} <> '' and not exists (
            select 1 from ${sql.table(table)} as taken
            where ${sql.join(sameScope, sql` and `)} and taken.${sql.ref(column)} = ${form}
          ) and (${sql.join([...names, key])}) in (
            select ${sql.join(names)}, min(${key}) from ${sql.table(table)} where ${isOther}
            group by ${sql.join(names)}, ${form}
          )`),
      )
    }),
}
