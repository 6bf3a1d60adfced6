import type {
  FieldNode,
  GraphQLObjectType,
  GraphQLOutputType,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { GraphQLError, getNamedType, isAbstractType, isObjectType } from 'graphql'
import type { MaybePromise } from '../../database/query.ts'
import { mapMaybe } from '../../database/query.ts'
import type { RowTypeResolver } from '../schema/field-source.ts'
import { fieldWriterOf } from './field-writers.ts'
import type { FieldWriter, PlanningContext, RowReader } from './planning.ts'
import { createProjections, valueAt, wholeRowReader } from './planning.ts'
import type { JsonTexts, PlanRun, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs, graphqlJsFallback, writeAll } from './runtime.ts'
import type { SelectionContext } from './selection.ts'
import { collectFields } from './selection.ts'
import { wrapWriter, writerByType } from './value-writers.ts'

/** Writes the `data` of an operation. Whatever it throws, graphql-js answers the operation, or the rest of it. */
export type Plan = (run: PlanRun) => MaybePromise<string>

/** A plan, or `null` for what is left to graphql-js, and how many members its objects have. */
export type SizedPlan = { readonly plan: Plan | null; readonly members: number }

const noPlan: SizedPlan = { plan: null, members: 1 }

/**
 * What a checked operation asks for as a plan: level by level, which rows to load with which columns, and how they are
 * written. None where something in it is left to graphql-js: a plan is made of what its fields say they show
 * (`shown.ts`), and of nothing else.
 */
export function createPlan({ operation, selectionSet }: OperationDefinitionNode, asked: SelectionContext): SizedPlan {
  const type = asked.schema.getRootType(operation)
  if (!type) return noPlan
  const isMutation = operation === 'mutation'
  // Several are done one after another, each answered before the next.
  if (isMutation && collectFields(type, [selectionSet], asked).size > 1) return noPlan
  const { projectList: choose, rowsOfSource: found } = createProjections()
  const made = { members: 1 }
  const planning: PlanningContext = {
    ...asked,
    size: made,
    isMutation,
    projectList: choose,
    rowsOfSource: found,
    writerOf,
  }
  function writerOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[], rows: RowReader): WriteLevel {
    return wrapWriter(type, namedTypeWriter(type, sets, rows, planning))
  }
  try {
    const write = objectWriter(type, [selectionSet], wholeRowReader, planning)
    return { plan: (run) => mapMaybe(write([undefined], run), ([text]) => text as string), ...made }
  } catch (error) {
    // An argument that is written out may be one that only graphql-js can refuse.
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
  const told = isAbstractType(named) ? (named.extensions.told as RowTypeResolver | undefined) : undefined
  if (!told || !isAbstractType(named)) fallBackToGraphqlJs()
  const writers = planning.schema
    .getPossibleTypes(named)
    .map((each: GraphQLObjectType) => [each.name, objectWriter(each, sets, rows, planning)] as const)
  return writerByType(rows.withColumns(told.from, told.typeOf), new Map(writers))
}

/** A member of an object: what stands before its text, and its place among those whose texts are written for all rows at once. */
type ObjectPart = { readonly prefix: string; readonly writer: FieldWriter; readonly levelIndex: number }

/** Writes objects of a type, one for each row, with what is selected of them. */
export function objectWriter(
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  rows: RowReader,
  planning: PlanningContext,
): WriteLevel {
  const parts: ObjectPart[] = []
  const writes: WriteLevel[] = []
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
    const within = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const member = fieldWriterOf({ field, node, selectionSets: within, rows, planning })
    const mark = member.kind !== 'level' && member.isText ? '"' : ''
    before += mark
    parts.push({
      prefix: before,
      writer: member,
      levelIndex: member.kind === 'level' ? writes.push(member.write) - 1 : -1,
    })
    before = `${mark},`
  }
  planning.size.members += parts.length + 1
  const after = `${before.replace(/,$/, '')}}`

  const writeRow = (row: unknown, place: number, columns: readonly JsonTexts[]) => {
    let all = ''
    for (const { prefix: before, writer: member, levelIndex: column } of parts) {
      all += before
      if (member.kind === 'cell') all += member.write(valueAt(row, member.cell))
      else if (member.kind === 'row') all += member.write(row)
      else all += columns[column]?.[place] ?? fallBackToGraphqlJs()
    }
    return all + after
  }
  return (values, run) =>
    mapMaybe(writeAll(writes, values, run), (columns) => values.map((row, place) => writeRow(row, place, columns)))
}
