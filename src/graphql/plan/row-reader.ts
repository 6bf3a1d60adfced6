import type { Projection } from '../../database/projection.ts'
import type { ColumnNeeds } from '../../lists/define-list.ts'
import type { NodeList } from '../schema/loader.ts'

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
  let needsCursor = needs.needsCursor
  let chosen: Projection | null = null

  const cell = (column: string): ColumnPosition => {
    if (chosen !== null) throw new Error(`the columns of these rows are chosen, and ${column} is not among them`)
    const known = cells.get(column) ?? { at: -1 }
    cells.set(column, known)
    return known
  }
  const columns = () => {
    if (chosen === null) {
      chosen = list.columns([...cells.keys()], { ...needs, ...(needsCursor && { needsCursor }) } as never)
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
      needsCursor = true
    },
  }
  return { rows, columns, list }
}

/** The value of a row in a place. */
export function valueAt(row: unknown, { at }: ColumnPosition): unknown {
  // What a site in the code meets is either values or whole rows: one for both would take twice as long for each.
  return typeof at === 'number' ? (row as readonly unknown[])[at] : (row as Readonly<Record<string, unknown>>)[at]
}
