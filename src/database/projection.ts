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

/** `names` are sorted, so that the same columns always have the same `key`. */
export type Projection = {
  readonly names: readonly string[]
  readonly key: string
  readonly projectedQueries: Map<object, object>
}

export type ProjectedRow = readonly unknown[]

export function createProjection(columns: Iterable<string>): Projection {
  const names = [...new Set(columns)].sort()
  if (names.length === 0) throw new Error('a projection needs at least one column')
  return { names, key: names.join(), projectedQueries: new Map() }
}

/** The returned function throws if the column was not selected. */
export function cellReader(columns: Projection | undefined, name: string): (row: object) => unknown {
  if (columns === undefined) return (row) => (row as Readonly<Record<string, unknown>>)[name]
  const index = columns.names.indexOf(name)
  if (index >= 0) return (row) => (row as ProjectedRow)[index]
  return () => {
    throw new Error(`the column ${name} was not selected`)
  }
}

/** The columns of ORDER BY are also selected, because SQL can sort a UNION only by selected columns. */
export function projectNode(columns: Projection, node: RootOperationNode): SelectQueryNode {
  if (!SelectQueryNode.is(node)) throw new Error('only a select can be projected')
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
    if (!selection) throw new Error(`the query does not select the column ${name}`)
    return selection
  })
  return { ...node, selections }
}

function orderByNames({ orderBy }: SelectQueryNode): string[] {
  return (orderBy?.items ?? []).flatMap(({ orderBy }) => selectedName(orderBy) ?? []).map(camelCase)
}

const selectionsByNode = new WeakMap<SelectQueryNode, ReadonlyMap<string, SelectionNode>>()

function selectionsByName(node: SelectQueryNode): ReadonlyMap<string, SelectionNode> {
  const cached = selectionsByNode.get(node)
  if (cached) return cached
  const selections = new Map((node.selections ?? []).flatMap((selection) => namedSelections(selection, node)))
  selectionsByNode.set(node, selections)
  return selections
}

function namedSelections(selection: SelectionNode, node: SelectQueryNode): (readonly [string, SelectionNode])[] {
  const selected: OperationNode = selection.selection
  if (SelectAllNode.is(selected)) {
    return selectionsOfTable(node.from?.froms.length === 1 ? node.from.froms[0] : undefined)
  }
  if (ReferenceNode.is(selected) && SelectAllNode.is(selected.column)) return selectionsOfTable(selected.table)
  const name = selectedName(selected)
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
