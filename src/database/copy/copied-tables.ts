import type { ColumnKind } from '../columns.ts'
import type { TableName } from '../tables.ts'
import { snakeCase, tables } from '../tables.ts'

export type CopiedColumn = { readonly name: string; readonly kind: ColumnKind }

export type CopiedTable = { readonly name: string; readonly columns: readonly CopiedColumn[] }

export const uncopiedTables: { readonly [Table in TableName]?: string } = {
  databaseCopies: 'it says of each database what it was copied from or to',
}

/** Generated columns are omitted, because the target database computes them. */
export const copiedTables: readonly CopiedTable[] = Object.entries(tables)
  .filter(([table]) => !(table in uncopiedTables))
  .map(([table, columns]) => ({
    name: snakeCase(table),
    columns: Object.entries(columns)
      .filter(([, { isGenerated }]) => !isGenerated)
      .map(([name, { kind }]) => ({ name: snakeCase(name), kind })),
  }))

/** A new, migrated database already has rows in the initial tables. A copy replaces these rows. */
export const initialTables: readonly string[] = ['installation', 'asset_networks', 'asset_codes']

export function isNumeric({ kind }: CopiedColumn): boolean {
  return kind === 'integer' || kind === 'amount'
}

export type TableReference = { readonly child: string; readonly parent: string }

/**
 * Sorts each table after the tables that it references.
 *
 * @throws Error if the references have a cycle
 */
export function orderByReferences(
  unordered: readonly CopiedTable[],
  references: readonly TableReference[],
): readonly CopiedTable[] {
  const ordered: CopiedTable[] = []
  const waiting = [...unordered]
  while (waiting.length > 0) {
    const isWaiting = (name: string) => waiting.some((each) => each.name === name)
    const next = waiting.findIndex(({ name }) =>
      references.every(({ child, parent }) => child !== name || parent === name || !isWaiting(parent)),
    )
    if (next < 0) throw new Error(`the foreign keys of ${waiting.map(({ name }) => name).join(', ')} form a cycle`)
    ordered.push(...waiting.splice(next, 1))
  }
  return ordered
}
