import type { FastifyBaseLogger } from 'fastify'
import type { ExecutionResult, OperationDefinitionNode, OperationTypeNode } from 'graphql'
import { GraphQLError } from 'graphql'
import type { ErrorCode } from '../../core/errors.ts'
import { DomainError, formatDomainError } from '../../core/errors.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { limits } from '../documents/limits.ts'
import type { ExecutionObserver, StreamPosition } from '../schema/graphql-context.ts'
import type { Engine, ExecutionOutcome, GraphqlRequest, SerializedResult } from './engine.ts'

/** A request that was admitted, and what it needs to be answered. */
export type AdmittedRequest = {
  readonly service: Service
  readonly engine: Engine
  readonly merchantId: string
  readonly aheadMs?: number
  readonly caller: Caller
  readonly requestId: string
  readonly log: FastifyBaseLogger
  /** What the caller of a stream had last, where it says so. */
  readonly lastEventId?: string | null
}

/** A result as it goes out, and what was run for it, `null` where nothing was. */
export type GraphqlAnswer = {
  readonly operation: OperationTypeNode | null
  readonly result: FormattedResult
  readonly logFields: RequestLogFields
}

/** What the log may say of a request: type and name of its operation, and why what was refused was. */
type RequestLogFields = {
  readonly operation: string | null
  /** Whether the operation is of a trusted document, so that its name is an operator's and not a caller's. */
  readonly isTrusted: boolean
  readonly codes: readonly string[]
}

/** A result in words and codes that a caller may see; `dataText` in the place of `data` where that is JSON text already. */
export type FormattedResult = {
  readonly errors?: readonly GraphQLError[]
  readonly data?: ExecutionResult['data']
  readonly dataText?: string
  readonly extensions: { readonly requestId: string; readonly cost?: object }
}

/** What resolvers work with, and what was seen of the request so far. */
export type RequestExecution = {
  readonly context: Context & ExecutionObserver & { readonly stream: StreamPosition }
  readonly logFields: () => RequestLogFields
}

/** Runs a request for its merchant, and says what went wrong in words and codes that a caller may see; `null` for a subscription. */
export async function executeRequest(request: GraphqlRequest, asked: AdmittedRequest): Promise<GraphqlAnswer | null> {
  const asking = beginExecution(asked)
  const outcome = await asked.engine.run(request, asking.context)
  return outcome && formatOutcome(outcome, asking, asked)
}

/** Begins to answer a request. */
export function beginExecution(asked: AdmittedRequest): RequestExecution {
  const { service, merchantId, aheadMs = 0, caller, requestId, log, lastEventId = null } = asked
  let operation: string | null = null
  let isTrusted = false
  const codes = new Set<string>()
  const context = {
    ...createContext(service, merchantId, null, aheadMs, caller),
    stream: { lastEventId, latestEventId: null },
    onOperation: (node: OperationDefinitionNode, isOfTrusted: boolean) => {
      operation = operationLabel(node)
      isTrusted = isOfTrusted
    },
    onRefusal: (code: ErrorCode) => {
      codes.add(code)
    },
    onPlanFault: (error: unknown) => {
      log.warn({ request_id: requestId, err: error }, 'a plan failed where graphql-js did not')
    },
  }
  return { context, logFields: () => ({ operation, isTrusted, codes: [...codes] }) }
}

/** The answer that has one result. */
export function formatOutcome(
  outcome: ExecutionOutcome,
  { logFields: seen }: RequestExecution,
  asked: AdmittedRequest,
): GraphqlAnswer {
  const result = outcome.result as ExecutionResult | SerializedResult
  const formatted = formatResult(result, outcome, asked)
  const { operation, isTrusted, codes } = seen()
  const ofErrors = (formatted.errors ?? []).map(({ extensions }) => String(extensions?.code))
  return {
    result: formatted,
    operation: outcome.operation,
    logFields: { operation, isTrusted, codes: [...new Set([...codes, ...ofErrors])] },
  }
}

/** The results of a subscription. */
export async function* formatResults(
  results: AsyncIterable<ExecutionResult>,
  outcome: ExecutionOutcome,
  asked: AdmittedRequest,
): AsyncGenerator<FormattedResult> {
  for await (const result of results) yield formatResult(result, outcome, asked)
}

/** The text of a result, which is the same in every form of answer. */
export function serializeResult(result: FormattedResult): string {
  const { dataText, extensions } = result
  return dataText === undefined
    ? JSON.stringify(result)
    : `{"data":${dataText},"extensions":${JSON.stringify(extensions)}}`
}

/** A caller names its operations, so of a name only so much is logged, and no number that may be one of an account. */
function operationLabel({ operation, name }: OperationDefinitionNode): string {
  const shown = name?.value.slice(0, 60).replace(/\d{6,}/g, '_')
  return shown === undefined ? operation : `${operation} ${shown}`
}

/** What cannot be answered at all, in the form of a result. */
export function errorResult(refusal: DomainError, requestId: string): FormattedResult {
  return { errors: [toPublicError(refusal, requestId)], extensions: { requestId } }
}

function formatResult(
  result: ExecutionResult | SerializedResult,
  { cost }: ExecutionOutcome,
  asked: AdmittedRequest,
): FormattedResult {
  const extensions = {
    requestId: asked.requestId,
    ...(cost !== null && { cost: { requested: cost, limit: limits.cost } }),
  }
  if ('dataText' in result) return { dataText: result.dataText, extensions }
  return {
    ...(result.errors && { errors: result.errors.map((error) => formatError(error, asked)) }),
    ...('data' in result && { data: result.data }),
    extensions,
  }
}

function formatError(error: GraphQLError, { requestId, log }: AdmittedRequest): GraphQLError {
  // What graphql-js finds wrong with the arguments of a field is wrapped once more, and no resolver throws such an error.
  const originalError = error.originalError instanceof GraphQLError ? undefined : error.originalError
  if (typeof error.extensions?.code === 'string' && !originalError) return toPublicError(error, requestId)
  if (originalError instanceof DomainError) {
    if (originalError.code === 'UNAVAILABLE') {
      log.error(
        { request_id: requestId, err: originalError.cause ?? originalError },
        'the store did not take a request',
      )
    }
    return toPublicError(originalError, requestId, error)
  }
  // A null that a variable brought to an argument that takes none is found only when the field is reached.
  if (!originalError && error.message.startsWith('Argument "')) {
    return toPublicError(new DomainError('INVALID_INPUT', error.message), requestId, error)
  }
  log.error({ request_id: requestId, err: originalError ?? error, path: error.path }, 'a field failed')
  return toPublicError(
    new DomainError('INTERNAL', 'The service failed. The request id names the entry in its log.'),
    requestId,
    error,
  )
}

function toPublicError(
  source: DomainError | GraphQLError,
  requestId: string,
  at: GraphQLError | null = null,
): GraphQLError {
  if (source instanceof DomainError) {
    const { message, fields } = formatDomainError(source, {})
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
