import type { FieldNode, GraphQLField, GraphQLOutputType, SelectionSetNode } from 'graphql'
import type { Projection } from '../../database/projection.ts'
import type { MaybePromise } from '../../database/query.ts'
import { mapMaybe } from '../../database/query.ts'
import type { ColumnNeeds } from '../../lists/define-list.ts'
import type { KeyedSource, NodeList } from '../schema/loader.ts'
import { getOrCreateLoader } from '../schema/loader.ts'
import type { PlanRun, WriteLevel } from './runtime.ts'
import type { SelectionContext } from './selection.ts'
import type { LeafWriter } from './value-writers.ts'

/** A plan while it is made. */
export type PlanningContext = SelectionContext & {
  /** How much of it there is so far. */
  readonly size: { members: number }
  /** Whether the one field at its root changes something, so that it is done once. */
  readonly isMutation: boolean
  /** What writes values of a type with fields, of whatever `sets` select there. */
  readonly writerOf: (type: GraphQLOutputType, sets: readonly SelectionSetNode[], rows: RowReader) => WriteLevel
  /** Rows of a list for one place; their columns are chosen when they are first read. */
  readonly projectList: (list: NodeList, needs: ColumnNeeds<string>) => ProjectedRows
  /** Rows that are found by a key. Two places that find rows of the same list read them together, with the columns of both. */
  readonly rowsOfSource: (source: KeyedSource<unknown>) => FoundRows
}

/** A field where it is selected. */
export type PlannedField = {
  readonly field: GraphQLField<unknown, unknown>
  readonly node: FieldNode
  readonly selectionSets: readonly SelectionSetNode[]
  readonly rows: RowReader
  readonly planning: PlanningContext
}

/** What writes a field: the value in a cell of each row, something made of each row, or all rows of a level together. */
export type FieldWriter =
  | ({ readonly kind: 'cell'; readonly cell: ColumnPosition } & LeafWriter)
  | { readonly kind: 'row'; readonly write: (row: unknown) => string; readonly isText: boolean }
  | { readonly kind: 'level'; readonly write: WriteLevel }

/** Rows by their key, and how they are read. */
type FoundRows = {
  readonly rows: RowReader
  /** `places` are numbers of the keys, where whoever asks has them: what is found is put in order by these then. */
  readonly load: (
    run: PlanRun,
    keys: readonly string[],
    places?: KeyPositions,
  ) => MaybePromise<(key: string) => unknown>
}

type KeyPositions = ReadonlyMap<string | null, number>

/** Chooses the columns of rows for one plan. */
export function createProjections(): Pick<PlanningContext, 'projectList' | 'rowsOfSource'> {
  const known = new Map<object, SharedRows>()
  const createSharedRows = (source: KeyedSource<unknown>): SharedRows => {
    const { list, find } = source
    if (list === undefined) return { rows: wholeRowReader, find, useCount: 0 }
    const chosen = projectRows(list, { isKeyed: true })
    return { rows: chosen.rows, find: finderOf(chosen), useCount: 0 }
  }
  return {
    projectList: projectRows,
    rowsOfSource: (source) => {
      const whose = source.list ?? source
      const kind = known.get(whose) ?? createSharedRows(source)
      known.set(whose, kind)
      kind.useCount++
      return foundRowsOf(kind, source.only)
    },
  }
}

type FindRows = (
  ...asked: [...Parameters<KeyedSource<unknown>['find']>, places?: KeyPositions]
) => MaybePromise<(key: string) => unknown>

/** Rows of one kind that a plan finds by their keys, in one place or in several. */
type SharedRows = { readonly rows: RowReader; readonly find: FindRows; useCount: number }

function finderOf({ rows, list, columns }: ProjectedRows): FindRows {
  const id = rows.requestColumn('id')
  return (context, keys, given) =>
    mapMaybe(list.find(context, keys, columns()), (found): ((key: string) => unknown) => {
      if (keys.length === 1) return () => found[0] ?? null
      const places = given ?? keyPositionsOf(keys)
      const inOrder: unknown[] = new Array(places.size).fill(null)
      for (const row of found) inOrder[places.get(valueAt(row, id) as string) as number] = row
      return (key) => inOrder[places.get(key) as number]
    })
}

function keyPositionsOf(keys: readonly string[]): KeyPositions {
  return new Map(keys.map((key, place) => [key, place]))
}

function foundRowsOf(kind: SharedRows, only: string | undefined): FoundRows {
  const { rows, find } = kind
  const type = only === undefined ? null : rows.requestColumn('type')
  const load: FoundRows['load'] = ({ context }, keys, places) => {
    // Where no other place may ask for the same rows there is nothing to wait for.
    if (kind.useCount === 1) return find(context, keys, places)
    return getOrCreateLoader(context, kind, async (missing) => find(context, missing)).loadAll(keys)
  }
  if (type === null) return { rows, load }
  return {
    rows,
    load: (run, keys, places) =>
      mapMaybe(load(run, keys, places), (rowOf) => (key: string) => {
        const row = rowOf(key)
        return row !== null && valueAt(row, type) === only ? row : null
      }),
  }
}

/** Where a value stands in a row: its place among the chosen columns, or its name in a whole row. */
export type ColumnPosition = { readonly at: number | string }

/** How a plan reads the rows of one place. */
export type RowReader = {
  /** Where they have a column; whoever asks has it read. */
  readonly requestColumn: (column: string) => ColumnPosition
  /** Hands some of a row's columns, under their names, to a function that knows of no others. */
  readonly withColumns: <Result>(columns: readonly string[], read: (row: never) => Result) => (row: unknown) => Result
  /** Of slices: how their items are read, and what has the items know their place. */
  readonly items: RowReader | null
  readonly requestCursorColumns: () => void
}

/** Whole rows, which have every column under its name. */
export const wholeRowReader: RowReader = {
  requestColumn: (column) => ({ at: column }),
  withColumns: (_, read) => read as (row: unknown) => never,
  items: null,
  requestCursorColumns: () => {},
}

/** Slices, and their edges, whose items are read in this way. */
export function sliceReader(items: RowReader): RowReader {
  return { ...wholeRowReader, items, requestCursorColumns: items.requestCursorColumns }
}

/** Rows of which a plan chooses the columns. The first call of `columns` fixes them: those of all cells requested until then. */
export type ProjectedRows = { readonly rows: RowReader; readonly columns: () => Projection; readonly list: NodeList }

/** Rows of a list, as the values of the columns that are asked for. */
export function projectRows(list: NodeList, needs: ColumnNeeds<string>): ProjectedRows {
  const cells = new Map<string, { at: number }>()
  let isPlaced = needs.isPlaced
  let chosen: Projection | null = null

  const cell = (column: string): ColumnPosition => {
    if (chosen !== null) throw new Error(`the columns of these rows are chosen, and ${column} is not among them`)
    const known = cells.get(column) ?? { at: -1 }
    cells.set(column, known)
    return known
  }
  const columns = () => {
    if (chosen === null) {
      chosen = list.columns([...cells.keys()], { ...needs, ...(isPlaced && { isPlaced }) } as never)
      for (const [column, place] of cells) place.at = chosen.names.indexOf(column)
    }
    return chosen
  }
  const rows: RowReader = {
    requestColumn: cell,
    withColumns: (names, read) => {
      const parts = names.map((name) => [name, cell(name)] as const)
      return (row) => {
        const some: Record<string, unknown> = {}
        for (const [name, { at }] of parts) some[name] = (row as readonly unknown[])[at as number]
        return read(some as never)
      }
    },
    items: null,
    requestCursorColumns: () => {
      isPlaced = true
    },
  }
  return { rows, columns, list }
}

/** The value of a row in a place. */
export function valueAt(row: unknown, { at }: ColumnPosition): unknown {
  // What a site in the code meets is either values or whole rows: one for both would take twice as long for each.
  return typeof at === 'number' ? (row as readonly unknown[])[at] : (row as Readonly<Record<string, unknown>>)[at]
}
