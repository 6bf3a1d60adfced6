import type {
  FieldNode,
  GraphQLObjectType,
  GraphQLOutputType,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { GraphQLError, getNamedType, isAbstractType, isObjectType } from 'graphql'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { mapMaybe } from '../../core/maybe-promise.ts'
import type { RowTypeResolver } from '../schema/field-source.ts'
import { fieldWriterOf } from './field-writers.ts'
import type { FieldWriter, PlanningContext, RowReader } from './planning.ts'
import { createProjections, valueAt, wholeRowReader } from './planning.ts'
import type { JsonTexts, PlanRun, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs, graphqlJsFallback, writeAll } from './runtime.ts'
import type { SelectionContext } from './selection.ts'
import { collectFields } from './selection.ts'
import { wrapWriter, writerByType } from './value-writers.ts'

/**
 * Writes `data` as JSON text. If the plan throws, graphql-js executes the operation, but does not repeat a mutation
 * that has begun.
 */
export type Plan = (run: PlanRun) => MaybePromise<string>

export type SizedPlan = { readonly plan: Plan | null; readonly members: number }

const noPlan: SizedPlan = { plan: null, members: 1 }

export function createPlan(
  { operation, selectionSet }: OperationDefinitionNode,
  selection: SelectionContext,
): SizedPlan {
  const type = selection.schema.getRootType(operation)
  if (!type) return noPlan
  const isMutation = operation === 'mutation'
  // Mutations run serially: the payload of a mutation must be complete before the next mutation begins.
  if (isMutation && collectFields(type, [selectionSet], selection).size > 1) return noPlan
  const size = { members: 1 }
  const planning: PlanningContext = { ...selection, ...createProjections(), size, isMutation, writerOf }
  function writerOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[], rows: RowReader): WriteLevel {
    return wrapWriter(type, namedTypeWriter(type, sets, rows, planning))
  }
  try {
    const write = objectWriter(type, [selectionSet], wholeRowReader, planning)
    return { plan: (run) => mapMaybe(write([undefined], run), ([text]) => text as string), ...size }
  } catch (error) {
    // A GraphQLError means that a literal argument is invalid. graphql-js reports the error.
    if (error === graphqlJsFallback || error instanceof GraphQLError) return noPlan
    throw error
  }
}

function namedTypeWriter(
  type: GraphQLOutputType,
  sets: readonly SelectionSetNode[],
  rows: RowReader,
  planning: PlanningContext,
): WriteLevel {
  const named = getNamedType(type)
  if (isObjectType(named)) return objectWriter(named, sets, rows, planning)
  const rowType = isAbstractType(named) ? (named.extensions.rowType as RowTypeResolver | undefined) : undefined
  if (!rowType || !isAbstractType(named)) fallBackToGraphqlJs()
  const writers = planning.schema
    .getPossibleTypes(named)
    .map((each: GraphQLObjectType) => [each.name, objectWriter(each, sets, rows, planning)] as const)
  return writerByType(rows.withColumns(rowType.from, rowType.typeOf), new Map(writers))
}

/**
 * `prefix` is the JSON text before the member's value. `levelIndex` is the member's index among the members with a
 * `level` writer, or -1 if the member has another writer.
 */
type ObjectPart = { readonly prefix: string; readonly writer: FieldWriter; readonly levelIndex: number }

function objectWriter(
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  rows: RowReader,
  planning: PlanningContext,
): WriteLevel {
  const parts: ObjectPart[] = []
  const levels: WriteLevel[] = []
  let before = '{'
  for (const [name, nodes] of collectFields(type, sets, planning)) {
    const [node] = nodes as readonly [FieldNode, ...FieldNode[]]
    before += `"${name}":`
    if (node.name.value === '__typename') {
      before += `"${type.name}",`
      continue
    }
    const field = type.getFields()[node.name.value]
    if (!field) fallBackToGraphqlJs()
    const selectionSets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const writer = fieldWriterOf({ field, node, selectionSets, rows, planning })
    const quote = writer.kind !== 'level' && writer.isText ? '"' : ''
    before += quote
    parts.push({ prefix: before, writer, levelIndex: writer.kind === 'level' ? levels.push(writer.write) - 1 : -1 })
    before = `${quote},`
  }
  planning.size.members += parts.length + 1
  const after = `${before.replace(/,$/, '')}}`

  const writeRow = (row: unknown, rowIndex: number, levelTexts: readonly JsonTexts[]) => {
    let text = ''
    for (const { prefix, writer, levelIndex } of parts) {
      text += prefix
      if (writer.kind === 'cell') text += writer.write(valueAt(row, writer.cell))
      else if (writer.kind === 'row') text += writer.write(row)
      else text += levelTexts[levelIndex]?.[rowIndex] ?? fallBackToGraphqlJs()
    }
    return text + after
  }
  return (values, run) =>
    mapMaybe(writeAll(levels, values, run), (levelTexts) =>
      values.map((row, rowIndex) => writeRow(row, rowIndex, levelTexts)),
    )
}
