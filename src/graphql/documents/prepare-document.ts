import type {
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLError,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql'
import { Kind, NoFragmentCyclesRule, NoUnusedFragmentsRule, parse, UniqueFragmentNamesRule, validate } from 'graphql'
import type { PlanCache, PlanFor } from '../plan/plan-cache.ts'
import { createPlanCache, createPlanLookup } from '../plan/plan-cache.ts'
import type { Fragments } from '../plan/selection.ts'
import { operationOfField } from '../schema/mutation.ts'
import type { OperationCost } from './cost.ts'
import { operationCost } from './cost.ts'
import { exceededDocumentLimit, exceededPairLimit, limits } from './limits.ts'
import type { Precheck } from './precheck.ts'
import { lazyPrecheck } from './precheck.ts'
import type { RequestErrors } from './request-errors.ts'
import { invalidDocumentError, requestError } from './request-errors.ts'
import type { ReadVariables } from './variables.ts'
import { createVariablesReader } from './variables.ts'

export type PreparedDocument = {
  readonly node: DocumentNode
  readonly fragments: Fragments
  readonly operations: readonly PreparedOperation[]
  readonly isTrusted?: true
}

export type PreparedOperation = {
  readonly node: OperationDefinitionNode
  readonly cost: OperationCost
  readonly readVariables: ReadVariables
  readonly precheck: Precheck
  readonly planFor: PlanFor
}

export type DocumentResult = PreparedDocument | RequestErrors

/**
 * The fragment rules reject a document with unused fragments before other rules visit the unused fragments.
 * `exceededDocumentLimit` does not measure unused fragments.
 */
const fragmentRules = [UniqueFragmentNamesRule, NoFragmentCyclesRule, NoUnusedFragmentsRule]

/** Checks the limits first, because validating a large document is slow. */
export function prepareDocument(schema: GraphQLSchema, query: string, plans: PlanCache): DocumentResult {
  if (query.length > limits.characters) {
    return tooComplex(`A document may have at most ${limits.characters} characters.`)
  }
  let node: DocumentNode
  try {
    node = parse(query, { maxTokens: limits.tokens })
  } catch (error) {
    return { errors: [invalidDocumentError(error as GraphQLError)] }
  }
  const exceededLimit = exceededDocumentLimit(node)
  if (exceededLimit) return tooComplex(exceededLimit)
  const fragmentErrors = validate(schema, node, fragmentRules, { maxErrors: 20 })
  if (fragmentErrors.length > 0) return { errors: fragmentErrors.map(invalidDocumentError) }
  const exceededPairs = exceededPairLimit(node)
  if (exceededPairs) return tooComplex(exceededPairs)
  const errors = validate(schema, node, undefined, { maxErrors: 20 })
  if (errors.length > 0) return { errors: errors.map(invalidDocumentError) }

  const operations = node.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
  const fragments = fragmentsOf(node)
  if (operations.some((each) => countMoneyMoves(schema, each, fragments) > 1)) {
    return tooComplex('A request may move money at most once.')
  }
  return {
    node,
    fragments,
    operations: operations.map((each) => ({
      node: each,
      cost: operationCost(schema, each, fragments),
      readVariables: createVariablesReader(schema, each),
      precheck: lazyPrecheck(schema, each, fragments),
      planFor: createPlanLookup(each, { schema, fragments }, plans),
    })),
  }
}

function tooComplex(message: string): RequestErrors {
  return { errors: [requestError('QUERY_TOO_COMPLEX', message)] }
}

function fragmentsOf(document: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
  return Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]))
}

function countMoneyMoves(
  schema: GraphQLSchema,
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
): number {
  const fields = operation === 'mutation' ? schema.getMutationType()?.getFields() : undefined
  if (!fields) return 0
  const count = ({ selections }: OperationDefinitionNode['selectionSet']): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) {
        return sum + (operationOfField(fields[selection.name.value])?.declaration.movesMoney ? 1 : 0)
      }
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
      return sum + (inner ? count(inner.selectionSet) : 0)
    }, 0)
  return count(selectionSet)
}

/**
 * Returns only errors that do not depend on variables. An error message omits the subject and the full stop, for
 * example `must not be empty`.
 */
export function documentErrors(schema: GraphQLSchema, text: string): readonly string[] {
  if (text.trim() === '') return ['must not be empty']
  const document = prepareDocument(schema, text, createPlanCache())
  if ('errors' in document) return document.errors.map(({ message }) => `is invalid: ${message.replace(/\.$/, '')}`)
  if (document.operations.length === 0) return ['is invalid: it has no operation']
  return document.operations.flatMap(({ node, cost }) => {
    const minCost = cost(cheapestVariables(node))
    const label = node.name ? `its operation ${node.name.value}` : 'its operation'
    return minCost > limits.cost
      ? [`exceeds the cost limit: ${label} costs at least ${minCost}, the limit is ${limits.cost}`]
      : []
  })
}

function cheapestVariables({ variableDefinitions = [] }: OperationDefinitionNode): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    variableDefinitions.map(({ variable, type }) => {
      const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type
      return [variable.name.value, inner.kind === Kind.LIST_TYPE ? [] : 0]
    }),
  )
}
