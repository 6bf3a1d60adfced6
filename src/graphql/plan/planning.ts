import type { FieldNode, GraphQLField, GraphQLOutputType, SelectionSetNode } from 'graphql'
import type { Answer } from '../../database/query.ts'
import { answerOf } from '../../database/query.ts'
import type { Needs } from '../../lists/list.ts'
import type { Listed, Source } from '../schema/loader.ts'
import { loaderFor } from '../schema/loader.ts'
import type { Asked } from './collect-fields.ts'
import type { Leaf } from './leaf-writers.ts'
import type { Cell, ChosenRows, Rows } from './rows.ts'
import { chosenRows, valueAt, wholeRows } from './rows.ts'
import type { Run, Write } from './runtime.ts'

/** A plan while it is made. */
export type Planning = Asked & {
  /** How much of it there is so far. */
  readonly made: { members: number }
  /** Whether the one field at its root changes something, so that it is done once. */
  readonly isMutation: boolean
  /** What writes values of a type with fields, of whatever `sets` select there. */
  readonly writerOf: (type: GraphQLOutputType, sets: readonly SelectionSetNode[], rows: Rows) => Write
  /** Rows of a list for one place; their columns are chosen when they are first read. */
  readonly choose: (list: Listed, needs: Needs<string>) => ChosenRows
  /** Rows that are found by a key. Two places that find rows of the same list read them together, with the columns of both. */
  readonly found: (source: Source<unknown>) => FoundRows
}

/** A field where it is selected. */
export type Place = {
  readonly field: GraphQLField<unknown, unknown>
  readonly node: FieldNode
  readonly sets: readonly SelectionSetNode[]
  readonly rows: Rows
  readonly planning: Planning
}

/** What writes a field: the value in a cell of each row, something made of each row, or all rows of a level together. */
export type Member =
  | ({ readonly kind: 'cell'; readonly cell: Cell } & Leaf)
  | { readonly kind: 'row'; readonly write: (row: unknown) => string; readonly isText: boolean }
  | { readonly kind: 'level'; readonly write: Write }

/** Rows by their key, and how they are read. */
type FoundRows = {
  readonly rows: Rows
  /** `places` are numbers of the keys, where whoever asks has them: what is found is put in order by these then. */
  readonly load: (run: Run, keys: readonly string[], places?: Places) => Answer<(key: string) => unknown>
}

type Places = ReadonlyMap<string | null, number>

/** Chooses the columns of rows for one plan. */
export function choosing(): Pick<Planning, 'choose' | 'found'> {
  const known = new Map<object, Kind>()
  const kindOf = (source: Source<unknown>): Kind => {
    const { list, find } = source
    if (list === undefined) return { rows: wholeRows, find, places: 0 }
    const chosen = chosenRows(list, { isKeyed: true })
    return { rows: chosen.rows, find: findingIn(chosen), places: 0 }
  }
  return {
    choose: chosenRows,
    found: (source) => {
      const whose = source.list ?? source
      const kind = known.get(whose) ?? kindOf(source)
      known.set(whose, kind)
      kind.places++
      return foundOf(kind, source.only)
    },
  }
}

type Find = (...asked: [...Parameters<Source<unknown>['find']>, places?: Places]) => Answer<(key: string) => unknown>

/** Rows of one kind that a plan finds by their keys, in one place or in several. */
type Kind = { readonly rows: Rows; readonly find: Find; places: number }

function findingIn({ rows, list, columns }: ChosenRows): Find {
  const id = rows.cell('id')
  return (context, keys, given) =>
    answerOf(list.find(context, keys, columns()), (found): ((key: string) => unknown) => {
      if (keys.length === 1) return () => found[0] ?? null
      const places = given ?? placesOf(keys)
      const inOrder: unknown[] = new Array(places.size).fill(null)
      for (const row of found) inOrder[places.get(valueAt(row, id) as string) as number] = row
      return (key) => inOrder[places.get(key) as number]
    })
}

function placesOf(keys: readonly string[]): Places {
  return new Map(keys.map((key, place) => [key, place]))
}

function foundOf(kind: Kind, only: string | undefined): FoundRows {
  const { rows, find } = kind
  const type = only === undefined ? null : rows.cell('type')
  const load: FoundRows['load'] = ({ context }, keys, places) => {
    // Where no other place may ask for the same rows there is nothing to wait for.
    if (kind.places === 1) return find(context, keys, places)
    return loaderFor(context, kind, async (missing) => find(context, missing)).loadAll(keys)
  }
  if (type === null) return { rows, load }
  return {
    rows,
    load: (run, keys, places) =>
      answerOf(load(run, keys, places), (rowOf) => (key: string) => {
        const row = rowOf(key)
        return row !== null && valueAt(row, type) === only ? row : null
      }),
  }
}
