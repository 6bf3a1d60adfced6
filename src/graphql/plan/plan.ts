import type { GraphQLObjectType, GraphQLOutputType, OperationDefinitionNode, SelectionSetNode } from 'graphql'
import { GraphQLError, getNamedType, isAbstractType, isObjectType } from 'graphql'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import { mapMaybe } from '../../core/maybe-promise.ts'
import type { RowTypeResolver } from '../schema/field-source.ts'
import type { SelectionContext } from './collect-fields.ts'
import { collectFields } from './collect-fields.ts'
import { objectWriter } from './object-writer.ts'
import type { PlanningContext } from './planning.ts'
import { createProjections } from './planning.ts'
import type { RowReader } from './row-reader.ts'
import { wholeRowReader } from './row-reader.ts'
import type { PlanRun, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs, graphqlJsFallback } from './runtime.ts'
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
