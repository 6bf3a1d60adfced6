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
import type { OperationCost } from './cost.ts'
import { operationCost } from './cost.ts'
import { exceededDocumentLimit, exceededPairLimit, limits } from './limits.ts'
import type { Precheck } from './precheck.ts'
import { lazyPrecheck } from './precheck.ts'
import { invalidDocumentError, requestError } from './request-errors.ts'
import type { ReadVariables } from './variables.ts'
import { createVariablesReader } from './variables.ts'

/** A document that is valid and within the limits, with what is known of it once for all requests. */
export type PreparedDocument = {
  readonly node: DocumentNode
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly operations: readonly PreparedOperation[]
  /** Set where it is one of those that an operator has added. */
  readonly isTrusted?: true
}

/** One of a document's operations. */
export type PreparedOperation = {
  readonly node: OperationDefinitionNode
  readonly cost: OperationCost
  readonly readVariables: ReadVariables
  readonly precheck: Precheck
  readonly planFor: PlanFor
}

/** What is wrong with a document, in its place. */
export type RequestErrors = { readonly errors: readonly GraphQLError[] }

/** Each fragment has a name of its own, and an operation that spreads it: so none is there beside those that are measured. */
const fragmentRules = [UniqueFragmentNamesRule, NoFragmentCyclesRule, NoUnusedFragmentsRule]

/** Parses and checks a document: its size first, because validation takes long for what is too large. */
export function prepareDocument(
  schema: GraphQLSchema,
  query: string,
  plans: PlanCache,
): PreparedDocument | RequestErrors {
  if (query.length > limits.characters) {
    return { errors: [requestError('QUERY_TOO_COMPLEX', `A query may have at most ${limits.characters} characters.`)] }
  }
  let node: DocumentNode
  try {
    node = parse(query, { maxTokens: limits.tokens })
  } catch (error) {
    return { errors: [invalidDocumentError(error as GraphQLError)] }
  }
  const excess = exceededDocumentLimit(node)
  if (excess) return { errors: [requestError('QUERY_TOO_COMPLEX', excess)] }
  // What is measured is what operations come to; validation looks at every fragment, also at those that none comes to.
  const stray = validate(schema, node, fragmentRules, { maxErrors: 20 })
  if (stray.length > 0) return { errors: stray.map(invalidDocumentError) }
  const excessive = exceededPairLimit(node)
  if (excessive) return { errors: [requestError('QUERY_TOO_COMPLEX', excessive)] }
  const errors = validate(schema, node, undefined, { maxErrors: 20 })
  if (errors.length > 0) return { errors: errors.map(invalidDocumentError) }

  const operations = node.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
  const fragments = fragmentsOf(node)
  const money = operations.map((each) => countMoneyMoves(schema, each, fragments))
  if (money.some((count) => count > 1)) {
    return { errors: [requestError('QUERY_TOO_COMPLEX', 'A request may move money at most once.')] }
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

function fragmentsOf(document: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
  return Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]))
}

/** How many of an operation's own fields move money. */
function countMoneyMoves(
  schema: GraphQLSchema,
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): number {
  const fields = operation === 'mutation' ? schema.getMutationType()?.getFields() : undefined
  if (!fields) return 0
  const count = ({ selections }: OperationDefinitionNode['selectionSet']): number =>
    selections.reduce((sum, selection) => {
      if (selection.kind === Kind.FIELD) return sum + (fields[selection.name.value]?.extensions.movesMoney ? 1 : 0)
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
      return sum + (inner ? count(inner.selectionSet) : 0)
    }, 0)
  return count(selectionSet)
}

/** What is wrong with a document whatever its variables are, in sentences without their full stop; none where it can be run. */
export function documentErrors(schema: GraphQLSchema, text: string): readonly string[] {
  if (text.trim() === '') return ['must not be empty']
  const document = prepareDocument(schema, text, createPlanCache())
  if ('errors' in document) return document.errors.map(({ message }) => `is refused: ${message.replace(/\.$/, '')}`)
  if (document.operations.length === 0) return ['is refused: it holds no operation']
  return document.operations.flatMap(({ node, cost }) => {
    const least = cost(cheapestVariables(node))
    const called = node.name ? `its operation ${node.name.value}` : 'its operation'
    return least > limits.cost ? [`is refused: ${called} costs ${least} at least, and may cost ${limits.cost}`] : []
  })
}

/** Variables by which an operation costs least: no list has a size, where it depends on them. */
function cheapestVariables({ variableDefinitions = [] }: OperationDefinitionNode): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    variableDefinitions.map(({ variable, type }) => {
      const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type
      return [variable.name.value, inner.kind === Kind.LIST_TYPE ? [] : 0]
    }),
  )
}
