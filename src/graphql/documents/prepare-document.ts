import type {
  DocumentNode,
  FragmentDefinitionNode,
  GraphQLError,
  GraphQLSchema,
  OperationDefinitionNode,
} from 'graphql'
import { Kind, NoFragmentCyclesRule, NoUnusedFragmentsRule, parse, UniqueFragmentNamesRule, validate } from 'graphql'
import type { KeptPlans, PlanFor } from '../plan/plans.ts'
import { plansOf } from '../plan/plans.ts'
import type { Cost } from './cost.ts'
import { costOf } from './cost.ts'
import { excessOf, excessOfPairs, limits } from './limits.ts'
import type { Precheck } from './precheck.ts'
import { precheckOf } from './precheck.ts'
import { invalidDocument, requestError } from './request-errors.ts'
import type { ReadVariables } from './variables.ts'
import { variablesReader } from './variables.ts'

/** A document that is valid and within the limits, with what is known of it once for all requests. */
export type Document = {
  readonly node: DocumentNode
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly operations: readonly Operation[]
  /** Set where it is one of those that an operator has added. */
  readonly isTrusted?: true
}

/** One of a document's operations. */
export type Operation = {
  readonly node: OperationDefinitionNode
  readonly cost: Cost
  readonly readVariables: ReadVariables
  readonly precheck: Precheck
  readonly planFor: PlanFor
}

/** What is wrong with a document, in its place. */
export type Faulty = { readonly errors: readonly GraphQLError[] }

/** Each fragment has a name of its own, and an operation that spreads it: so none is there beside those that are measured. */
const fragmentRules = [UniqueFragmentNamesRule, NoFragmentCyclesRule, NoUnusedFragmentsRule]

/** Parses and checks a document: its size first, because validation takes long for what is too large. */
export function prepare(schema: GraphQLSchema, query: string, plans: KeptPlans): Document | Faulty {
  if (query.length > limits.characters) {
    return { errors: [requestError('QUERY_TOO_COMPLEX', `A query may have at most ${limits.characters} characters.`)] }
  }
  let node: DocumentNode
  try {
    node = parse(query, { maxTokens: limits.tokens })
  } catch (error) {
    return { errors: [invalidDocument(error as GraphQLError)] }
  }
  const excess = excessOf(node)
  if (excess) return { errors: [requestError('QUERY_TOO_COMPLEX', excess)] }
  // What is measured is what operations come to; validation looks at every fragment, also at those that none comes to.
  const stray = validate(schema, node, fragmentRules, { maxErrors: 20 })
  if (stray.length > 0) return { errors: stray.map(invalidDocument) }
  const excessive = excessOfPairs(node)
  if (excessive) return { errors: [requestError('QUERY_TOO_COMPLEX', excessive)] }
  const errors = validate(schema, node, undefined, { maxErrors: 20 })
  if (errors.length > 0) return { errors: errors.map(invalidDocument) }

  const operations = node.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
  const fragments = fragmentsOf(node)
  const money = operations.map((each) => moneyMovesIn(schema, each, fragments))
  if (money.some((count) => count > 1)) {
    return { errors: [requestError('QUERY_TOO_COMPLEX', 'A request may move money at most once.')] }
  }
  return {
    node,
    fragments,
    operations: operations.map((each) => ({
      node: each,
      cost: costOf(schema, each, fragments),
      readVariables: variablesReader(schema, each),
      precheck: precheckOf(schema, each, fragments),
      planFor: plansOf(each, { schema, fragments }, plans),
    })),
  }
}

function fragmentsOf(document: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments = document.definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION)
  return Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]))
}

/** How many of an operation's own fields move money. */
function moneyMovesIn(
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
