import type { GraphQLObjectType, GraphQLOutputType, OperationDefinitionNode, SelectionSetNode } from 'graphql'
import { GraphQLError, getNamedType, isAbstractType, isObjectType } from 'graphql'
import type { Answer } from '../../database/query.ts'
import { answerOf } from '../../database/query.ts'
import type { Told } from '../schema/field-source.ts'
import type { Asked } from './collect-fields.ts'
import { selectedOf } from './collect-fields.ts'
import { objectWriter } from './object.ts'
import type { Planning } from './planning.ts'
import { choosing } from './planning.ts'
import type { Rows } from './rows.ts'
import { wholeRows } from './rows.ts'
import type { Run, Write } from './runtime.ts'
import { leaveToGraphqlJs, leftToGraphqlJs } from './runtime.ts'
import { byType, wrapped } from './value.ts'

/** Writes the `data` of an operation. Whatever it throws, graphql-js answers the operation, or the rest of it. */
export type Plan = (run: Run) => Answer<string>

/** A plan, or `null` for what is left to graphql-js, and how many members its objects have. */
export type Made = { readonly plan: Plan | null; readonly members: number }

const notPlanned: Made = { plan: null, members: 1 }

/**
 * What a checked operation asks for as a plan: level by level, which rows to load with which columns, and how they are
 * written. None where something in it is left to graphql-js: a plan is made of what its fields say they show
 * (`shown.ts`), and of nothing else.
 */
export function planOf({ operation, selectionSet }: OperationDefinitionNode, asked: Asked): Made {
  const type = asked.schema.getRootType(operation)
  if (!type) return notPlanned
  const isMutation = operation === 'mutation'
  // Several are done one after another, each answered before the next.
  if (isMutation && selectedOf(type, [selectionSet], asked).size > 1) return notPlanned
  const { choose, found } = choosing()
  const made = { members: 1 }
  const planning: Planning = { ...asked, made, isMutation, choose, found, writerOf }
  function writerOf(type: GraphQLOutputType, sets: readonly SelectionSetNode[], rows: Rows): Write {
    return wrapped(type, namedWriter(type, sets, rows, planning))
  }
  try {
    const write = objectWriter(type, [selectionSet], wholeRows, planning)
    return { plan: (run) => answerOf(write([undefined], run), ([text]) => text as string), ...made }
  } catch (error) {
    // An argument that is written out may be one that only graphql-js can refuse.
    if (error === leftToGraphqlJs || error instanceof GraphQLError) return notPlanned
    throw error
  }
}

function namedWriter(
  type: GraphQLOutputType,
  sets: readonly SelectionSetNode[],
  rows: Rows,
  planning: Planning,
): Write {
  const named = getNamedType(type)
  if (isObjectType(named)) return objectWriter(named, sets, rows, planning)
  const told = isAbstractType(named) ? (named.extensions.told as Told | undefined) : undefined
  if (!told || !isAbstractType(named)) leaveToGraphqlJs()
  const writers = planning.schema
    .getPossibleTypes(named)
    .map((each: GraphQLObjectType) => [each.name, objectWriter(each, sets, rows, planning)] as const)
  return byType(rows.reading(told.from, told.typeOf), new Map(writers))
}
