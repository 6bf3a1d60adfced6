import { getNamedType, isLeafType } from 'graphql'
import { answerOf } from '../../database/query.ts'
import type { Shown } from '../schema/field-source.ts'
import { argumentsAt } from './arguments.ts'
import { leafOf, leafWriter } from './leaf-writers.ts'
import { nodesAt } from './nodes.ts'
import type { Member, Place } from './planning.ts'
import type { Rows } from './rows.ts'
import { slicesOf, valueAt, wholeRows } from './rows.ts'
import type { Run, Write } from './runtime.ts'
import { leaveToGraphqlJs } from './runtime.ts'

/** What writes a field of rows as it is declared. */
export function memberOf(place: Place): Member {
  const shown = place.field.extensions.shown as Shown | undefined
  if (!shown) leaveToGraphqlJs()
  return (members[shown.kind] as (shown: Shown, place: Place) => Member)(shown, place)
}

type Of<Kind extends Shown['kind']> = Extract<Shown, { readonly kind: Kind }>

const members: { readonly [Kind in Shown['kind']]: (shown: Of<Kind>, place: Place) => Member } = {
  column: ({ column, as = itself }, place) => {
    const cell = place.rows.cell(column)
    if (!isLeaf(place)) return shownAs((row) => as(valueAt(row, cell) as never), place, wholeRows)
    const { write, isText } = leafOf(place.field.type)
    return { kind: 'cell', cell, write: as === itself ? write : (value) => write(as(value as never)), isText }
  },
  made: ({ from, make }, place) => shownAs(place.rows.reading(from, make), place, wholeRows),
  itself: ({ from, isThere }, place) => {
    const isSo = place.rows.reading(from, isThere)
    return shownAs((row) => (isSo(row) ? row : null), place, place.rows)
  },
  ofSlice: ({ gives, read }, place) => {
    const { rows, field } = place
    const readOf = read as (row: unknown) => unknown
    if (gives === 'cursor') rows.place()
    if (gives !== 'total') return shownAs(readOf, place, gives === 'items' ? (rows.items ?? wholeRows) : rows)
    const write = leafWriter(field.type)
    return { kind: 'level', write: async (slices) => (await Promise.all(slices.map(readOf))).map(write) }
  },
  found,
  named: ({ source, idOf }, place) => {
    const { rows, load } = place.planning.found(source)
    const given = argumentsAt(place)
    return asked(place, rows, (run) =>
      answerOf(idOf(run.context, given(run) as never), (id) =>
        id === null ? null : answerOf(load(run, [id]), (rowOf) => rowOf(id)),
      ),
    )
  },
  asked: ({ ask }, place) => {
    const given = argumentsAt(place)
    return asked(place, wholeRows, (run) => {
      const asking = given(run)
      const outcome = (async () => ask(run.context, asking as never))()
      if (place.planning.isMutation) run.done = { outcome }
      return outcome
    })
  },
  sliced,
  nodes: nodesAt,
}

function itself(value: unknown): unknown {
  return value
}

function isLeaf({ field }: Place): boolean {
  return isLeafType(getNamedType(field.type))
}

/** What a row holds or is made of. */
function shownAs(read: (row: unknown) => unknown, place: Place, rows: Rows): Member {
  const { field, sets, planning } = place
  if (isLeaf(place)) {
    const { write, isText } = leafOf(field.type)
    return { kind: 'row', write: (row) => write(read(row)), isText }
  }
  const write = planning.writerOf(field.type, sets, rows)
  return { kind: 'level', write: (values, run) => write(values.map(read), run) }
}

/** What a source has for each row's key: each is loaded once and written once, however many rows show it. */
function found({ source, key }: Of<'found'>, place: Place): Member {
  const { field, sets, rows, planning } = place
  const keyOf = keyReader(key, rows)
  const theirs = planning.found(source)
  const writeLeaf = isLeaf(place) ? leafWriter(field.type) : null
  const write: Write = writeLeaf
    ? (values) => values.map((value) => writeLeaf(value))
    : planning.writerOf(field.type, sets, theirs.rows)
  return {
    kind: 'level',
    write: (values, run) => {
      const places = new Map<string | null, number>()
      const placeOf = values.map((row) => {
        const key = keyOf(row)
        const known = places.get(key)
        if (known === undefined) places.set(key, places.size)
        return known ?? places.size - 1
      })
      // What has no key is null, once for all rows of which that is so.
      const all = [...places.keys()]
      const keys = all.filter((key) => key !== null)
      const written = (rowOf: ((key: string) => unknown) | null) =>
        answerOf(
          write(
            all.map((key) => (key === null ? null : rowOf?.(key))),
            run,
          ),
          (texts) => placeOf.map((at) => texts[at] as string),
        )
      return keys.length === 0 ? written(null) : answerOf(theirs.load(run, keys, places), written)
    },
  }
}

function keyReader(key: Of<'found'>['key'], rows: Rows): (row: unknown) => string | null {
  if (typeof key !== 'string') return rows.reading(key.from, key.make)
  const cell = rows.cell(key)
  return (row) => valueAt(row, cell) as string | null
}

function sliced({ list, parent, inputOf }: Of<'sliced'>, place: Place): Member {
  const { field, sets, rows, planning } = place
  const given = argumentsAt(place)
  const { rows: items, columns } = planning.choose(list, parent === null ? {} : { parent: parent.name })
  if (parent === null) {
    return asked(place, slicesOf(items), (run) =>
      list.slice(run.context, inputOf(given(run) as never) as never, columns()),
    )
  }
  const cell = rows.cell('id')
  const write = planning.writerOf(field.type, sets, slicesOf(items))
  return {
    kind: 'level',
    write: (values, run) => {
      const ids = values.map((row) => valueAt(row, cell) as string)
      const input = inputOf(given(run) as never)
      return answerOf(parent.slices(run.context, [...new Set(ids)], input, columns()), (slices) =>
        write(
          ids.map((id) => slices.get(id)),
          run,
        ),
      )
    },
  }
}

/** What is asked once: for the only row there is at the root, or for a merchant however often it is shown. */
function asked(place: Place, rows: Rows, ask: (run: Run) => unknown): Member {
  const { field, sets, planning } = place
  if (isLeaf(place)) leaveToGraphqlJs()
  const write = planning.writerOf(field.type, sets, rows)
  return {
    kind: 'level',
    write: (rows, run) =>
      answerOf(
        answerOf(ask(run), (value) => write([value], run)),
        ([text]) => rows.map(() => text as string),
      ),
  }
}
