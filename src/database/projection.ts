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
import { camelCase, columnKindsByTable } from './tables.ts'

/** Columns that are wanted of a query's rows; the same ones have the same order and the same `key`. */
export type Projection = {
  readonly names: readonly string[]
  readonly key: string
  /** The latest forms of queries that were asked for with this very object. */
  readonly projectedQueries: Map<object, object>
}

/** A row as the values of chosen columns, in the order of their names. */
export type ProjectedRow = readonly unknown[]

/** These columns. */
export function createProjection(wanted: Iterable<string>): Projection {
  const names = [...new Set(wanted)].sort()
  if (names.length === 0) throw new Error('no columns are chosen')
  return { names, key: names.join(), projectedQueries: new Map() }
}

/**
 * What reads the cell of a column: by its name of whole rows, by its place of the values of chosen columns. Where it was not
 * chosen, reading it throws.
 */
export function cellReader(columns: Projection | undefined, name: string): (row: object) => unknown {
  if (columns === undefined) return (row) => (row as Readonly<Record<string, unknown>>)[name]
  const place = columns.names.indexOf(name)
  if (place >= 0) return (row) => (row as ProjectedRow)[place]
  return () => {
    throw new Error(`the column ${name} was not chosen`)
  }
}

/**
 * The same query, which reads of its rows no more than these columns, in their order. Where it merges several, what puts them
 * in order follows, because only what all of them select can.
 */
export function projectNode(columns: Projection, node: RootOperationNode): SelectQueryNode {
  if (!SelectQueryNode.is(node)) throw new Error('columns are chosen of queries that only read')
  if (!node.setOperations) return selectColumns(columns.names, node)
  const names = [...new Set([...columns.names, ...orderByNames(node)])]
  const setOperations = node.setOperations.map((each) => ({
    ...each,
    expression: selectColumns(names, each.expression as SelectQueryNode),
  }))
  return { ...selectColumns(names, node), setOperations }
}

function selectColumns(names: readonly string[], node: SelectQueryNode): SelectQueryNode {
  const selectable = selectionsByName(node)
  const selections = names.map((name) => {
    const selection = selectable.get(name)
    if (!selection) throw new Error(`the query has no column ${name} to choose`)
    return selection
  })
  return { ...node, selections }
}

function orderByNames({ orderBy }: SelectQueryNode): string[] {
  return (orderBy?.items ?? []).flatMap(({ orderBy }) => selectedName(orderBy) ?? []).map(camelCase)
}

const selectionsByNode = new WeakMap<SelectQueryNode, ReadonlyMap<string, SelectionNode>>()

/** What a query selects, by the names that its rows have it under. */
function selectionsByName(node: SelectQueryNode): ReadonlyMap<string, SelectionNode> {
  const known = selectionsByNode.get(node)
  if (known) return known
  const found = new Map((node.selections ?? []).flatMap((selection) => namedSelections(selection, node)))
  selectionsByNode.set(node, found)
  return found
}

function namedSelections(selection: SelectionNode, node: SelectQueryNode): (readonly [string, SelectionNode])[] {
  const what: OperationNode = selection.selection
  if (SelectAllNode.is(what)) return selectionsOfTable(node.from?.froms.length === 1 ? node.from.froms[0] : undefined)
  if (ReferenceNode.is(what) && SelectAllNode.is(what.column)) return selectionsOfTable(what.table)
  const name = selectedName(what)
  return name === null ? [] : [[camelCase(name), selection]]
}

function selectionsOfTable(table: OperationNode | undefined): (readonly [string, SelectionNode])[] {
  if (table === undefined || !TableNode.is(table)) return []
  const columns = Object.keys(columnKindsByTable[table.table.identifier.name] ?? {})
  return columns.map((column) => [
    camelCase(column),
    SelectionNode.create(ReferenceNode.create(ColumnNode.create(column), table)),
  ])
}

function selectedName(selected: OperationNode): string | null {
  if (AliasNode.is(selected)) return IdentifierNode.is(selected.alias) ? selected.alias.name : null
  const column = ReferenceNode.is(selected) ? selected.column : selected
  return ColumnNode.is(column) ? column.column.name : null
}
