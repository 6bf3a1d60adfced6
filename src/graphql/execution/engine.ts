import type {
  ExecutionArgs,
  ExecutionResult,
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
import type { DocumentResult, PreparedDocument, PreparedOperation } from '../documents/prepare-document.ts'
import type { RequestErrors } from '../documents/request-errors.ts'
import { costLimitError, requestError } from '../documents/request-errors.ts'
import type { DocumentRequest, FindDocument } from '../documents/resolve-document.ts'
import { coerceVariables } from '../documents/variables.ts'
import type { PlanRun } from '../plan/runtime.ts'
import type { Fragments } from '../plan/selection.ts'
import { mergeSelections } from '../plan/selection.ts'
import type { ExecutionObserver, GraphqlContext } from '../schema/graphql-context.ts'

export type GraphqlRequest = DocumentRequest & {
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
}

/**
 * `planned` executes operations with plans, and falls back to graphql-js. `reference` uses only graphql-js. `planned`
 * and `reference` have the same responses, limits, costs and prechecks.
 */
export type Executor = 'planned' | 'reference'

/** No function of the engine throws. The result of a function contains the errors. */
export type Engine = {
  readonly schema: GraphQLSchema
  readonly findDocument: FindDocument
  readonly selectOperation: (
    document: PreparedDocument,
    request: OperationSelector,
    observer: ExecutionObserver,
  ) => SelectedOperation | RequestErrors
  /** Checks the scope `read`, the variables, the limits, the cost, and the precheck of a mutation or a subscription. */
  readonly checkOperation: (
    selected: SelectedOperation,
    variables: GraphqlRequest['variables'],
    context: Context & ExecutionObserver,
  ) => CheckedOperation | RejectedOperation
  readonly execute: (checked: CheckedOperation) => Promise<ExecutionOutcome>
  readonly subscribe: (checked: CheckedOperation, signal: AbortSignal) => Promise<ExecutionOutcome>
  /** `run` returns null for a subscription, without running the subscription. */
  readonly run: (request: GraphqlRequest, context: Context & ExecutionObserver) => Promise<ExecutionOutcome | null>
}

type OperationSelector = { readonly operationName: string | null; readonly isReadOnly: boolean }

export type SelectedOperation = { readonly document: PreparedDocument; readonly operation: PreparedOperation }

type CheckedOperation = SelectedOperation & {
  readonly args: ExecutionArgs & { readonly contextValue: GraphqlContext }
  readonly variables: VariableValues
  readonly cost: number
}

export type RejectedOperation = RequestErrors & { readonly cost: number | null }

/**
 * If `result` has no `data`, the request was rejected before its operation began. `operation` is null if no operation
 * began.
 */
export type ExecutionOutcome = {
  readonly result: ExecutionResult | SerializedResult | AsyncIterable<ExecutionResult>
  readonly operation: OperationTypeNode | null
  readonly cost: number | null
}

export type SerializedResult = { readonly dataText: string }

/** By default, the engine accepts any document. */
export function createEngine(
  schema: GraphQLSchema,
  { executor, find = resolveByTextOnly(schema) }: { executor: Executor; find?: FindDocument },
): Engine {
  const isPlanned = executor === 'planned'

  function selectOperation(
    document: PreparedDocument,
    { operationName, isReadOnly }: OperationSelector,
    observer: ExecutionObserver,
  ): SelectedOperation | RequestErrors {
    const operation = findOperation(document.operations, operationName)
    if (operation instanceof GraphQLError) return { errors: [operation] }
    observer.onOperation?.(operation.node, document.isTrusted === true)
    if (isReadOnly && operation.node.operation === 'mutation') {
      return { errors: [requestError('METHOD_NOT_ALLOWED', 'A mutation must be sent as a POST.')] }
    }
    return { document, operation }
  }

  function checkOperation(
    { document, operation }: SelectedOperation,
    rawVariables: GraphqlRequest['variables'],
    context: Context & ExecutionObserver,
  ): CheckedOperation | RejectedOperation {
    const { node, cost, readVariables, precheck } = operation
    if (node.operation !== 'mutation' && !hasScope(context.caller, 'read')) {
      const { message } = insufficientScope(context.caller, 'read')
      return { errors: [requestError('INSUFFICIENT_SCOPE', message)], cost: null }
    }
    const exceededLimit = exceededVariableLimit(rawVariables)
    if (exceededLimit) return { errors: [requestError('QUERY_TOO_COMPLEX', exceededLimit)], cost: null }
    const contextValue: GraphqlContext = { ...context, loaders: new Map() }
    const args = {
      schema,
      document: document.node,
      operationName: node.name?.value ?? null,
      contextValue,
      variableValues: rawVariables,
      options: { maxCoercionErrors: 5 },
    }
    const variables = (isPlanned ? readVariables(rawVariables) : null) ?? coerceVariables(args)
    if ('errors' in variables) return { ...variables, cost: null }
    const currentCost = cost(variables.coerced)
    if (currentCost > limits.cost) return { errors: [costLimitError(currentCost)], cost: currentCost }
    const errors = precheck(context.caller, variables)
    if (errors.length > 0) return { errors, cost: currentCost }
    return { document, operation, args, variables, cost: currentCost }
  }

  async function execute({ document, operation, args, variables, cost }: CheckedOperation): Promise<ExecutionOutcome> {
    const { node, planFor } = operation
    const run: PlanRun = { context: args.contextValue, variables, executedMutation: null }
    let planError: unknown = null
    try {
      const plan = isPlanned ? planFor(variables) : null
      if (plan) return { result: { dataText: await plan(run) }, operation: node.operation, cost }
    } catch (error) {
      // After a plan has thrown an error, graphql-js executes the operation again and reports the error. A mutation
      // that has begun does not run again.
      planError = error
      run.context.loaders.clear()
    }
    const contextValue = isUnavailable(planError) ? withoutDatabase(run.context, planError) : run.context
    const valid = validateExecutionArgs({ ...args, contextValue, rootValue: run.executedMutation ?? undefined })
    const result: ExecutionResult = 'schema' in valid ? await executeRootSelectionSet(valid) : { errors: valid }
    if (planError !== null && !result.errors) run.context.onPlanFault?.(planError)
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
    run: async (request, context) => {
      const { operationName, variables } = request
      const finding = find(request, context.merchantId)
      const document: DocumentResult = finding instanceof Promise ? await finding : finding
      if ('errors' in document) return rejectedOutcome(document)
      const selected = selectOperation(document, { operationName, isReadOnly: false }, context)
      if ('errors' in selected) return rejectedOutcome(selected)
      if (selected.operation.node.operation === 'subscription') return null
      const checked = checkOperation(selected, variables, context)
      return 'errors' in checked ? rejectedOutcome(checked) : execute(checked)
    },
  }
}

function resolveByTextOnly(schema: GraphQLSchema): FindDocument {
  const findByText = createDocumentCache(schema)
  return ({ query }) => findByText(query ?? '')
}

function isUnavailable(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code === 'UNAVAILABLE'
}

/** If the database was unavailable for the plan, graphql-js must not wait for the database again. */
function withoutDatabase(context: GraphqlContext, error: DomainError): GraphqlContext {
  return { ...context, db: { ...context.db, execute: () => Promise.reject(error) } }
}

export function rejectedOutcome({ errors, cost = null }: RequestErrors & Partial<RejectedOperation>): ExecutionOutcome {
  return { result: { errors }, operation: null, cost }
}

function findOperation(
  operations: readonly PreparedOperation[],
  name: string | null,
): PreparedOperation | GraphQLError {
  const matching = name === null ? operations : operations.filter(({ node }) => node.name?.value === name)
  if (matching.length === 1 && matching[0]) return matching[0]
  if (name !== null) return requestError('INVALID_DOCUMENT', `There is no operation named "${name}".`)
  return requestError(
    'INVALID_DOCUMENT',
    operations.length === 0 ? 'The document has no operation.' : 'Set operationName to the operation to run.',
  )
}

/** Sorts errors by their position in the response, so that their order does not depend on timing. */
function sortErrors(
  result: ExecutionResult,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): ExecutionResult {
  if (!result.errors || result.errors.length < 2) return result
  const located = result.errors.map((error) => ({ error, position: errorPositionOf(error, operation, fragments) }))
  located.sort((one, other) => comparePositions(one.position, other.position))
  return { ...result, errors: located.map(({ error }) => error) }
}

function errorPositionOf(
  { path }: GraphQLError,
  { selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
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
  const at = one.findIndex((index, i) => index !== other[i])
  return at < 0 ? one.length - other.length : (one[at] ?? 0) - (other[at] ?? -1)
}
