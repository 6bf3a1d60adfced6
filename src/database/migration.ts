import type { Compilable, CreateTableBuilder, RawBuilder, SchemaModule } from 'kysely'
import type { MaybePromise } from '../core/maybe-promise.ts'

/** A change of the schema, for both engines. A released migration never changes. */
export type Migration = {
  /** `NNNN-noun`; migrations run in the order of their numbers. */
  readonly name: string
  /** The data that it rewrites, shown to the operator who waits; absent if it is fast. */
  readonly rewrites?: string
  readonly statements: (schema: SchemaModule, dialect: MigrationDialect) => readonly MigrationStep[]
}

/** A statement of a migration. With `refusal` it is a select: if it finds a row, the migration fails with that message. */
type MigrationStep = Compilable & { readonly refusal?: string }

/** A foreign key of (merchant_id, `column`) to (merchant_id, id) of another table. */
type ReferencingKey = { readonly table: string; readonly name: string; readonly column: string }

/** Migrations that are about to run on an existing database. */
export type PendingMigrations = {
  /** The last migration that has run. */
  readonly latestApplied: string
  readonly names: readonly string[]
  /** The data that they rewrite. */
  readonly rewrites: readonly string[]
  /** Copies the database to a new file. @throws what `Database.backup` throws */
  readonly backUp: (path: string) => MaybePromise<void>
}

/** Returns the migrations that have not been applied; `null` if there are none, or the database is new. */
export function findPendingMigrations(
  migrations: readonly Migration[],
  applied: readonly string[],
): Omit<PendingMigrations, 'backUp'> | null {
  const latestApplied = applied.toSorted().at(-1)
  const pending = migrations.filter(({ name }) => !applied.includes(name))
  if (latestApplied === undefined || pending.length === 0) return null
  return {
    latestApplied,
    names: pending.map(({ name }) => name),
    rewrites: pending.flatMap(({ rewrites }) => rewrites ?? []),
  }
}

/** Returns an applied migration that this version does not have: a later version has migrated the database. */
export function findUnknownMigration(migrations: readonly Migration[], applied: readonly string[]): string | undefined {
  return applied.find((name) => !migrations.some((migration) => migration.name === name))
}

/** The columns of a row, by how they become JSON. */
type JsonColumns = {
  readonly plain: readonly string[]
  readonly times: readonly string[]
  readonly json: readonly string[]
}

/** The parts of a migration that the engines write differently. */
export type MigrationDialect = {
  readonly uuid: RawBuilder<unknown>
  readonly timestamp: RawBuilder<unknown>
  readonly amount: RawBuilder<unknown>
  readonly json: RawBuilder<unknown>
  /** Converts a `timestamp` to milliseconds since 1970. */
  readonly milliseconds: (timestamp: RawBuilder<unknown>) => RawBuilder<unknown>
  /** The JSON object of a row as the program reads it; `replaced` has other values for some columns. */
  readonly rowAsJson: (
    columns: JsonColumns,
    replaced?: Readonly<Record<string, RawBuilder<unknown>>>,
  ) => RawBuilder<unknown>
  /** A statement in SQL. */
  readonly raw: (statement: RawBuilder<unknown>) => Compilable
  /** Completes a table whose rows are found through its indexes. */
  readonly table: (table: CreateTableBuilder<string, never>) => Compilable
  /** Completes a table of narrow rows; SQLite stores them in the order of the primary key (WITHOUT ROWID). */
  readonly clusteredTable: (table: CreateTableBuilder<string, never>) => Compilable
  /** A foreign key from a uuid `column` to a text id of the same merchant. PostgreSQL needs a generated text column. */
  readonly referenceToText: <Table extends string, Column extends string>(
    table: CreateTableBuilder<Table, Column>,
    reference: { readonly name: string; readonly column: Column; readonly target: string },
  ) => CreateTableBuilder<Table, Column>
  /** Forbids updates and deletes of rows. */
  readonly appendOnly: (table: string) => readonly Compilable[]
  /** Like `appendOnly`, except that `column` may be set once, from NULL. `others` are all other columns of the table. */
  readonly writeOnce: (
    table: string,
    columns: { readonly column: string; readonly others: readonly string[] },
  ) => readonly Compilable[]
  /** Reverts `appendOnly`, for a migration that fills a new column of existing rows and then forbids changes again. */
  readonly dropAppendOnly: (table: string) => readonly Compilable[]
  /** A view. On PostgreSQL the row-level security of its tables applies to its reader. */
  readonly view: (name: string, select: RawBuilder<unknown>) => Compilable
  /**
   * Replaces `table` by the table `by`, whose primary key is named `<by>_key`. Foreign keys of `referrers` refer to the new table,
   * those of `removedReferrers` are dropped.
   */
  readonly replaceTable: (
    table: string,
    replacement: {
      readonly by: string
      readonly referrers: readonly ReferencingKey[]
      readonly removedReferrers: readonly Omit<ReferencingKey, 'column'>[]
    },
  ) => readonly MigrationStep[]
  /** Aborts all migrations of the transaction with the message `refusal` if `select` finds a row. */
  readonly refuseIf: (refusal: string, select: RawBuilder<unknown>) => MigrationStep
  /**
   * Sets SQLite's planner statistics: how many rows of a large table share the first column of an index, the first two, and so
   * on. `byIndex` names indexes without their table, and `key` for the primary key. PostgreSQL collects its own.
   */
  readonly setPlannerStatistics: (
    table: string,
    byIndex: Readonly<Record<string, readonly number[]>>,
  ) => readonly Compilable[]
}

/** An object of a database's schema. */
export type SchemaObject = {
  /** For example `trigger`. */
  readonly kind: string
  readonly name: string
  /** The table that it belongs to, if any. */
  readonly table: string | null
  /** For a foreign key, the table that it refers to. */
  readonly target?: string | null
  readonly definition: string
  /** Whether an operator may add it without affecting the service. */
  readonly isHarmless: boolean
}

/**
 * The result of comparing a database's schema with the one that the migrations create. `differences` may reject writes or let
 * history be changed, `notices` are harmless additions, and `unchecked` is the reason if the schema could not be compared.
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
  // The definition of a SQLite table includes its columns and foreign keys, which are compared one by one as well.
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

/** Includes the table, because triggers of two tables may share a name. */
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
