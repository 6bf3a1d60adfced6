import type { Columns } from '../../database/projection.ts'
import type { Needs } from '../../lists/list.ts'
import type { Listed } from '../schema/loader.ts'

/** Where a value stands in a row: its place among the chosen columns, or its name in a whole row. */
export type Cell = { readonly at: number | string }

/** How a plan reads the rows of one place. */
export type Rows = {
  /** Where they have a column; whoever asks has it read. */
  readonly cell: (column: string) => Cell
  /** Hands some of a row's columns, under their names, to a function that knows of no others. */
  readonly reading: <Result>(columns: readonly string[], read: (row: never) => Result) => (row: unknown) => Result
  /** Of slices: how their items are read, and what has the items know their place. */
  readonly items: Rows | null
  readonly place: () => void
}

/** Whole rows, which have every column under its name. */
export const wholeRows: Rows = {
  cell: (column) => ({ at: column }),
  reading: (_, read) => read as (row: unknown) => never,
  items: null,
  place: () => {},
}

/** Slices, and their edges, whose items are read in this way. */
export function slicesOf(items: Rows): Rows {
  return { ...wholeRows, items, place: items.place }
}

/** Rows of which a plan chooses the columns. The first call of `columns` fixes them: those of all cells requested until then. */
export type ChosenRows = { readonly rows: Rows; readonly columns: () => Columns; readonly list: Listed }

/** Rows of a list, as the values of the columns that are asked for. */
export function chosenRows(list: Listed, needs: Needs<string>): ChosenRows {
  const cells = new Map<string, { at: number }>()
  let isPlaced = needs.isPlaced
  let chosen: Columns | null = null

  const cell = (column: string): Cell => {
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
  const rows: Rows = {
    cell,
    reading: (names, read) => {
      const parts = names.map((name) => [name, cell(name)] as const)
      return (row) => {
        const some: Record<string, unknown> = {}
        for (const [name, { at }] of parts) some[name] = (row as readonly unknown[])[at as number]
        return read(some as never)
      }
    },
    items: null,
    place: () => {
      isPlaced = true
    },
  }
  return { rows, columns, list }
}

/** The value of a row in a place. */
export function valueAt(row: unknown, { at }: Cell): unknown {
  // What a site in the code meets is either values or whole rows: one for both would take twice as long for each.
  return typeof at === 'number' ? (row as readonly unknown[])[at] : (row as Readonly<Record<string, unknown>>)[at]
}
