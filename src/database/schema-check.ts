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
