import type { OperationNode, RootOperationNode } from 'kysely'
import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  ReferenceNode,
  SelectAllNode,
  SelectionNode,
  SelectQueryNode,
  TableNode,
} from 'kysely'
import { camelCase, columnsInDatabase } from './tables.ts'

/** Columns that are wanted of a query's rows; the same ones have the same order and the same `key`. */
export type Columns = {
  readonly names: readonly string[]
  readonly key: string
  /** The latest forms of queries that were asked for with this very object. */
  readonly forms: Map<object, object>
}

/** A row as the values of chosen columns, in the order of their names. */
export type Values = readonly unknown[]

/** These columns. */
export function columnsOf(wanted: Iterable<string>): Columns {
  const names = [...new Set(wanted)].sort()
  if (names.length === 0) throw new Error('no columns are chosen')
  return { names, key: names.join(), forms: new Map() }
}

/**
 * What reads the cell of a column: by its name of whole rows, by its place of the values of chosen columns. Where it was not
 * chosen, reading it throws.
 */
export function cellOf(columns: Columns | undefined, name: string): (row: object) => unknown {
  if (columns === undefined) return (row) => (row as Readonly<Record<string, unknown>>)[name]
  const place = columns.names.indexOf(name)
  if (place >= 0) return (row) => (row as Values)[place]
  return () => {
    throw new Error(`the column ${name} was not chosen`)
  }
}

/**
 * The same query, which reads of its rows no more than these columns, in their order. Where it merges several, what puts them
 * in order follows, because only what all of them select can.
 */
export function nodeWith(columns: Columns, node: RootOperationNode): SelectQueryNode {
  if (!SelectQueryNode.is(node)) throw new Error('columns are chosen of queries that only read')
  if (!node.setOperations) return choose(columns.names, node)
  const names = [...new Set([...columns.names, ...orderedBy(node)])]
  const setOperations = node.setOperations.map((each) => ({
    ...each,
    expression: choose(names, each.expression as SelectQueryNode),
  }))
  return { ...choose(names, node), setOperations }
}

function choose(names: readonly string[], node: SelectQueryNode): SelectQueryNode {
  const selectable = selectableIn(node)
  const selections = names.map((name) => {
    const selection = selectable.get(name)
    if (!selection) throw new Error(`the query has no column ${name} to choose`)
    return selection
  })
  return { ...node, selections }
}

function orderedBy({ orderBy }: SelectQueryNode): string[] {
  return (orderBy?.items ?? []).flatMap(({ orderBy }) => nameOf(orderBy) ?? []).map(camelCase)
}

const selectables = new WeakMap<SelectQueryNode, ReadonlyMap<string, SelectionNode>>()

/** What a query selects, by the names that its rows have it under. */
function selectableIn(node: SelectQueryNode): ReadonlyMap<string, SelectionNode> {
  const known = selectables.get(node)
  if (known) return known
  const found = new Map((node.selections ?? []).flatMap((selection) => namedSelections(selection, node)))
  selectables.set(node, found)
  return found
}

function namedSelections(selection: SelectionNode, node: SelectQueryNode): (readonly [string, SelectionNode])[] {
  const what: OperationNode = selection.selection
  if (SelectAllNode.is(what)) return columnsOfTable(node.from?.froms.length === 1 ? node.from.froms[0] : undefined)
  if (ReferenceNode.is(what) && SelectAllNode.is(what.column)) return columnsOfTable(what.table)
  const name = nameOf(what)
  return name === null ? [] : [[camelCase(name), selection]]
}

function columnsOfTable(table: OperationNode | undefined): (readonly [string, SelectionNode])[] {
  if (table === undefined || !TableNode.is(table)) return []
  const columns = Object.keys(columnsInDatabase[table.table.identifier.name] ?? {})
  return columns.map((column) => [
    camelCase(column),
    SelectionNode.create(ReferenceNode.create(ColumnNode.create(column), table)),
  ])
}

function nameOf(selected: OperationNode): string | null {
  if (AliasNode.is(selected)) return IdentifierNode.is(selected.alias) ? selected.alias.name : null
  const column = ReferenceNode.is(selected) ? selected.column : selected
  return ColumnNode.is(column) ? column.column.name : null
}
