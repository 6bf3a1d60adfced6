import type { GraphQLObjectType } from 'graphql'
import { getNamedType, isLeafType } from 'graphql'
import { mapMaybe } from '../../core/maybe-promise.ts'
import type { FieldSource } from '../schema/field-source.ts'
import { nodeCandidatesOf, nodeSources } from '../schema/node.ts'
import type { FieldWriter, PlannedField, RowReader } from './planning.ts'
import { sliceReader, valueAt, wholeRowReader } from './planning.ts'
import type { PlanRun, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs } from './runtime.ts'
import { argumentsReader } from './selection.ts'
import { leafSerializer, leafWriterOf, wrapWriter, writerByType } from './value-writers.ts'

export function fieldWriterOf(planned: PlannedField): FieldWriter {
  const source = planned.field.extensions.fieldSource as FieldSource | undefined
  if (!source) fallBackToGraphqlJs()
  return (fieldWriters[source.kind] as (source: FieldSource, planned: PlannedField) => FieldWriter)(source, planned)
}

type FieldSourceOf<Kind extends FieldSource['kind']> = Extract<FieldSource, { readonly kind: Kind }>

const fieldWriters: {
  readonly [Kind in FieldSource['kind']]: (source: FieldSourceOf<Kind>, planned: PlannedField) => FieldWriter
} = {
  column: ({ column, transform = identity }, planned) => {
    const cell = planned.rows.requestColumn(column)
    if (!isLeaf(planned)) {
      return rowFieldWriter((row) => transform(valueAt(row, cell) as never), planned, wholeRowReader)
    }
    const { write, isText } = leafWriterOf(planned.field.type)
    const writeCell = transform === identity ? write : (value: unknown) => write(transform(value as never))
    return { kind: 'cell', cell, write: writeCell, isText }
  },
  computed: ({ from, compute }, planned) =>
    rowFieldWriter(planned.rows.withColumns(from, compute), planned, wholeRowReader),
  sameRow: ({ from, isPresent }, planned) => {
    const isRowPresent = planned.rows.withColumns(from, isPresent)
    return rowFieldWriter((row) => (isRowPresent(row) ? row : null), planned, planned.rows)
  },
  slicePart: ({ part, read }, planned) => {
    const { rows, field } = planned
    const readPart = read as (slice: unknown) => unknown
    if (part === 'cursor') rows.requestCursorColumns()
    if (part !== 'total') {
      return rowFieldWriter(readPart, planned, part === 'items' ? (rows.items ?? wholeRowReader) : rows)
    }
    const write = leafSerializer(field.type)
    return { kind: 'level', write: async (slices) => (await Promise.all(slices.map(readPart))).map(write) }
  },
  related: relatedFieldWriter,
  nodeById: ({ source, idOf }, planned) => {
    const { rows, load } = planned.planning.rowsOfSource(source)
    const readArguments = argumentsReader(planned)
    return sharedFieldWriter(planned, rows, (run) =>
      mapMaybe(idOf(run.context, readArguments(run) as never), (id) =>
        id === null ? null : mapMaybe(load(run, [id]), (rowOf) => rowOf(id)),
      ),
    )
  },
  resolver: ({ resolve }, planned) => {
    const readArguments = argumentsReader(planned)
    return sharedFieldWriter(planned, wholeRowReader, (run) => {
      const args = readArguments(run)
      const outcome = (async () => resolve(run.context, args as never))()
      if (planned.planning.isMutation) run.executedMutation = { outcome }
      return outcome
    })
  },
  connection: connectionFieldWriter,
  nodes: nodesFieldWriter,
}

function identity(value: unknown): unknown {
  return value
}

function isLeaf({ field }: PlannedField): boolean {
  return isLeafType(getNamedType(field.type))
}

function rowFieldWriter(read: (row: unknown) => unknown, planned: PlannedField, rows: RowReader): FieldWriter {
  const { field, selectionSets, planning } = planned
  if (isLeaf(planned)) {
    const { write, isText } = leafWriterOf(field.type)
    return { kind: 'row', write: (row) => write(read(row)), isText }
  }
  const write = planning.writerOf(field.type, selectionSets, rows)
  return { kind: 'level', write: (values, run) => write(values.map(read), run) }
}

function relatedFieldWriter({ source, key }: FieldSourceOf<'related'>, planned: PlannedField): FieldWriter {
  const { field, selectionSets, rows, planning } = planned
  const keyOf = keyReader(key, rows)
  const related = planning.rowsOfSource(source)
  const writeLeaf = isLeaf(planned) ? leafSerializer(field.type) : null
  const write: WriteLevel = writeLeaf
    ? (values) => values.map((value) => writeLeaf(value))
    : planning.writerOf(field.type, selectionSets, related.rows)
  return {
    kind: 'level',
    write: (values, run) => {
      const positions = new Map<string | null, number>()
      const positionOfRow = values.map((row) => {
        const rowKey = keyOf(row)
        const known = positions.get(rowKey)
        if (known === undefined) positions.set(rowKey, positions.size)
        return known ?? positions.size - 1
      })
      const distinct = [...positions.keys()]
      const keys = distinct.filter((each) => each !== null)
      const writeAndSpread = (rowOf: ((key: string) => unknown) | null) =>
        mapMaybe(
          write(
            distinct.map((each) => (each === null ? null : rowOf?.(each))),
            run,
          ),
          (texts) => positionOfRow.map((position) => texts[position] as string),
        )
      return keys.length === 0 ? writeAndSpread(null) : mapMaybe(related.load(run, keys, positions), writeAndSpread)
    },
  }
}

function keyReader(key: FieldSourceOf<'related'>['key'], rows: RowReader): (row: unknown) => string | null {
  if (typeof key !== 'string') return rows.withColumns(key.from, key.make)
  const cell = rows.requestColumn(key)
  return (row) => valueAt(row, cell) as string | null
}

function connectionFieldWriter(
  { list, parent, inputOf }: FieldSourceOf<'connection'>,
  planned: PlannedField,
): FieldWriter {
  const { field, selectionSets, rows, planning } = planned
  const readArguments = argumentsReader(planned)
  const { rows: items, columns } = planning.projectList(list, parent === null ? {} : { parent: parent.name })
  if (parent === null) {
    return sharedFieldWriter(planned, sliceReader(items), (run) =>
      list.slice(run.context, inputOf(readArguments(run) as never) as never, columns()),
    )
  }
  const cell = rows.requestColumn('id')
  const write = planning.writerOf(field.type, selectionSets, sliceReader(items))
  return {
    kind: 'level',
    write: (values, run) => {
      const ids = values.map((row) => valueAt(row, cell) as string)
      const input = inputOf(readArguments(run) as never)
      return mapMaybe(parent.slices(run.context, [...new Set(ids)], input, columns()), (slices) =>
        write(
          ids.map((id) => slices.get(id)),
          run,
        ),
      )
    },
  }
}

/** If a value does not depend on the row, the value is read and written only once for all rows. */
function sharedFieldWriter(planned: PlannedField, rows: RowReader, read: (run: PlanRun) => unknown): FieldWriter {
  const { field, selectionSets, planning } = planned
  const write = planning.writerOf(field.type, selectionSets, rows)
  return {
    kind: 'level',
    write: (values, run) =>
      mapMaybe(
        mapMaybe(read(run), (value) => write([value], run)),
        ([text]) => values.map(() => text as string),
      ),
  }
}

type LoadedNode = { readonly type: string; readonly row: unknown }

function nodesFieldWriter({ idsOf }: FieldSourceOf<'nodes'>, planned: PlannedField): FieldWriter {
  const { field, selectionSets, planning } = planned
  const readArguments = argumentsReader(planned)
  const sources = new Map([...nodeSources].map(([type, { source }]) => [type, planning.rowsOfSource(source)]))
  const writers = new Map<string, WriteLevel>()
  for (const [type, { rows }] of sources) {
    const write = planning.writerOf(planning.schema.getType(type) as GraphQLObjectType, selectionSets, rows)
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
    const candidates = ids.map(nodeCandidatesOf)
    const loaded = await Promise.all(
      [...Map.groupBy(candidates.flat(), ({ type }) => type)].map(async ([type, all]) => {
        const keys = new Set(all.map(({ key }) => key))
        return [type, await sources.get(type)?.load(run, [...keys])] as const
      }),
    )
    const rowOfType = new Map(loaded)
    const nodeOf = ({ type, key }: (typeof candidates)[number][number]): LoadedNode => ({
      type,
      row: rowOfType.get(type)?.(key) ?? null,
    })
    return candidates.map((each) => each.map(nodeOf).find(({ row }) => row !== null) ?? null)
  }
  return {
    kind: 'level',
    write: async (roots, run) => {
      const ids = idsOf(readArguments(run) as never)
      const value = typeof ids === 'string' ? (await loadNodes([ids], run))[0] : await loadNodes(ids, run)
      return write(
        roots.map(() => value),
        run,
      )
    },
  }
}
