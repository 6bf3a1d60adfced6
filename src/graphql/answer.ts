import type { FastifyBaseLogger } from 'fastify'
import type { ExecutionResult, OperationDefinitionNode, OperationTypeNode } from 'graphql'
import { GraphQLError } from 'graphql'
import type { Service } from '../context.ts'
import { createContext } from '../context.ts'
import { refusalText } from '../doors/refusal-text.ts'
import type { ErrorCode } from '../errors.ts'
import { Refusal } from '../errors.ts'
import { formatAmount } from '../money/amount.ts'
import type { Engine, GraphqlRequest, Outcome } from './engine.ts'
import { limits } from './limits.ts'

/** A request that was admitted, and what it needs to be answered. */
export type Asked = {
  readonly service: Service
  readonly engine: Engine
  readonly merchantId: string
  readonly requestId: string
  readonly log: FastifyBaseLogger
}

/**
 * A result as it goes out, and what was run for it, `null` where nothing was; `httpStatus` is another than 200 where HTTP itself
 * has a word for what went wrong.
 */
export type Answer = {
  readonly operation: OperationTypeNode | null
  readonly result: FormattedResult | AsyncIterable<FormattedResult>
  readonly httpStatus: number
  readonly seen: Seen
}

/** What the log may say of a request: type and name of its operation, and why what was refused was. */
export type Seen = { readonly operation: string | null; readonly codes: readonly string[] }

export type FormattedResult = ExecutionResult & { extensions: { requestId: string; cost?: object } }

/** Runs a request for its merchant, and says what went wrong in words and codes that a caller may see. */
export async function answer(
  request: GraphqlRequest,
  asked: Asked,
  options: { readonly isReadOnly: boolean; readonly signal?: AbortSignal },
): Promise<Answer> {
  const watched = { operation: null as string | null, codes: new Set<string>() }
  const context = {
    ...createContext(asked.service, asked.merchantId),
    onOperation: (node: OperationDefinitionNode) => {
      watched.operation = operationText(node)
    },
    onRefusal: (code: ErrorCode) => {
      watched.codes.add(code)
    },
  }
  const outcome = await asked.engine.run(request, context, options)
  const { result, operation } = outcome
  if (Symbol.asyncIterator in result) {
    return { result: formatEach(result, outcome, asked), operation, httpStatus: 200, seen: { ...watched, codes: [] } }
  }
  if ('dataText' in result) {
    const extensions = { requestId: asked.requestId, cost: { requested: outcome.cost, limit: limits.cost } }
    return {
      result: { dataText: result.dataText, extensions } as never,
      operation,
      httpStatus: 200,
      seen: { ...watched, codes: [...watched.codes] },
    }
  }
  const formatted = formatResult(result, outcome, asked)
  for (const { extensions } of formatted.errors ?? []) watched.codes.add(String(extensions?.code))
  const seen = { ...watched, codes: [...watched.codes] }
  return { result: formatted, operation, httpStatus: statusOf(result), seen }
}

/** A caller names its operations, so of a name only so much is logged, and no number that may be one of an account. */
function operationText({ operation, name }: OperationDefinitionNode): string {
  const shown = name?.value.slice(0, 60).replace(/\d{6,}/g, '_')
  return shown === undefined ? operation : `${operation} ${shown}`
}

/** What cannot be answered at all, in the form of a result. */
export function failedResult(refusal: Refusal, requestId: string): FormattedResult {
  return { errors: [errorOf(refusal, requestId)], extensions: { requestId } }
}

async function* formatEach(results: AsyncIterable<ExecutionResult>, outcome: Outcome, asked: Asked) {
  for await (const result of results) yield formatResult(result, outcome, asked)
}

export function bodyOf(result: FormattedResult & { dataText?: string }): string {
  const { dataText, extensions } = result
  return dataText === undefined
    ? JSON.stringify(result)
    : `{"data":${dataText},"extensions":${JSON.stringify(extensions)}}`
}

function formatResult(result: ExecutionResult, { cost }: Outcome, asked: Asked): FormattedResult {
  const { requestId } = asked
  return {
    ...(result.errors && { errors: result.errors.map((error) => formatError(error, asked)) }),
    ...('data' in result && { data: result.data }),
    extensions: { requestId, ...(cost !== null && { cost: { requested: cost, limit: limits.cost } }) },
  }
}

function formatError(error: GraphQLError, { requestId, log }: Asked): GraphQLError {
  // What graphql-js finds wrong with the arguments of a field is wrapped once more, and no resolver throws such an error.
  const originalError = error.originalError instanceof GraphQLError ? undefined : error.originalError
  if (typeof error.extensions?.code === 'string' && !originalError) return errorOf(error, requestId)
  if (originalError instanceof Refusal) {
    if (originalError.code === 'UNAVAILABLE') {
      log.error(
        { request_id: requestId, err: originalError.cause ?? originalError },
        'the store did not take a request',
      )
    }
    return errorOf(originalError, requestId, error)
  }
  // A null that a variable brought to an argument that takes none is found only when the field is reached.
  if (!originalError && error.message.startsWith('Argument "')) {
    return errorOf(new Refusal('INVALID_INPUT', error.message), requestId, error)
  }
  log.error({ request_id: requestId, err: originalError ?? error, path: error.path }, 'a field failed')
  return errorOf(
    new Refusal('INTERNAL', 'The service failed. The request id names the entry in its log.'),
    requestId,
    error,
  )
}

function errorOf(source: Refusal | GraphQLError, requestId: string, at: GraphQLError | null = null): GraphQLError {
  if (source instanceof Refusal) {
    const { message, fields } = refusalText(source, {})
    const { available, required } = source.details
    return withExtensions(message, at, {
      code: source.code,
      requestId,
      ...(fields && { fields }),
      ...(available !== undefined && { available: formatAmount(available) }),
      ...(required !== undefined && { required: formatAmount(required) }),
    })
  }
  return withExtensions(source.message, source, { ...source.extensions, requestId })
}

function withExtensions(message: string, at: GraphQLError | null, extensions: Record<string, unknown>): GraphQLError {
  const formatted = new GraphQLError(message, { ...(at?.path && { path: at.path }), extensions })
  // The text of the document is gone by now; where it was wrong is known.
  if (at?.locations) Object.defineProperty(formatted, 'locations', { value: at.locations, enumerable: true })
  return formatted
}

/** The status of a result: its own errors are in the body, but a wrong method and a store that takes nothing are HTTP's. */
function statusOf({ data, errors = [] }: ExecutionResult): number {
  // Where one field has been answered it is a success, though another has failed.
  if (data && Object.values(data).some((value) => value !== null)) return 200
  const codes = errors.map(({ extensions, originalError }) =>
    originalError instanceof Refusal ? originalError.code : extensions?.code,
  )
  if (codes.includes('METHOD_NOT_ALLOWED')) return 405
  return codes.includes('UNAVAILABLE') ? 503 : 200
}
