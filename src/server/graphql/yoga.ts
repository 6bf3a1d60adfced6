import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Plugin, YogaInitialContext } from 'graphql-yoga'
import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import { DomainError } from '../../core/errors.ts'
import type { DocumentResult } from '../../graphql/documents/prepare-document.ts'
import type { Engine, ExecutionOutcome, SelectedOperation } from '../../graphql/execution/engine.ts'
import { rejectedOutcome } from '../../graphql/execution/engine.ts'
import type { AdmittedRequest, FormattedResult, RequestExecution } from '../../graphql/execution/execute.ts'
import {
  beginExecution,
  errorResult,
  formatOutcome,
  formatResults,
  serializeResult,
} from '../../graphql/execution/execute.ts'
import type { StreamPosition } from '../../graphql/schema/graphql-context.ts'
import type { AcceptedMediaTypes, StreamMediaType } from '../http/content-negotiation.ts'
import { acceptedMediaTypes } from '../http/content-negotiation.ts'
import { toDomainError } from '../http/http-errors.ts'
import type { HttpResponseHead } from './graphql-over-http.ts'
import { readRequestParameters, responseHeadOf } from './graphql-over-http.ts'
import type { ResultProcessor, StringifiableResult } from './stream-formats.ts'
import { processMultipart, processServerSentEvents } from './stream-formats.ts'
import type { HoldStream } from './stream-limiter.ts'
import { takeUntilEnd } from './stream-limiter.ts'

export type YogaHandler = (request: FastifyRequest, reply: FastifyReply, admitted: AdmittedRequest) => Promise<Response>

type YogaExchange = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly admitted: AdmittedRequest
  readonly execution: RequestExecution
  readonly acceptedTypes: AcceptedMediaTypes
  document: DocumentResult | null
  hasIdentifier: boolean
  selectedOperation: SelectedOperation | null
  /** `outcome` is `null` if a hook threw an error before the execution. */
  outcome: ExecutionOutcome | null
  ended: Promise<DomainError | null>
}

type YogaServerContext = { readonly exchange: YogaExchange }

/**
 * Yoga is imported on demand, because the import takes a third of the start time and many processes never need Yoga.
 * Yoga's own features are off, because the host and the engine handle form posts, CORS and the document cache.
 */
export async function createYogaHandler(engine: Engine, path: string, holdStream: HoldStream): Promise<YogaHandler> {
  const { createYoga, processRegularResult } = await import('graphql-yoga')
  const yoga = createYoga<YogaServerContext>({
    schema: engine.schema,
    graphqlEndpoint: path,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    maskedErrors: false,
    parserAndValidationCache: false,
    maxRequestBodySize: false,
    plugins: [
      enginePlugin(engine, holdStream),
      resultProcessorPlugin({
        'application/json': processRegularResult,
        'application/graphql-response+json': processRegularResult,
        'text/event-stream': processServerSentEvents,
        'multipart/mixed': processMultipart,
      }),
    ],
  })
  return async (request, reply, admitted) => {
    const exchange: YogaExchange = {
      request,
      reply,
      admitted,
      execution: beginExecution(admitted),
      acceptedTypes: acceptedMediaTypes(request.headers.accept),
      document: null,
      hasIdentifier: false,
      selectedOperation: null,
      outcome: null,
      ended: Promise.resolve(null),
    }
    // The host has already read the query string. Yoga would also treat some query strings as its health check.
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const headers = request.headers as Record<string, string>
    return yoga.fetch(`http://localhost${path}`, { method, headers }, { exchange })
  }
}

/**
 * The host and the engine replace Yoga's reading of parameters, parsing, validation and execution. The parse hook
 * selects the operation, so that the engine's errors precede Yoga's errors.
 */
function enginePlugin(engine: Engine, holdStream: HoldStream): Plugin<YogaServerContext, YogaServerContext> {
  const find = async (exchange: YogaExchange) => {
    const { query, identifier = null, operationName, variables } = readRequestParameters(exchange.request)
    exchange.hasIdentifier = identifier !== null
    exchange.document = await engine.findDocument({ query, identifier }, exchange.admitted.merchantId)
    // The parse hook ignores the query text, but Yoga requires a query text.
    return { query: query ?? '-', variables, ...(operationName !== null && { operationName }) }
  }
  const parse = (exchange: YogaExchange, operationName: string | null) => {
    const document = exchange.document as DocumentResult
    const selected =
      'errors' in document
        ? document
        : engine.selectOperation(
            document,
            { operationName, isReadOnly: isReadOnly(exchange.request) },
            exchange.execution.context,
          )
    if ('errors' in selected) {
      exchange.outcome = rejectedOutcome(selected)
      throw new AggregateError(selected.errors)
    }
    exchange.selectedOperation = selected
    return selected.document.node
  }
  const run = async ({ exchange, params }: YogaServerContext & YogaInitialContext) => {
    const checked = engine.checkOperation(
      exchange.selectedOperation as SelectedOperation,
      params.variables ?? {},
      exchange.execution.context,
    )
    if ('errors' in checked) return rejectedOutcome(checked)
    return checked.operation.node.operation === 'subscription'
      ? subscribe(exchange, (signal) => engine.subscribe(checked, signal))
      : engine.execute(checked)
  }
  const subscribe = async (exchange: YogaExchange, start: (signal: AbortSignal) => Promise<ExecutionOutcome>) => {
    const { request, reply, acceptedTypes } = exchange
    if (acceptedTypes.stream === null) {
      throw new DomainError('NOT_ACCEPTABLE', 'A subscription needs an Accept header with text/event-stream.')
    }
    const abort = new AbortController()
    const outcome = await start(abort.signal)
    if (reply.raw.destroyed) abort.abort()
    reply.raw.once('close', () => abort.abort())
    if (Symbol.asyncIterator in outcome.result) exchange.ended = holdStream(request, reply).ended
    return outcome
  }
  const resultOf = async (context: YogaServerContext & YogaInitialContext) => {
    context.exchange.outcome = await run(context)
    return context.exchange.outcome.result
  }
  return {
    onRequestParse: ({ serverContext: { exchange }, setRequestParser }) => {
      const { json, stream } = exchange.acceptedTypes
      if (json === null && stream === null) {
        throw new DomainError(
          'NOT_ACCEPTABLE',
          'The Accept header must allow application/json or, for a stream, text/event-stream.',
        )
      }
      setRequestParser(() => find(exchange))
    },
    onParse: ({ context: { exchange, params }, setParseFn }) =>
      setParseFn(() => parse(exchange, params.operationName ?? null)),
    onValidate: ({ setValidationFn }) => setValidationFn(() => []),
    onExecute: ({ context, setExecuteFn }) => setExecuteFn(() => resultOf(context)),
    onSubscribe: ({ context, setSubscribeFn }) => setSubscribeFn(() => resultOf(context)),
  }
}

/** Yoga's own content negotiation ignores quality values. */
function resultProcessorPlugin(
  processors: Record<string, ResultProcessor>,
): Plugin<YogaServerContext, YogaServerContext> {
  return {
    onResultProcess: ({ result, setResult, setResultProcessor, serverContext: { exchange } }) => {
      const { type, formatted } = formatYogaResult(exchange, result as ExecutionResult | AsyncIterable<ExecutionResult>)
      setResult(formatted as Parameters<typeof setResult>[0])
      setResultProcessor(processors[type] as ResultProcessor, type)
    },
  }
}

function formatYogaResult(exchange: YogaExchange, result: ExecutionResult | AsyncIterable<ExecutionResult>) {
  const { admitted, execution, request, acceptedTypes, outcome, ended } = exchange
  const type = acceptedTypes.json ?? (acceptedTypes.stream as StreamMediaType)
  const { operation, isTrusted } = execution.logFields()
  request.operation = operation
  request.isOperationTrusted = isTrusted
  if (outcome === null) {
    const [error] = (result as ExecutionResult).errors as readonly [GraphQLError]
    const domainError = toDomainError(error.originalError ?? error, request)
    const { code } = domainError
    request.refusalCode = code
    const http = { status: httpStatusByCode[code], headers: errorHeaders(code) }
    return { type: 'application/json', formatted: toStringifiable(errorResult(domainError, request.id), http) }
  }
  if (Symbol.asyncIterator in result) {
    const last = ended.then((error) => error && errorResult(error, request.id))
    const results = takeUntilEnd(formatResults(result, outcome, admitted), last)
    return {
      type: acceptedTypes.stream as StreamMediaType,
      formatted: toStringifiableStream(results, execution.context.stream),
    }
  }
  const { result: formatted, logFields } = formatOutcome(outcome, execution, admitted)
  request.refusalCode = logFields.codes.join() || null
  const { status, headers } = responseHeadOf(formatted, type)
  const isCacheable = exchange.hasIdentifier && isReadOnly(request) && acceptedTypes.json !== null && !formatted.errors
  return {
    type,
    formatted: toStringifiable(formatted, {
      status,
      headers: isCacheable ? { ...headers, ...cacheHeaders(exchange) } : headers,
    }),
  }
}

function isReadOnly({ method }: FastifyRequest): boolean {
  return method !== 'POST'
}

/** Private caches may store a GraphQL response, separately for each credential, origin and media type. */
function cacheHeaders({ reply }: YogaExchange): Record<string, string> {
  const existing = reply.getHeader('vary')?.toString().split(', ') ?? []
  const vary = new Set([...existing, 'accept', 'authorization', 'origin', 'x-api-key'])
  return { 'cache-control': 'private', vary: [...vary].join(', ') }
}

function toStringifiable(result: FormattedResult, http?: HttpResponseHead): StringifiableResult {
  return { ...(http && { extensions: { http } }), stringify: () => serializeResult(result) }
}

/**
 * Adds the id of the latest event to each result of a stream. A result with errors gets no event id, because the stream
 * may end before the latest event is sent. A client that resumes the stream must receive the latest event (ruling 80).
 */
async function* toStringifiableStream(
  results: AsyncIterable<FormattedResult>,
  position: StreamPosition,
): AsyncGenerator<StringifiableResult> {
  for await (const result of results) {
    const id = result.errors === undefined ? position.latestEventId : null
    yield { ...toStringifiable(result), ...(id !== null && { id }) }
  }
}
