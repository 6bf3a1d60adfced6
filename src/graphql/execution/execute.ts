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

export type AdmittedRequest = {
  readonly service: Service
  readonly engine: Engine
  readonly merchantId: string
  readonly aheadMs?: number
  readonly caller: Caller
  readonly requestId: string
  readonly log: FastifyBaseLogger
  readonly lastEventId?: string | null
}

export type GraphqlAnswer = {
  readonly operation: OperationTypeNode | null
  readonly result: FormattedResult
  readonly logFields: RequestLogFields
}

type RequestLogFields = {
  readonly operation: string | null
  /** If `isTrusted` is true, an operator has approved the operation name. */
  readonly isTrusted: boolean
  readonly codes: readonly string[]
}

export type FormattedResult = {
  readonly errors?: readonly GraphQLError[]
  readonly data?: ExecutionResult['data']
  readonly dataText?: string
  readonly extensions: { readonly requestId: string; readonly cost?: object }
}

export type RequestExecution = {
  readonly context: Context & ExecutionObserver & { readonly stream: StreamPosition }
  readonly logFields: () => RequestLogFields
}

export async function executeRequest(
  request: GraphqlRequest,
  admitted: AdmittedRequest,
): Promise<GraphqlAnswer | null> {
  const execution = beginExecution(admitted)
  const outcome = await admitted.engine.run(request, execution.context)
  return outcome && formatOutcome(outcome, execution, admitted)
}

export function beginExecution(admitted: AdmittedRequest): RequestExecution {
  const { service, merchantId, aheadMs = 0, caller, requestId, log, lastEventId = null } = admitted
  let operation: string | null = null
  let isTrusted = false
  const codes = new Set<string>()
  const context = {
    ...createContext(service, merchantId, null, aheadMs, caller),
    stream: { lastEventId, latestEventId: null },
    onOperation: (node: OperationDefinitionNode, isDocumentTrusted: boolean) => {
      operation = operationLabel(node)
      isTrusted = isDocumentTrusted
    },
    onUserError: (code: ErrorCode) => {
      codes.add(code)
    },
    onPlanFault: (error: unknown) => {
      log.warn({ request_id: requestId, err: error }, 'GraphQL plan failed, graphql-js answered instead')
    },
  }
  return { context, logFields: () => ({ operation, isTrusted, codes: [...codes] }) }
}

export function formatOutcome(
  outcome: ExecutionOutcome,
  execution: RequestExecution,
  admitted: AdmittedRequest,
): GraphqlAnswer {
  const result = outcome.result as ExecutionResult | SerializedResult
  const formatted = formatResult(result, outcome, admitted)
  const { operation, isTrusted, codes } = execution.logFields()
  const errorCodes = (formatted.errors ?? []).map(({ extensions }) => String(extensions?.code))
  return {
    result: formatted,
    operation: outcome.operation,
    logFields: { operation, isTrusted, codes: [...new Set([...codes, ...errorCodes])] },
  }
}

export async function* formatResults(
  results: AsyncIterable<ExecutionResult>,
  outcome: ExecutionOutcome,
  admitted: AdmittedRequest,
): AsyncGenerator<FormattedResult> {
  for await (const result of results) yield formatResult(result, outcome, admitted)
}

export function serializeResult(result: FormattedResult): string {
  const { dataText, extensions } = result
  return dataText === undefined
    ? JSON.stringify(result)
    : `{"data":${dataText},"extensions":${JSON.stringify(extensions)}}`
}

/**
 * Callers choose operation names, so long names are truncated, and long numbers are masked because they could be
 * account numbers.
 */
function operationLabel({ operation, name }: OperationDefinitionNode): string {
  const label = name?.value.slice(0, 60).replace(/\d{6,}/g, '_')
  return label === undefined ? operation : `${operation} ${label}`
}

export function errorResult(error: DomainError, requestId: string): FormattedResult {
  return { errors: [toPublicError(error, requestId)], extensions: { requestId } }
}

function formatResult(
  result: ExecutionResult | SerializedResult,
  { cost }: ExecutionOutcome,
  admitted: AdmittedRequest,
): FormattedResult {
  const extensions = {
    requestId: admitted.requestId,
    ...(cost !== null && { cost: { requested: cost, limit: limits.cost } }),
  }
  if ('dataText' in result) return { dataText: result.dataText, extensions }
  return {
    ...(result.errors && { errors: result.errors.map((error) => formatError(error, admitted)) }),
    ...('data' in result && { data: result.data }),
    extensions,
  }
}

function formatError(error: GraphQLError, { requestId, log }: AdmittedRequest): GraphQLError {
  // graphql-js wraps its own argument errors in another GraphQLError. Resolvers never throw a GraphQLError.
  const originalError = error.originalError instanceof GraphQLError ? undefined : error.originalError
  if (typeof error.extensions?.code === 'string' && !originalError) return toPublicError(error, requestId)
  if (originalError instanceof DomainError) {
    if (originalError.code === 'UNAVAILABLE') {
      log.error(
        { request_id: requestId, err: originalError.cause ?? originalError },
        'request failed: the database is unavailable',
      )
    }
    return toPublicError(originalError, requestId, error)
  }
  // graphql-js detects a null variable for a non-null argument only when it executes the field.
  if (!originalError && error.message.startsWith('Argument "')) {
    return toPublicError(new DomainError('INVALID_INPUT', error.message), requestId, error)
  }
  log.error({ request_id: requestId, err: originalError ?? error, path: error.path }, 'GraphQL field failed')
  return toPublicError(
    new DomainError('INTERNAL', 'The service failed. The request id names the entry in its log.'),
    requestId,
    error,
  )
}

function toPublicError(
  source: DomainError | GraphQLError,
  requestId: string,
  cause: GraphQLError | null = null,
): GraphQLError {
  if (source instanceof DomainError) {
    const { message, fields } = formatDomainError(source, {})
    const { available, required } = source.details
    return withExtensions(message, cause, {
      code: source.code,
      requestId,
      ...(fields && { fields }),
      ...(available !== undefined && { available: formatAmount(available) }),
      ...(required !== undefined && { required: formatAmount(required) }),
    })
  }
  return withExtensions(source.message, source, { ...source.extensions, requestId })
}

function withExtensions(
  message: string,
  cause: GraphQLError | null,
  extensions: Record<string, unknown>,
): GraphQLError {
  const formatted = new GraphQLError(message, { ...(cause?.path && { path: cause.path }), extensions })
  // GraphQLError computes locations from the document's text, which is not available here.
  if (cause?.locations) Object.defineProperty(formatted, 'locations', { value: cause.locations, enumerable: true })
  return formatted
}
