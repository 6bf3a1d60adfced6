import type {
  ExecutionArgs,
  ExecutionResult,
  FragmentDefinitionNode,
  GraphQLSchema,
  OperationDefinitionNode,
  OperationTypeNode,
  SelectionSetNode,
  VariableValues,
} from 'graphql'
import { executeRootSelectionSet, GraphQLError, subscribe, validateExecutionArgs } from 'graphql'
import { DomainError } from '../../core/errors.ts'
import { hasScope, insufficientScope } from '../../operations/access/api-caller.ts'
import type { Context } from '../../operations/context.ts'
import { createDocumentCache } from '../documents/document-caches.ts'
import { exceededVariableLimit, limits } from '../documents/limits.ts'
import type { PreparedDocument, PreparedOperation, RequestErrors } from '../documents/prepare-document.ts'
import { requestError, withCode } from '../documents/request-errors.ts'
import type { DocumentRequest, FindDocument } from '../documents/resolve-document.ts'
import type { PlanRun } from '../plan/runtime.ts'
import { mergeSelections } from '../plan/selection.ts'
import type { ExecutionObserver, GraphqlContext } from '../schema/graphql-context.ts'

/** A request as the protocol has it, with parts of the right types. */
export type GraphqlRequest = DocumentRequest & {
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
}

/**
 * Answers requests against one schema, step by step, for whoever has a place for each; `run` takes them all. No step throws,
 * and an operation's faults are in the result as they were thrown.
 */
export type Engine = {
  readonly schema: GraphQLSchema
  /** The document that is asked for, parsed and checked. */
  readonly findDocument: FindDocument
  /** Finds the operation that is asked for, and tells `asking` of it; a mutation only where it may change something. */
  readonly selectOperation: (
    document: PreparedDocument,
    request: OperationSelector,
    asking: ExecutionObserver,
  ) => SelectedOperation | RequestErrors
  /**
   * Reads the variables, for the cost and for whatever runs the operation, and holds them to their limits; and checks what a
   * mutation or a subscription selects, before it begins.
   */
  readonly checkOperation: (
    chosen: SelectedOperation,
    variables: GraphqlRequest['variables'],
    asking: Context & ExecutionObserver,
  ) => CheckedOperation | RejectedOperation
  /** Runs a query or a mutation. */
  readonly execute: (checked: CheckedOperation) => Promise<ExecutionOutcome>
  /** Begins a subscription, which `signal` ends. */
  readonly subscribe: (checked: CheckedOperation, signal: AbortSignal) => Promise<ExecutionOutcome>
  /** All of it for what has one result; a subscription, which may have many, is not run and gives `null`. */
  readonly run: (request: GraphqlRequest, asking: Context & ExecutionObserver) => Promise<ExecutionOutcome | null>
}

/** Which operation of a document is asked for, and whether it may be a mutation. */
type OperationSelector = { readonly operationName: string | null; readonly isReadOnly: boolean }

/** An operation that is to be run. */
export type SelectedOperation = { readonly document: PreparedDocument; readonly operation: PreparedOperation }

/** An operation whose variables are read and whose cost is within the limit. */
type CheckedOperation = SelectedOperation & {
  readonly args: ExecutionArgs & { readonly contextValue: GraphqlContext }
  readonly variables: VariableValues
  readonly cost: number
}

/** Why an operation is not run; its cost where that is known. */
export type RejectedOperation = RequestErrors & { readonly cost: number | null }

/**
 * What came of a request. Without `data` it was refused before anything ran; the code of its error says why.
 *
 * `cost` is known as soon as the operation is; `operation` says what was run, and is `null` where nothing was.
 */
export type ExecutionOutcome = {
  readonly result: ExecutionResult | SerializedResult | AsyncIterable<ExecutionResult>
  readonly operation: OperationTypeNode | null
  readonly cost: number | null
}

/** A result without errors whose `data` is JSON text already. */
export type SerializedResult = { readonly dataText: string }

/**
 * An engine that runs the documents which `find` finds: unless said otherwise those that are sent, each parsed, checked and planned
 * once.
 *
 * What can be planned is (`plan/plan.ts`), at its first use; everything else is run by graphql-js, and so is whatever meets an
 * error when it runs by a plan. Both ways answer alike: tests turn the plans off to see that.
 */
export function createEngine(
  schema: GraphQLSchema,
  { isPlanned, find = resolveByTextOnly(schema) }: { isPlanned: boolean; find?: FindDocument },
): Engine {
  function selectOperation(
    document: PreparedDocument,
    { operationName, isReadOnly }: OperationSelector,
    asking: ExecutionObserver,
  ): SelectedOperation | RequestErrors {
    const operation = findOperation(document.operations, operationName)
    if (operation instanceof GraphQLError) return { errors: [operation] }
    asking.onOperation?.(operation.node, document.isTrusted === true)
    if (isReadOnly && operation.node.operation === 'mutation') {
      return { errors: [requestError('METHOD_NOT_ALLOWED', 'A mutation must be sent as a POST.')] }
    }
    return { document, operation }
  }

  function checkOperation(
    { document, operation }: SelectedOperation,
    variables: GraphqlRequest['variables'],
    asking: Context & ExecutionObserver,
  ): CheckedOperation | RejectedOperation {
    const { node, cost, readVariables, precheck } = operation
    if (node.operation !== 'mutation' && !hasScope(asking.caller, 'read')) {
      return {
        errors: [requestError('INSUFFICIENT_SCOPE', insufficientScope(asking.caller, 'read').message)],
        cost: null,
      }
    }
    const excess = exceededVariableLimit(variables)
    if (excess) return { errors: [requestError('QUERY_TOO_COMPLEX', excess)], cost: null }
    const context: GraphqlContext = { ...asking, loaders: new Map() }
    const args = {
      schema,
      document: document.node,
      operationName: node.name?.value ?? null,
      contextValue: context,
      variableValues: variables,
      options: { maxCoercionErrors: 5 },
    }
    const read = readVariables(variables) ?? coerceVariables(args)
    if ('errors' in read) return { ...read, cost: null }
    const costNow = cost(read.coerced)
    if (costNow > limits.cost) return { errors: [costLimitError(costNow)], cost: costNow }
    const errors = precheck(asking.caller, read)
    if (errors.length > 0) return { errors, cost: costNow }
    return { document, operation, args, variables: read, cost: costNow }
  }

  async function execute({ document, operation, args, variables, cost }: CheckedOperation): Promise<ExecutionOutcome> {
    const { node, planFor } = operation
    const run: PlanRun = { context: args.contextValue, variables, executedMutation: null }
    let fault: unknown = null
    try {
      const plan = isPlanned ? planFor(variables) : null
      if (plan) return { result: { dataText: await plan(run) }, operation: node.operation, cost }
    } catch (error) {
      // graphql-js meets the error again, and words it; what a mutation has come to by then is done.
      fault = error
      run.context.loaders.clear()
    }
    const contextValue = isUnavailable(fault) ? withoutDatabase(run.context, fault) : run.context
    const ready = validateExecutionArgs({ ...args, contextValue, rootValue: run.executedMutation ?? undefined })
    const result: ExecutionResult = 'schema' in ready ? await executeRootSelectionSet(ready) : { errors: ready }
    if (fault !== null && !result.errors) run.context.onPlanFault?.(fault)
    return { result: sortErrors(result, node, document.fragments), operation: node.operation, cost }
  }

  return {
    schema,
    findDocument: find,
    selectOperation,
    checkOperation,
    execute,
    subscribe: async ({ operation, args, cost }, signal) => {
      const result = await subscribe({ ...args, abortSignal: signal })
      return { result, operation: operation.node.operation, cost }
    },
    run: async (request, asking) => {
      const { operationName, variables } = request
      const found = find(request, asking.merchantId)
      const document = found instanceof Promise ? await found : found
      if ('errors' in document) return rejectedOutcome(document)
      const chosen = selectOperation(document, { operationName, isReadOnly: false }, asking)
      if ('errors' in chosen) return rejectedOutcome(chosen)
      if (chosen.operation.node.operation === 'subscription') return null
      const checked = checkOperation(chosen, variables, asking)
      return 'errors' in checked ? rejectedOutcome(checked) : execute(checked)
    },
  }
}

function resolveByTextOnly(schema: GraphQLSchema): FindDocument {
  const remembered = createDocumentCache(schema)
  return ({ query }) => remembered(query ?? '')
}

/** Characters of variables up to which an error suggests what may have been meant: the comparison takes long for long texts. */
const maxSuggestedLength = 10_000

/** The variables as graphql-js reads them, or what it says is wrong with them. */
function coerceVariables(args: ExecutionArgs): VariableValues | RequestErrors {
  const isLong = JSON.stringify(args.variableValues ?? {}).length > maxSuggestedLength
  const ready = validateExecutionArgs({ ...args, hideSuggestions: isLong })
  return 'schema' in ready ? ready.variableValues : { errors: ready.map((error) => withCode(error, 'INVALID_INPUT')) }
}

/** Whether the store took no request. */
function isUnavailable(fault: unknown): fault is DomainError {
  return fault instanceof DomainError && fault.code === 'UNAVAILABLE'
}

/** The same where every read is refused at once: a store that was away just now is not asked, and waited for, once more. */
function withoutDatabase(context: GraphqlContext, fault: DomainError): GraphqlContext {
  return { ...context, db: { ...context.db, execute: () => Promise.reject(fault) } }
}

/** What came of a request of which nothing was run. */
export function rejectedOutcome({ errors, cost = null }: RequestErrors & Partial<RejectedOperation>): ExecutionOutcome {
  return { result: { errors }, operation: null, cost }
}

function findOperation(
  operations: readonly PreparedOperation[],
  name: string | null,
): PreparedOperation | GraphQLError {
  const found = name === null ? operations : operations.filter(({ node }) => node.name?.value === name)
  if (found.length === 1 && found[0]) return found[0]
  if (name !== null) return requestError('INVALID_DOCUMENT', `There is no operation named "${name}".`)
  return requestError(
    'INVALID_DOCUMENT',
    operations.length === 0 ? 'The document holds no operation.' : 'Say with operationName which operation to run.',
  )
}

function costLimitError(cost: number): GraphQLError {
  return requestError(
    'QUERY_TOO_COMPLEX',
    `The query costs ${cost}: its fields times the sizes of the lists that they are in may be at most ${limits.cost}.`,
  )
}

/** A result with its errors in the order of the document, whichever of them came first. */
export function sortErrors(
  result: ExecutionResult,
  operation: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): ExecutionResult {
  if (!result.errors || result.errors.length < 2) return result
  const placed = result.errors.map((error) => ({ error, places: errorPositionOf(error, operation, fragments) }))
  placed.sort((one, other) => comparePositions(one.places, other.places))
  return { ...result, errors: placed.map(({ error }) => error) }
}

/** Where an error stands: the place of each step of its path, in its list or among the fields that are selected there. */
function errorPositionOf(
  { path }: GraphQLError,
  { selectionSet }: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): number[] {
  let sets: readonly SelectionSetNode[] = [selectionSet]
  return (path ?? []).map((step) => {
    if (typeof step === 'number') return step
    const { fields } = mergeSelections(sets, (name) => fragments[name])
    sets = (fields.get(step) ?? []).flatMap((field) => field.selectionSet ?? [])
    return [...fields.keys()].indexOf(step)
  })
}

function comparePositions(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((place, i) => place !== other[i])
  return at < 0 ? one.length - other.length : (one[at] ?? 0) - (other[at] ?? -1)
}
