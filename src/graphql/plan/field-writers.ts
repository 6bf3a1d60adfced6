import type { GraphQLObjectType } from 'graphql'
import { getNamedType, isLeafType } from 'graphql'
import { mapMaybe } from '../../database/query.ts'
import type { FieldSource } from '../schema/field-source.ts'
import { nodeCandidatesOf, nodeSources } from '../schema/node.ts'
import type { FieldWriter, PlannedField, RowReader } from './planning.ts'
import { sliceReader, valueAt, wholeRowReader } from './planning.ts'
import type { PlanRun, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs } from './runtime.ts'
import { argumentsReader } from './selection.ts'
import { leafSerializer, leafWriterOf, wrapWriter, writerByType } from './value-writers.ts'

/** What writes a field of rows as it is declared. */
export function fieldWriterOf(place: PlannedField): FieldWriter {
  const shown = place.field.extensions.shown as FieldSource | undefined
  if (!shown) fallBackToGraphqlJs()
  return (fieldWriters[shown.kind] as (shown: FieldSource, place: PlannedField) => FieldWriter)(shown, place)
}

type FieldSourceOf<Kind extends FieldSource['kind']> = Extract<FieldSource, { readonly kind: Kind }>

const fieldWriters: {
  readonly [Kind in FieldSource['kind']]: (shown: FieldSourceOf<Kind>, place: PlannedField) => FieldWriter
} = {
  column: ({ column, transform: as = identity }, place) => {
    const cell = place.rows.requestColumn(column)
    if (!isLeaf(place)) return rowFieldWriter((row) => as(valueAt(row, cell) as never), place, wholeRowReader)
    const { write, isText } = leafWriterOf(place.field.type)
    return { kind: 'cell', cell, write: as === identity ? write : (value) => write(as(value as never)), isText }
  },
  made: ({ from, make }, place) => rowFieldWriter(place.rows.withColumns(from, make), place, wholeRowReader),
  itself: ({ from, isPresent: isThere }, place) => {
    const isSo = place.rows.withColumns(from, isThere)
    return rowFieldWriter((row) => (isSo(row) ? row : null), place, place.rows)
  },
  ofSlice: ({ part: gives, read }, place) => {
    const { rows, field } = place
    const readOf = read as (row: unknown) => unknown
    if (gives === 'cursor') rows.requestCursorColumns()
    if (gives !== 'total')
      return rowFieldWriter(readOf, place, gives === 'items' ? (rows.items ?? wholeRowReader) : rows)
    const write = leafSerializer(field.type)
    return { kind: 'level', write: async (slices) => (await Promise.all(slices.map(readOf))).map(write) }
  },
  found: sourceFieldWriter,
  named: ({ source, idOf }, place) => {
    const { rows, load } = place.planning.rowsOfSource(source)
    const given = argumentsReader(place)
    return sharedFieldWriter(place, rows, (run) =>
      mapMaybe(idOf(run.context, given(run) as never), (id) =>
        id === null ? null : mapMaybe(load(run, [id]), (rowOf) => rowOf(id)),
      ),
    )
  },
  asked: ({ ask }, place) => {
    const given = argumentsReader(place)
    return sharedFieldWriter(place, wholeRowReader, (run) => {
      const asking = given(run)
      const outcome = (async () => ask(run.context, asking as never))()
      if (place.planning.isMutation) run.executedMutation = { outcome }
      return outcome
    })
  },
  sliced: sliceFieldWriter,
  nodes: nodesFieldWriter,
}

function identity(value: unknown): unknown {
  return value
}

function isLeaf({ field }: PlannedField): boolean {
  return isLeafType(getNamedType(field.type))
}

/** What a row holds or is made of. */
function rowFieldWriter(read: (row: unknown) => unknown, place: PlannedField, rows: RowReader): FieldWriter {
  const { field, selectionSets: sets, planning } = place
  if (isLeaf(place)) {
    const { write, isText } = leafWriterOf(field.type)
    return { kind: 'row', write: (row) => write(read(row)), isText }
  }
  const write = planning.writerOf(field.type, sets, rows)
  return { kind: 'level', write: (values, run) => write(values.map(read), run) }
}

/** What a source has for each row's key: each is loaded once and written once, however many rows show it. */
function sourceFieldWriter({ source, key }: FieldSourceOf<'found'>, place: PlannedField): FieldWriter {
  const { field, selectionSets: sets, rows, planning } = place
  const keyOf = keyReader(key, rows)
  const theirs = planning.rowsOfSource(source)
  const writeLeaf = isLeaf(place) ? leafSerializer(field.type) : null
  const write: WriteLevel = writeLeaf
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
      const writeAndSpread = (rowOf: ((key: string) => unknown) | null) =>
        mapMaybe(
          write(
            all.map((key) => (key === null ? null : rowOf?.(key))),
            run,
          ),
          (texts) => placeOf.map((at) => texts[at] as string),
        )
      return keys.length === 0 ? writeAndSpread(null) : mapMaybe(theirs.load(run, keys, places), writeAndSpread)
    },
  }
}

function keyReader(key: FieldSourceOf<'found'>['key'], rows: RowReader): (row: unknown) => string | null {
  if (typeof key !== 'string') return rows.withColumns(key.from, key.make)
  const cell = rows.requestColumn(key)
  return (row) => valueAt(row, cell) as string | null
}

function sliceFieldWriter({ list, parent, inputOf }: FieldSourceOf<'sliced'>, place: PlannedField): FieldWriter {
  const { field, selectionSets: sets, rows, planning } = place
  const given = argumentsReader(place)
  const { rows: items, columns } = planning.projectList(list, parent === null ? {} : { parent: parent.name })
  if (parent === null) {
    return sharedFieldWriter(place, sliceReader(items), (run) =>
      list.slice(run.context, inputOf(given(run) as never) as never, columns()),
    )
  }
  const cell = rows.requestColumn('id')
  const write = planning.writerOf(field.type, sets, sliceReader(items))
  return {
    kind: 'level',
    write: (values, run) => {
      const ids = values.map((row) => valueAt(row, cell) as string)
      const input = inputOf(given(run) as never)
      return mapMaybe(parent.slices(run.context, [...new Set(ids)], input, columns()), (slices) =>
        write(
          ids.map((id) => slices.get(id)),
          run,
        ),
      )
    },
  }
}

/** What is asked once: for the only row there is at the root, or for a merchant however often it is shown. */
function sharedFieldWriter(place: PlannedField, rows: RowReader, ask: (run: PlanRun) => unknown): FieldWriter {
  const { field, selectionSets: sets, planning } = place
  if (isLeaf(place)) fallBackToGraphqlJs()
  const write = planning.writerOf(field.type, sets, rows)
  return {
    kind: 'level',
    write: (rows, run) =>
      mapMaybe(
        mapMaybe(ask(run), (value) => write([value], run)),
        ([text]) => rows.map(() => text as string),
      ),
  }
}

type LoadedNode = { readonly type: string; readonly row: unknown }

/** Nodes of any type by their ids: those of each type are loaded together. */
export function nodesFieldWriter(
  { idsOf }: Extract<FieldSource, { readonly kind: 'nodes' }>,
  place: PlannedField,
): FieldWriter {
  const { field, selectionSets: sets, planning } = place
  const given = argumentsReader(place)
  const sources = new Map([...nodeSources].map(([type, { source }]) => [type, planning.rowsOfSource(source)]))
  const writers = new Map<string, WriteLevel>()
  for (const [type, { rows }] of sources) {
    const write = planning.writerOf(planning.schema.getType(type) as GraphQLObjectType, sets, rows)
    writers.set(type, (nodes, run) =>
      write(
        nodes.map((node) => (node as LoadedNode).row),
        run,
      ),
    )
  }
  const write = wrapWriter(
    field.type,
    writerByType((node) => (node as LoadedNode).type, writers),
  )

  const loadNodes = async (ids: readonly string[], run: PlanRun): Promise<(LoadedNode | null)[]> => {
    const names = ids.map(nodeCandidatesOf)
    const found = await Promise.all(
      [...Map.groupBy(names.flat(), ({ type }) => type)].map(async ([type, all]) => {
        const keys = new Set(all.map(({ key }) => key))
        return [type, await sources.get(type)?.load(run, [...keys])] as const
      }),
    )
    const rowsOf = new Map(found)
    const nodeOf = ({ type, key }: (typeof names)[number][number]): LoadedNode => ({
      type,
      row: rowsOf.get(type)?.(key) ?? null,
    })
    return names.map((candidates) => candidates.map(nodeOf).find(({ row }) => row !== null) ?? null)
  }
  return {
    kind: 'level',
    write: async (roots, run) => {
      const ids = idsOf(given(run) as never)
      const value = typeof ids === 'string' ? (await loadNodes([ids], run))[0] : await loadNodes(ids, run)
      return write(
        roots.map(() => value),
        run,
      )
    },
  }
}
