import { hasInputVariable, operationTypeOf, type TypedDocument, textOf } from './documents.ts'
import type { Receipt, RequestOptions } from './rest.ts'
import { type OutgoingRequest, type Received, serviceErrorOf, type Transport } from './transport.ts'

/** The variables of a document, with an optional idempotency key: the client creates a missing key. */
type KeyOptional<Variables> = Variables extends { readonly input: infer Input }
  ? Omit<Variables, 'input'> & { readonly input: WithOptionalKey<Input> }
  : Variables

type WithOptionalKey<Input> = Input extends { readonly idempotencyKey: infer Key }
  ? Omit<Input, 'idempotencyKey'> & { readonly idempotencyKey?: Key }
  : Input

export type GraphqlResult<Result> = Receipt & {
  readonly data: Result
  /** The key of a mutation; `null` for a query. */
  readonly idempotencyKey: string | null
}

/** The variables; optional if the document requires none. */
export type VariableArguments<Variables> =
  Record<never, never> extends Variables
    ? [variables?: KeyOptional<Variables>, options?: RequestOptions]
    : [variables: KeyOptional<Variables>, options?: RequestOptions]

export type Graphql = {
  /**
   * Runs a query or a mutation. A domain error of a mutation is a member of its result's union: switch on `__typename`.
   *
   * @throws ServiceError for an error of the request as a whole or of a field
   */
  <Result, Variables>(
    document: TypedDocument<Result, Variables>,
    ...rest: VariableArguments<Variables>
  ): Promise<GraphqlResult<Result>>
  (
    document: string,
    variables?: object,
    options?: RequestOptions,
    // biome-ignore lint/suspicious/noExplicitAny: a plain text says nothing of its result.
  ): Promise<GraphqlResult<any>>
}

export type Operation = {
  readonly query: string
  readonly variables?: object | undefined
  readonly operationName?: string | undefined
}

export function createGraphql(transport: Transport): Graphql {
  return async (document: object | string, variables: object = {}, options: RequestOptions = {}) => {
    const { operation, isRepeatable, idempotencyKey } = keyed({ query: textOf(document), variables })
    const headers = new Headers(options.headers)
    headers.set('content-type', 'application/json')
    headers.set('accept', 'application/graphql-response+json')
    const request: OutgoingRequest = {
      path: '/graphql',
      method: 'POST',
      headers,
      body: JSON.stringify(operation),
      isRepeatable,
      idempotencyKey,
      signal: options.signal,
      retry: options.retry ?? {},
    }
    const received = await transport.send(request)
    const { data } = successOf(received, request)
    const { response, attempts } = received
    return { data, idempotencyKey, requestId: response.headers.get('x-request-id'), attempts }
  }
}

/** @throws ServiceError unless the result has data and no errors */
function successOf(received: Received, request: OutgoingRequest) {
  const error = serviceErrorOf(received, request.idempotencyKey)
  const result = error.result as { data?: unknown; errors?: unknown }
  if (!received.response.ok || result.errors || !result.data) throw error
  return { data: result.data as never }
}

/**
 * Adds an idempotency key to the variable `input` of a mutation unless it has one.
 *
 * A mutation with a key may be repeated. A mutation whose input is in the document, or that has several inputs, may not
 * be repeated.
 */
export function keyed(operation: Operation) {
  const { query, variables, operationName } = operation
  if (operationTypeOf(query, operationName) !== 'mutation')
    return { operation, isRepeatable: true, idempotencyKey: null }
  const { input } = (variables ?? {}) as { input?: unknown }
  if (typeof input !== 'object' || input === null || !hasInputVariable(query))
    return { operation, isRepeatable: false, idempotencyKey: null }
  const idempotencyKey = keyOf(input) ?? crypto.randomUUID()
  const changed = { ...operation, variables: { ...variables, input: { ...input, idempotencyKey } } }
  return { operation: changed, isRepeatable: true, idempotencyKey }
}

function keyOf(input: object): string | null {
  return 'idempotencyKey' in input && typeof input.idempotencyKey === 'string' ? input.idempotencyKey : null
}
