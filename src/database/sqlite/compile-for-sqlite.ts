import type { RootOperationNode, SelectModifierNode, ValueNode } from 'kysely'
import { SqliteQueryCompiler } from 'kysely'
import { isPlaceholder, noIndexMarker } from '../query-nodes.ts'

/** A query parameter whose `name` is `null` is a constant. */
export type SqliteStatement = {
  readonly sql: string
  readonly parameters: readonly { readonly name: string | null; readonly value: unknown }[]
}

export function compileForSqlite(node: RootOperationNode): SqliteStatement {
  const { sql, parameters } = new SqliteCompiler().compileQuery(node, { queryId: '' })
  return {
    sql,
    parameters: parameters.map((value) =>
      isPlaceholder(value) ? { name: value.placeholder, value: null } : { name: null, value },
    ),
  }
}

class SqliteCompiler extends SqliteQueryCompiler {
  /**
   * Binds a list as one JSON array, so that one SQL statement works for lists of any length.
   *
   * The unary plus before a bound value hides the value from SQLite's query planner. If a plan depended on bound
   * values, SQLite would prepare a statement with ORDER BY or LIMIT again for each execution.
   */
  protected override visitValue(node: ValueNode): void {
    if (node.value === noIndexMarker) {
      this.append('not indexed')
      return
    }
    if (node.immediate) {
      super.visitValue(node)
      return
    }
    const isList = isPlaceholder(node.value) && node.value.isList
    this.append(isList ? '(select value from json_each(+' : '+')
    this.appendValue(node.value)
    if (isList) this.append('))')
  }

  /** SQLite has only one writer, so it needs no row locks. */
  protected override visitSelectModifier({ modifier }: SelectModifierNode): void {
    if (!lockModifiers.has(modifier)) throw new Error('SQLite does not support this modifier of a select')
  }
}

const lockModifiers = new Set<SelectModifierNode['modifier']>(['ForUpdate', 'ForNoKeyUpdate', 'ForShare'])
