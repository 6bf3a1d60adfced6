import type { FieldNode, GraphQLField, GraphQLOutputType, SelectionSetNode } from 'graphql'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { mapMaybe } from '../../core/maybe-promise.ts'
import type { Projection } from '../../database/projection.ts'
import type { ColumnNeeds } from '../../lists/define-list.ts'
import type { KeyedSource, NodeList } from '../schema/loader.ts'
import { getOrCreateLoader } from '../schema/loader.ts'
import type { PlanRun, WriteLevel } from './runtime.ts'
import type { SelectionContext } from './selection.ts'
import type { LeafWriter } from './value-writers.ts'

export type PlanningContext = SelectionContext & {
  readonly size: { members: number }
  readonly isMutation: boolean
  readonly writerOf: (type: GraphQLOutputType, sets: readonly SelectionSetNode[], rows: RowReader) => WriteLevel
  readonly projectList: (list: NodeList, needs: ColumnNeeds<string>) => ProjectedRows
  /** Fields that read rows from the same source share one query, which selects the columns of all these fields. */
  readonly rowsOfSource: (source: KeyedSource<unknown>) => KeyedRows
}

export type PlannedField = {
  readonly field: GraphQLField<unknown, unknown>
  readonly node: FieldNode
  readonly selectionSets: readonly SelectionSetNode[]
  readonly rows: RowReader
  readonly planning: PlanningContext
}

export type FieldWriter =
  | ({ readonly kind: 'cell'; readonly cell: ColumnPosition } & LeafWriter)
  | { readonly kind: 'row'; readonly write: (row: unknown) => string; readonly isText: boolean }
  | { readonly kind: 'level'; readonly write: WriteLevel }

export type ColumnPosition = { readonly at: number | string }

export type RowReader = {
  readonly requestColumn: (column: string) => ColumnPosition
  readonly withColumns: <Result>(columns: readonly string[], read: (row: never) => Result) => (row: unknown) => Result
  readonly items: RowReader | null
  readonly requestCursorColumns: () => void
}

export const wholeRowReader: RowReader = {
  requestColumn: (column) => ({ at: column }),
  withColumns: (_, read) => read as (row: unknown) => never,
  items: null,
  requestCursorColumns: () => {},
}

export function sliceReader(items: RowReader): RowReader {
  return { ...wholeRowReader, items, requestCursorColumns: items.requestCursorColumns }
}

/** After the first call of `columns`, no field can request another column. */
type ProjectedRows = { readonly rows: RowReader; readonly columns: () => Projection; readonly list: NodeList }

export function projectRows(list: NodeList, needs: ColumnNeeds<string>): ProjectedRows {
  const cells = new Map<string, { at: number }>()
  let { needsCursor } = needs
  let projection: Projection | null = null

  const requestColumn = (column: string): ColumnPosition => {
    if (projection !== null) throw new Error(`the projection is fixed, and ${column} is not in it`)
    const known = cells.get(column) ?? { at: -1 }
    cells.set(column, known)
    return known
  }
  const columns = () => {
    if (projection === null) {
      projection = list.columns([...cells.keys()], { ...needs, ...(needsCursor && { needsCursor }) } as never)
      for (const [column, cell] of cells) cell.at = projection.names.indexOf(column)
    }
    return projection
  }
  const rows: RowReader = {
    requestColumn,
    withColumns: (names, read) => {
      const parts = names.map((name) => [name, requestColumn(name)] as const)
      return (row) => {
        const named: Record<string, unknown> = {}
        for (const [name, { at }] of parts) named[name] = (row as readonly unknown[])[at as number]
        return read(named as never)
      }
    },
    items: null,
    requestCursorColumns: () => {
      needsCursor = true
    },
  }
  return { rows, columns, list }
}

export function valueAt(row: unknown, { at }: ColumnPosition): unknown {
  // A call site that reads both arrays and objects would be megamorphic and twice as slow.
  return typeof at === 'number' ? (row as readonly unknown[])[at] : (row as Readonly<Record<string, unknown>>)[at]
}

type KeyedRows = {
  readonly rows: RowReader
  readonly load: (
    run: PlanRun,
    keys: readonly string[],
    positions?: KeyPositions,
  ) => MaybePromise<(key: string) => unknown>
}

type KeyPositions = ReadonlyMap<string | null, number>

export function createProjections(): Pick<PlanningContext, 'projectList' | 'rowsOfSource'> {
  const sharedRows = new Map<object, SharedRows>()
  const createSharedRows = (source: KeyedSource<unknown>): SharedRows => {
    const { list, find } = source
    if (list === undefined) return { rows: wholeRowReader, find, useCount: 0 }
    const projected = projectRows(list, {})
    return { rows: projected.rows, find: finderOf(projected), useCount: 0 }
  }
  return {
    projectList: projectRows,
    rowsOfSource: (source) => {
      const key = source.list ?? source
      const shared = sharedRows.get(key) ?? createSharedRows(source)
      sharedRows.set(key, shared)
      shared.useCount++
      return keyedRowsOf(shared, source.only)
    },
  }
}

type FindRows = (
  ...args: [...Parameters<KeyedSource<unknown>['find']>, positions?: KeyPositions]
) => MaybePromise<(key: string) => unknown>

type SharedRows = { readonly rows: RowReader; readonly find: FindRows; useCount: number }

function finderOf({ rows, list, columns }: ProjectedRows): FindRows {
  const id = rows.requestColumn('id')
  return (context, keys, knownPositions) =>
    mapMaybe(list.find(context, keys, columns()), (loadedRows): ((key: string) => unknown) => {
      if (keys.length === 1) return () => loadedRows[0] ?? null
      const positions = knownPositions ?? new Map(keys.map((key, position) => [key, position]))
      const inOrder: unknown[] = new Array(positions.size).fill(null)
      for (const row of loadedRows) inOrder[positions.get(valueAt(row, id) as string) as number] = row
      return (key) => inOrder[positions.get(key) as number]
    })
}

function keyedRowsOf(shared: SharedRows, only: string | undefined): KeyedRows {
  const { rows, find } = shared
  const type = only === undefined ? null : rows.requestColumn('type')
  const load: KeyedRows['load'] = ({ context }, keys, positions) => {
    // If a single field reads the rows, a loader has nothing to batch.
    if (shared.useCount === 1) return find(context, keys, positions)
    return getOrCreateLoader(context, shared, async (missing) => find(context, missing)).loadAll(keys)
  }
  if (type === null) return { rows, load }
  return {
    rows,
    load: (run, keys, positions) =>
      mapMaybe(load(run, keys, positions), (rowOf) => (key: string) => {
        const row = rowOf(key)
        return row !== null && valueAt(row, type) === only ? row : null
      }),
  }
}
