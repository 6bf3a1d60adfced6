import type { Compilable, CreateTableBuilder, RawBuilder, SchemaModule } from 'kysely'
import type { MaybePromise } from '../core/maybe-promise.ts'

/** One step of the schema, for every engine; once released it never changes. */
export type Migration = {
  /** `NNNN-noun`, in the order in which they run. */
  readonly name: string
  /** What it rewrites of a database that is in use, for whoever waits; absent where it does not take long. */
  readonly rewrites?: string
  readonly statements: (schema: SchemaModule, dialect: MigrationDialect) => readonly MigrationStep[]
}

/** One statement of a migration; one that has a `refusal` finds rows only where the migration must not go on, which is why. */
type MigrationStep = Compilable & { readonly refusal?: string }

/** A foreign key of (merchant_id, `column`) to another table's key. */
type ReferencingKey = { readonly table: string; readonly name: string; readonly column: string }

/** Migrations that a database which is in use is about to get. */
export type PendingMigrations = {
  /** The last that it has. */
  readonly latestApplied: string
  readonly names: readonly string[]
  /** What they rewrite of it. */
  readonly rewrites: readonly string[]
  /** Copies the database as it is to a new file. @throws what `backup` throws */
  readonly backUp: (path: string) => MaybePromise<void>
}

/** Those of `migrations` that are not among the `applied`, in their order; `null` where there are none, or the database is new. */
export function findPendingMigrations(
  migrations: readonly Migration[],
  applied: readonly string[],
): Omit<PendingMigrations, 'backUp'> | null {
  const from = applied.toSorted().at(-1)
  const missing = migrations.filter(({ name }) => !applied.includes(name))
  if (from === undefined || missing.length === 0) return null
  return {
    latestApplied: from,
    names: missing.map(({ name }) => name),
    rewrites: missing.flatMap(({ rewrites }) => rewrites ?? []),
  }
}

/** The first of the `applied` that is none of `migrations`: whatever has it is of a later version. */
export function findUnknownMigration(migrations: readonly Migration[], applied: readonly string[]): string | undefined {
  return applied.find((name) => !migrations.some((migration) => migration.name === name))
}

/** The columns of a row by what they hold. */
type JsonColumns = {
  readonly plain: readonly string[]
  readonly times: readonly string[]
  readonly json: readonly string[]
}

/** What engines call differently in a migration. */
export type MigrationDialect = {
  readonly uuid: RawBuilder<unknown>
  readonly timestamp: RawBuilder<unknown>
  readonly amount: RawBuilder<unknown>
  readonly json: RawBuilder<unknown>
  /** A `timestamp` as milliseconds since 1970. */
  readonly milliseconds: (timestamp: RawBuilder<unknown>) => RawBuilder<unknown>
  /** The columns of a row as the JSON object that a row is in memory; those in `replaced` hold something else. */
  readonly rowAsJson: (
    columns: JsonColumns,
    replaced?: Readonly<Record<string, RawBuilder<unknown>>>,
  ) => RawBuilder<unknown>
  /** A statement written as it is. */
  readonly raw: (statement: RawBuilder<unknown>) => Compilable
  /** Ends a table whose rows are found through its indexes. */
  readonly table: (table: CreateTableBuilder<string, never>) => Compilable
  /** Ends a table of narrow rows that are stored in the order of their primary key, where the engine can. */
  readonly clusteredTable: (table: CreateTableBuilder<string, never>) => Compilable
  /**
   * Holds that a uuid `column` names a row of `target` of the same merchant, whose own id is text: to an engine with types
   * of their own these differ.
   */
  readonly referenceToText: <Table extends string, Column extends string>(
    table: CreateTableBuilder<Table, Column>,
    reference: { readonly name: string; readonly column: Column; readonly target: string },
  ) => CreateTableBuilder<Table, Column>
  /** Forbids to change or delete rows of `table`. */
  readonly appendOnly: (table: string) => readonly Compilable[]
  /**
   * The same, but that `column`, NULL at first, is set once, and with it nothing else of the row changes.
   *
   * @param others every other column of the table
   */
  readonly writeOnce: (
    table: string,
    columns: { readonly column: string; readonly others: readonly string[] },
  ) => readonly Compilable[]
  /** Takes back what `appendOnly` forbade, for a migration that fills a new column of old rows and then forbids it again. */
  readonly dropAppendOnly: (table: string) => readonly Compilable[]
  /** A view, which shows a merchant no other rows than its tables do. */
  readonly view: (name: string, select: RawBuilder<unknown>) => Compilable
  /**
   * Puts the table `by`, with a primary key named after it, in the place of `table`: the foreign keys of `referrers` lead to it
   * from then on, those of `formerReferrers` end.
   */
  readonly replaceTable: (
    table: string,
    replacement: {
      readonly by: string
      readonly referrers: readonly ReferencingKey[]
      readonly removedReferrers: readonly Omit<ReferencingKey, 'column'>[]
    },
  ) => readonly MigrationStep[]
  /** Refuses the whole migration where `select` finds anything: nothing is changed then. */
  readonly refuseIf: (refusal: string, select: RawBuilder<unknown>) => MigrationStep
  /**
   * Tells the engine's planner how many rows of a large table share the first columns of an index: the first, the first
   * two, and so on. `byIndex` names an index without its table, `key` the primary key. Nothing where the engine finds out
   * by itself.
   */
  readonly setPlannerStatistics: (
    table: string,
    byIndex: Readonly<Record<string, readonly number[]>>,
  ) => readonly Compilable[]
}
