import type {
  ExecutionArgs,
  ExecutionResult,
  GraphQLSchema,
  OperationDefinitionNode,
  OperationTypeNode,
  ValidatedExecutionArgs,
  VariableValues,
} from 'graphql'
import { executeRootSelectionSet, GraphQLError, getArgumentValues, subscribe, validateExecutionArgs } from 'graphql'
import type { Context } from '../context.ts'
import { narrowedTo } from '../database/narrow.ts'
import { compile, onlyField } from './compile.ts'
import type { Document, Faulty, Operation } from './documents.ts'
import { rememberDocuments } from './documents.ts'
import { inDocumentOrder } from './fault-order.ts'
import type { GraphqlContext, MutationOnce, Watching } from './graphql-context.ts'
import { excessOfVariables, limits } from './limits.ts'
import { requestError, withCode } from './request-errors.ts'

/** A request as the protocol has it, with parts of the right types. */
export type GraphqlRequest = {
  readonly query: string
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
}

/**
 * Answers requests against one schema, step by step, for whoever has a place for each; `run` takes them all. No step throws,
 * and an operation's faults are in the result as they were thrown.
 */
export type Engine = {
  readonly schema: GraphQLSchema
  /** Parses and checks a document, or knows it again. */
  readonly prepare: (query: string) => Document | Faulty
  /** Finds the operation that is asked for, and tells `asking` of it; a mutation only where it may change something. */
  readonly choose: (document: Document, request: Choice, asking: Watching) => Chosen | Faulty
  /** Reads the variables, for the cost and for whatever runs the operation, and holds them to their limits. */
  readonly check: (
    chosen: Chosen,
    variables: GraphqlRequest['variables'],
    asking: Context & Watching,
  ) => Checked | Refused
  /** Runs a query or a mutation. */
  readonly execute: (checked: Checked) => Promise<Outcome>
  /** Begins a subscription, which `signal` ends. */
  readonly subscribe: (checked: Checked, signal: AbortSignal) => Promise<Outcome>
  /** All of it for what has one result; a subscription, which may have many, is not run and gives `null`. */
  readonly run: (request: GraphqlRequest, asking: Context & Watching) => Promise<Outcome | null>
}

/** Which operation of a document is asked for, and whether it may be a mutation. */
export type Choice = { readonly operationName: string | null; readonly isReadOnly: boolean }

/** An operation that is to be run. */
export type Chosen = { readonly document: Document; readonly operation: Operation }

/** An operation whose variables are read and whose cost is within the limit. */
export type Checked = Chosen & {
  readonly args: ExecutionArgs & { readonly contextValue: GraphqlContext }
  readonly ready: ValidatedExecutionArgs
  readonly cost: number
}

/** Why an operation is not run; its cost where that is known. */
export type Refused = Faulty & { readonly cost: number | null }

/**
 * What came of a request. Without `data` it was refused before anything ran; the code of its error says why.
 *
 * `cost` is known as soon as the operation is; `operation` says what was run, and is `null` where nothing was.
 */
export type Outcome = {
  readonly result: ExecutionResult | WrittenResult | AsyncIterable<ExecutionResult>
  readonly operation: OperationTypeNode | null
  readonly cost: number | null
}

/** A result without errors whose `data` is JSON text already. */
export type WrittenResult = { readonly dataText: string }

/**
 * When a document is compiled: when it comes `again`, which is what pays; at once or never only in tests, which hold both
 * ways to the same answers.
 */
export type Compiling = 'again' | 'at once' | 'never'

/**
 * An engine that parses, checks and compiles each document once.
 *
 * A document that comes again is compiled to a function where it can be, which answers large lists in less than half the
 * time; one that comes once is not worth that. Both ways answer alike.
 */
export function createEngine(schema: GraphQLSchema, { compiling }: { compiling: Compiling }): Engine {
  const usesBefore = { again: 1, 'at once': 0, never: Number.POSITIVE_INFINITY }[compiling]
  const prepare = rememberDocuments(schema)

  function choose(document: Document, { operationName, isReadOnly }: Choice, asking: Watching): Chosen | Faulty {
    const operation = operationNamed(document.operations, operationName)
    if (operation instanceof GraphQLError) return { errors: [operation] }
    asking.onOperation?.(operation.node)
    if (isReadOnly && operation.node.operation === 'mutation') {
      return { errors: [requestError('METHOD_NOT_ALLOWED', 'A mutation must be sent as a POST.')] }
    }
    return { document, operation }
  }

  function check(
    { document, operation }: Chosen,
    variables: GraphqlRequest['variables'],
    asking: Context & Watching,
  ): Checked | Refused {
    const { node, cost, columns } = operation
    const excess = excessOfVariables(variables)
    if (excess) return { errors: [requestError('QUERY_TOO_COMPLEX', excess)], cost: null }
    const rows = { ...asking, db: narrowedTo(asking.db, columns) }
    const context: GraphqlContext = { ...asking, rows, loaders: new Map(), mutation: null }
    const args = {
      schema,
      document: document.node,
      operationName: node.name?.value ?? null,
      contextValue: context,
      variableValues: variables,
      options: { maxCoercionErrors: 5 },
    }
    const ready = validateExecutionArgs(args)
    if (!('schema' in ready)) return { errors: ready.map((error) => withCode(error, 'INVALID_INPUT')), cost: null }
    const costNow = cost(ready.variableValues.coerced)
    if (costNow > limits.cost) return { errors: [tooCostly(costNow)], cost: costNow }
    return { document, operation, args, ready, cost: costNow }
  }

  async function execute({ document, operation, args, ready, cost }: Checked): Promise<Outcome> {
    const { node } = operation
    const { contextValue: context, variableValues } = args
    operation.uses++
    if (operation.uses > usesBefore) {
      if (operation.compiled === undefined) operation.compiled = compile(schema, document.node, node)
      const { compiled } = operation
      if (compiled) {
        context.mutation = mutationOnce(schema, node, ready.variableValues)
        if (node.operation === 'query' || context.mutation) {
          const result = await compiled(undefined, context, variableValues ?? {})
          if (!result.errors) return { result, operation: node.operation, cost }
          // It words and counts errors in ways of its own: the interpreter answers what does not go well, with what the
          // mutation has come to by then.
          context.loaders.clear()
        }
      }
    }
    const result = inDocumentOrder(await executeRootSelectionSet(ready), node, document.fragments)
    return { result, operation: node.operation, cost }
  }

  return {
    schema,
    prepare,
    choose,
    check,
    execute,
    subscribe: async ({ operation, args, cost }, signal) => {
      const result = await subscribe({ ...args, abortSignal: signal })
      return { result, operation: operation.node.operation, cost }
    },
    run: async ({ query, operationName, variables }, asking) => {
      const document = prepare(query)
      if ('errors' in document) return refused(document)
      const chosen = choose(document, { operationName, isReadOnly: false }, asking)
      if ('errors' in chosen) return refused(chosen)
      if (chosen.operation.node.operation === 'subscription') return null
      const checked = check(chosen, variables, asking)
      return 'errors' in checked ? refused(checked) : execute(checked)
    },
  }
}

/** What came of a request of which nothing was run. */
export function refused({ errors, cost = null }: Faulty & Partial<Refused>): Outcome {
  return { result: { errors }, operation: null, cost }
}

/** What a mutation's only field is given; `null` where it has more, or its input is refused, and for a query. */
function mutationOnce(
  schema: GraphQLSchema,
  node: OperationDefinitionNode,
  variableValues: VariableValues,
): MutationOnce | null {
  const field = node.operation === 'mutation' ? onlyField(node) : null
  const definition = field && schema.getMutationType()?.getFields()[field.name.value]
  if (!field || !definition) return null
  try {
    // The compiler reads variables in a way of its own; what is paid must not depend on it.
    return { input: getArgumentValues(definition, field, variableValues).input, outcome: null }
  } catch {
    return null
  }
}

function operationNamed(operations: readonly Operation[], name: string | null): Operation | GraphQLError {
  const found = name === null ? operations : operations.filter(({ node }) => node.name?.value === name)
  if (found.length === 1 && found[0]) return found[0]
  if (name !== null) return requestError('INVALID_DOCUMENT', `There is no operation named "${name}".`)
  return requestError(
    'INVALID_DOCUMENT',
    operations.length === 0 ? 'The document holds no operation.' : 'Say with operationName which operation to run.',
  )
}

function tooCostly(cost: number): GraphQLError {
  return requestError(
    'QUERY_TOO_COMPLEX',
    `The query costs ${cost}: its fields times the sizes of the lists that they are in may be at most ${limits.cost}.`,
  )
}
