import type {
  DocumentNode,
  ExecutionResult,
  FragmentDefinitionNode,
  GraphQLSchema,
  OperationDefinitionNode,
  OperationTypeNode,
  VariableValues,
} from 'graphql'
import {
  executeRootSelectionSet,
  GraphQLError,
  getArgumentValues,
  Kind,
  NoFragmentCyclesRule,
  NoUnusedFragmentsRule,
  parse,
  subscribe,
  UniqueFragmentNamesRule,
  validate,
  validateExecutionArgs,
} from 'graphql'
import type { Context } from '../context.ts'
import type { Narrowing } from '../database/narrow.ts'
import { narrowedTo } from '../database/narrow.ts'
import type { Compiled } from './compile.ts'
import { compile, onlyField } from './compile.ts'
import type { Cost } from './cost.ts'
import { costOf } from './cost.ts'
import { inDocumentOrder } from './fault-order.ts'
import type { GraphqlContext, MutationOnce, Watching } from './graphql-context.ts'
import { excessOf, excessOfPairs, excessOfVariables, limits } from './limits.ts'
import { columnsOf } from './selected-columns.ts'

/** A request as the protocol has it, with parts of the right types. */
export type GraphqlRequest = {
  readonly query: string
  readonly operationName: string | null
  readonly variables: Readonly<Record<string, unknown>>
}

/** Answers requests against one schema; `run` never throws, and an operation's faults are in the result as they were thrown. */
export type Engine = {
  readonly run: (
    request: GraphqlRequest,
    context: Context & Watching,
    options?: { readonly isReadOnly?: boolean; readonly signal?: AbortSignal },
  ) => Promise<Outcome>
}

/**
 * What came of a request. Without `data` it was refused before anything ran; the code of its error says why.
 *
 * `cost` is known as soon as the operation is; `operation` says what was run, and is `null` where nothing was.
 */
export type Outcome = {
  readonly result: ExecutionResult | AsyncIterable<ExecutionResult>
  readonly operation: OperationTypeNode | null
  readonly cost: number | null
}

/** Why the engine itself refuses a request. */
type RequestErrorCode = 'INVALID_DOCUMENT' | 'QUERY_TOO_COMPLEX' | 'INVALID_INPUT' | 'METHOD_NOT_ALLOWED'

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
  const documents = new Map<string, Prepared>()
  let charactersHeld = 0

  function prepared(query: string): Prepared {
    const known = documents.get(query)
    if (known) {
      // The order of a Map is that of insertion, so the first is the one that was not used for longest.
      documents.delete(query)
      documents.set(query, known)
      return known
    }
    const fresh = prepare(schema, query)
    // A refusal is made again as quickly, and would take the place of a document that is of use.
    if ('errors' in fresh) return fresh
    documents.set(query, fresh)
    charactersHeld += query.length
    for (const oldest of documents.keys()) {
      if (documents.size <= documentsKept && charactersHeld <= charactersKept) break
      documents.delete(oldest)
      charactersHeld -= oldest.length
    }
    return fresh
  }

  return {
    run: async ({ query, operationName, variables }, asking, { isReadOnly = false, signal } = {}) => {
      const document = prepared(query)
      if ('errors' in document) return refused(document.errors)
      const operation = operationNamed(document.operations, operationName)
      if (operation instanceof GraphQLError) return refused([operation])
      const { node, cost, columns } = operation
      asking.onOperation?.(node)
      if (isReadOnly && node.operation === 'mutation') {
        return refused([requestError('METHOD_NOT_ALLOWED', 'A mutation must be sent as a POST.')])
      }

      const excess = excessOfVariables(variables)
      if (excess) return refused([requestError('QUERY_TOO_COMPLEX', excess)])
      const rows = { ...asking, db: narrowedTo(asking.db, columns) }
      const context: GraphqlContext = { ...asking, rows, loaders: new Map(), mutation: null }
      const run = {
        schema,
        document: document.node,
        operationName: node.name?.value ?? null,
        contextValue: context,
        variableValues: variables,
        options: { maxCoercionErrors: 5 },
      }
      // Reads the variables once, for the cost and for whatever runs the operation.
      const ready = validateExecutionArgs(run)
      if (!('schema' in ready)) return refused(ready.map((error) => withCode(error, 'INVALID_INPUT')))
      const { coerced } = ready.variableValues
      const costNow = cost(coerced)
      if (costNow > limits.cost) return refused([tooCostly(costNow)], costNow)

      if (node.operation === 'subscription') {
        return {
          result: await subscribe({ ...run, ...(signal && { abortSignal: signal }) }),
          operation: node.operation,
          cost: costNow,
        }
      }
      operation.uses++
      if (operation.uses > usesBefore) {
        if (operation.compiled === undefined) operation.compiled = compile(schema, document.node, node)
        const { compiled } = operation
        if (compiled) {
          context.mutation = mutationOnce(schema, node, ready.variableValues)
          if (node.operation === 'query' || context.mutation) {
            const result = await compiled(undefined, context, variables)
            if (!result.errors) return { result, operation: node.operation, cost: costNow }
            // It words and counts errors in ways of its own: the interpreter answers what does not go well, with what the
            // mutation has come to by then.
            context.loaders.clear()
          }
        }
      }
      const result = inDocumentOrder(await executeRootSelectionSet(ready), node, document.fragments)
      return { result, operation: node.operation, cost: costNow }
    },
  }
}

/** Documents that are remembered, and their characters: with what is compiled of it, one takes about a hundred bytes. */
const documentsKept = 1_000
const charactersKept = 500_000

type Operation = {
  readonly node: OperationDefinitionNode
  readonly cost: Cost
  readonly columns: Narrowing
  uses: number
  /** `null` for one that can't be compiled. */
  compiled?: Compiled | null
}

/** Each fragment has a name of its own, and an operation that spreads it: so none is there beside those that are measured. */
const fragmentRules = [UniqueFragmentNamesRule, NoFragmentCyclesRule, NoUnusedFragmentsRule]

type Prepared =
  | {
      readonly node: DocumentNode
      readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
      readonly operations: readonly Operation[]
    }
  | { readonly errors: readonly GraphQLError[] }

/** Parses and checks a document: its size first, because validation takes long for what is too large. */
function prepare(schema: GraphQLSchema, query: string): Prepared {
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
      columns: columnsOf(schema, each, fragments),
      uses: 0,
    })),
  }
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

function requestError(code: RequestErrorCode, message: string): GraphQLError {
  return new GraphQLError(shortened(message), { extensions: { code } })
}

/** What graphql-js finds wrong with a document; where it gives up before it has seen all, that is a limit too. */
function invalidDocument(error: GraphQLError): GraphQLError {
  if (error.message.startsWith('Syntax Error: Document contains more than')) {
    return requestError('QUERY_TOO_COMPLEX', `A query may have at most ${limits.tokens} tokens.`)
  }
  if (error.message === 'Validation aborted.') {
    return requestError('QUERY_TOO_COMPLEX', 'A query may not select the same fields so often.')
  }
  return withCode(error, 'INVALID_DOCUMENT')
}

/** Characters of a message: it may repeat what was given, and that may be all of the request. */
const longestMessage = 500

function shortened(message: string): string {
  return message.length > longestMessage ? `${message.slice(0, longestMessage)}…` : message
}

function withCode(error: GraphQLError, code: RequestErrorCode): GraphQLError {
  const { message, nodes, source, positions, path } = error
  return new GraphQLError(shortened(message), { nodes, source, positions, path, extensions: { code } })
}

function refused(errors: readonly GraphQLError[], cost: number | null = null): Outcome {
  return { result: { errors }, operation: null, cost }
}
