import type { Compilable, CreateTableBuilder, RawBuilder, SchemaModule } from 'kysely'
import type { MaybePromise } from '../core/maybe-promise.ts'

/** A released migration must never change. */
export type Migration = {
  /** In the form `NNNN-noun`. Migrations run in the order of their numbers. */
  readonly name: string
  /** The name of this migration in databases of development versions before 1.0.0. */
  readonly formerName?: string
  /** If a migration is slow, `rewrites` describes the rewritten data for the waiting operator. */
  readonly rewrites?: string
  readonly statements: (schema: SchemaModule, dialect: MigrationDialect) => readonly MigrationStep[]
}

/** If the step's select finds a row, the migration fails with the message `refusal`. */
type MigrationStep = Compilable & { readonly refusal?: string }

/** A foreign key from (merchant_id, `column`) of `table` to (merchant_id, id) of another table. */
type ReferencingKey = { readonly table: string; readonly name: string; readonly column: string }

export type PendingMigrations = {
  readonly latestApplied: string
  readonly names: readonly string[]
  readonly rewrites: readonly string[]
  readonly backUp: (path: string) => MaybePromise<void>
}

export function findPendingMigrations(
  migrations: readonly Migration[],
  applied: readonly string[],
): Omit<PendingMigrations, 'backUp'> | null {
  const latestApplied = applied.toSorted().at(-1)
  const pending = migrationsToApply(migrations, applied)
  if (latestApplied === undefined || pending.length === 0) return null
  return {
    latestApplied,
    names: pending.map(({ name }) => name),
    rewrites: pending.flatMap(({ rewrites }) => rewrites ?? []),
  }
}

export function migrationsToApply(migrations: readonly Migration[], applied: readonly string[]): readonly Migration[] {
  return migrations.filter((migration) => !applied.some((name) => isNamed(migration, name)))
}

function isNamed({ name, formerName }: Migration, applied: string): boolean {
  return applied === name || applied === formerName
}

export function findUnknownMigration(migrations: readonly Migration[], applied: readonly string[]): string | undefined {
  return applied.find((name) => !migrations.some((migration) => isNamed(migration, name)))
}

type JsonColumns = {
  readonly plain: readonly string[]
  readonly times: readonly string[]
  readonly json: readonly string[]
}

export type MigrationDialect = {
  readonly uuid: RawBuilder<unknown>
  /** `binaryText` is a text type with comparison by bytes, independent of the database's collation. */
  readonly binaryText: RawBuilder<unknown>
  readonly timestamp: RawBuilder<unknown>
  readonly amount: RawBuilder<unknown>
  readonly json: RawBuilder<unknown>
  readonly milliseconds: (timestamp: RawBuilder<unknown>) => RawBuilder<unknown>
  /** Converts a row to JSON. `replaced` overrides values of columns. */
  readonly rowAsJson: (
    columns: JsonColumns,
    replaced?: Readonly<Record<string, RawBuilder<unknown>>>,
  ) => RawBuilder<unknown>
  readonly raw: (statement: RawBuilder<unknown>) => Compilable
  readonly table: (table: CreateTableBuilder<string, never>) => Compilable
  /** On SQLite, a clustered table is WITHOUT ROWID, so rows are stored in the order of the primary key. */
  readonly clusteredTable: (table: CreateTableBuilder<string, never>) => Compilable
  /**
   * Adds a foreign key from the uuid `column` to a text id of the same merchant. On PostgreSQL, the foreign key needs a
   * generated text column.
   */
  readonly referenceToText: <Table extends string, Column extends string>(
    table: CreateTableBuilder<Table, Column>,
    reference: { readonly name: string; readonly column: Column; readonly target: string },
  ) => CreateTableBuilder<Table, Column>
  readonly appendOnly: (table: string) => readonly Compilable[]
  /**
   * `writeOnce` is like `appendOnly`, but `column` can be set once, while the column is NULL. `others` are all other
   * columns.
   */
  readonly writeOnce: (
    table: string,
    columns: { readonly column: string; readonly others: readonly string[] },
  ) => readonly Compilable[]
  /** Lets a migration update rows of an append-only table. */
  readonly dropAppendOnly: (table: string) => readonly Compilable[]
  /** On PostgreSQL, the view applies row-level security with the role that reads the view. */
  readonly view: (name: string, select: RawBuilder<unknown>) => Compilable
  /**
   * Replaces the table `table` with the table `by`. The primary key of the new table has the name `<by>_key`. Foreign
   * keys in `referrers` are changed to the new table. Foreign keys in `removedReferrers` are dropped.
   */
  readonly replaceTable: (
    table: string,
    replacement: {
      readonly by: string
      readonly referrers: readonly ReferencingKey[]
      readonly removedReferrers: readonly Omit<ReferencingKey, 'column'>[]
    },
  ) => readonly MigrationStep[]
  readonly refuseIf: (refusal: string, select: RawBuilder<unknown>) => MigrationStep
  /**
   * Sets SQLite's statistics of a large table: how many rows have the same first column of an index, the same first two
   * columns, and so on. The keys of `byIndex` are index names without the table prefix, or `key` for the primary key.
   */
  readonly setPlannerStatistics: (
    table: string,
    byIndex: Readonly<Record<string, readonly number[]>>,
  ) => readonly Compilable[]
}

export type SchemaObject = {
  readonly kind: string
  readonly name: string
  readonly table: string | null
  readonly target?: string | null
  readonly definition: string
  /** A harmless object does not affect the service, for example an operator's additional table. */
  readonly isHarmless: boolean
}

/**
 * The `differences` of a schema can make writes fail or permit changes to history. `notices` are harmless additions.
 */
export type SchemaCheck = {
  readonly differences: readonly string[]
  readonly notices: readonly string[]
  readonly unchecked: string | null
}

export function compareSchemas(actual: readonly SchemaObject[], expected: readonly SchemaObject[]): SchemaCheck {
  const ownTables = new Set(expected.filter(({ kind }) => kind === 'table').map(({ name }) => name))
  const actualByName = indexByName(actual)
  const expectedByName = indexByName(expected)
  const isTableMissing = ({ table }: SchemaObject) => table !== null && !actualByName.has(`table ${table}`)
  const isOfOwnTable = ({ table, target }: SchemaObject) =>
    table === null || ownTables.has(table) || ownTables.has(target ?? '')

  const missing = expected.filter((object) => !actualByName.has(objectName(object)) && !isTableMissing(object))
  const added = actual.filter((object) => !expectedByName.has(objectName(object)) && isOfOwnTable(object))
  const changed = actual.filter((object) => {
    const definition = expectedByName.get(objectName(object))?.definition
    return definition !== undefined && definition !== object.definition
  })
  // SQLite's definition of a table repeats its columns and foreign keys. A changed column or foreign key is reported
  // without the changed definition of the table.
  const differingTables = new Set([...missing, ...added, ...changed].filter(isPartOfTable).map(({ table }) => table))
  const reportedChanges = changed.filter(({ kind, name }) => kind !== 'table' || !differingTables.has(name))
  return {
    differences: [
      ...missing.map((object) => `${describeObject(object)} is missing`),
      ...added
        .filter(({ isHarmless }) => !isHarmless)
        .map((object) => `${describeObject(object)} is not part of the schema`),
      ...reportedChanges.map((object) => `${describeObject(object)} is changed: ${excerpt(object.definition)}`),
    ],
    notices: added.filter(({ isHarmless }) => isHarmless).map((object) => `${describeObject(object)} was added`),
    unchecked: null,
  }
}

function indexByName(objects: readonly SchemaObject[]): ReadonlyMap<string, SchemaObject> {
  return new Map(objects.map((object) => [objectName(object), object]))
}

function objectName({ kind, name, table }: SchemaObject): string {
  return table === null ? `${kind} ${name}` : `${kind} ${name} on ${table}`
}

function isPartOfTable({ kind }: SchemaObject): boolean {
  return kind === 'column' || kind === 'foreign key'
}

function describeObject(object: SchemaObject): string {
  return object.kind === 'column' ? `column ${object.table}.${object.name}` : objectName(object)
}

const maxExcerptLength = 200

function excerpt(definition: string): string {
  return definition.length > maxExcerptLength ? `${definition.slice(0, maxExcerptLength)}…` : definition
}
