/** One object of a database's schema; two schemas are equal where all their objects have equal definitions. */
export type SchemaObject = {
  /** Such as `trigger`. */
  readonly kind: string
  readonly name: string
  /** The table that it belongs to; `null` for what stands alone. */
  readonly table: string | null
  /** For a foreign key, the table that it refers to. */
  readonly target?: string | null
  readonly definition: string
  /** Whether the service works as before where an operator has added it. */
  readonly isHarmless: boolean
}

/**
 * A database's schema compared with that which the migrations make: `differences` may reject writes or let history be changed,
 * `notices` are additions that do neither, and `unchecked` says why there was nothing to compare with, else `null`.
 */
export type SchemaCheck = {
  readonly differences: readonly string[]
  readonly notices: readonly string[]
  readonly unchecked: string | null
}

/** Compares the objects that were found with those that the migrations make. */
export function compareSchemas(found: readonly SchemaObject[], expected: readonly SchemaObject[]): SchemaCheck {
  const ownTables = new Set(expected.filter(({ kind }) => kind === 'table').map(({ name }) => name))
  const foundByName = indexByName(found)
  const expectedByName = indexByName(expected)
  const isTableMissing = ({ table }: SchemaObject) => table !== null && !foundByName.has(`table ${table}`)
  const isOfOwnTable = ({ table, target }: SchemaObject) =>
    table === null || ownTables.has(table) || ownTables.has(target ?? '')

  const missing = expected.filter((each) => !foundByName.has(objectName(each)) && !isTableMissing(each))
  const added = found.filter((each) => !expectedByName.has(objectName(each)) && isOfOwnTable(each))
  const changed = found.filter((each) => {
    const definition = expectedByName.get(objectName(each))?.definition
    return definition !== undefined && definition !== each.definition
  })
  // The text of a table has its columns and foreign keys, which are compared one by one as well.
  const differingTables = new Set([...missing, ...added, ...changed].filter(isPartOfTable).map(({ table }) => table))
  const tellingChanges = changed.filter(({ kind, name }) => kind !== 'table' || !differingTables.has(name))
  return {
    differences: [
      ...missing.map((each) => `${describeObject(each)} is missing`),
      ...added.filter(({ isHarmless }) => !isHarmless).map((each) => `${describeObject(each)} is not of this service`),
      ...tellingChanges.map((each) => `${describeObject(each)} is changed: ${excerpt(each.definition)}`),
    ],
    notices: added.filter(({ isHarmless }) => isHarmless).map((each) => `${describeObject(each)} was added`),
    unchecked: null,
  }
}

function indexByName(objects: readonly SchemaObject[]): ReadonlyMap<string, SchemaObject> {
  return new Map(objects.map((each) => [objectName(each), each]))
}

/** Triggers of two tables may have one name. */
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
