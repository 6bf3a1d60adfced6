import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Plugin, YogaInitialContext } from 'graphql-yoga'
import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import { DomainError } from '../../core/errors.ts'
import type { PreparedDocument, RequestErrors } from '../../graphql/documents/prepare-document.ts'
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
import type { AcceptedMediaTypes, StreamMediaType } from '../http/accepted-media-types.ts'
import { acceptedMediaTypes } from '../http/accepted-media-types.ts'
import { toDomainError } from '../http/to-api-error.ts'
import type { HttpResponseHead } from './graphql-over-http.ts'
import { readRequestParameters, responseHeadOf } from './graphql-over-http.ts'
import type { ResultProcessor, StringifiableResult } from './stream-formats.ts'
import { processMultipart, processServerSentEvents } from './stream-formats.ts'
import type { HoldStream } from './stream-limiter.ts'
import { takeUntilEnd } from './stream-limiter.ts'

/** Has Yoga answer a request that was admitted. */
export type YogaHandler = (request: FastifyRequest, reply: FastifyReply, asked: AdmittedRequest) => Promise<Response>

/** A request on its way through Yoga, which gives it to each of the hooks. */
type YogaExchange = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly admitted: AdmittedRequest
  readonly execution: RequestExecution
  readonly acceptedTypes: AcceptedMediaTypes
  /** The document that it asks for, and whether it does so by its name. */
  document: PreparedDocument | RequestErrors | null
  hasIdentifier: boolean
  selectedOperation: SelectedOperation | null
  /** What came of it; `null` where what was thrown is all that there is to say. */
  outcome: ExecutionOutcome | null
  /** Why a stream ends before its own time. */
  ended: Promise<DomainError | null>
}

type YogaServerContext = { readonly exchange: YogaExchange }

/**
 * Makes the handler of Yoga, with the engine where Yoga has places for one.
 *
 * It is loaded here and not with this module, because that takes a third of the time of a start, which many processes never
 * need. What Yoga has of its own for the same things is off: it would run forms, answer any origin, and remember documents
 * again.
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
  return async (request, reply, asked) => {
    const exchange: YogaExchange = {
      request,
      reply,
      admitted: asked,
      execution: beginExecution(asked),
      acceptedTypes: acceptedMediaTypes(request.headers.accept),
      document: null,
      hasIdentifier: false,
      selectedOperation: null,
      outcome: null,
      ended: Promise.resolve(null),
    }
    // The host answers HEAD as GET, without the body. It has read the query string too, which Yoga would take for a question
    // after its own health where it ends like one.
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const headers = request.headers as Record<string, string>
    return yoga.fetch(`http://localhost${path}`, { method, headers }, { exchange })
  }
}

/**
 * Where Yoga reads, parses, validates and runs, the host's reading of parameters and the engine's steps.
 *
 * The engine validates when it parses, and finds the operation then, because Yoga looks for it right after, with words of its
 * own for what it does not find.
 */
function enginePlugin(engine: Engine, holdStream: HoldStream): Plugin<YogaServerContext, YogaServerContext> {
  const find = async (exchange: YogaExchange) => {
    const { query, identifier: name = null, operationName, variables } = readRequestParameters(exchange.request)
    exchange.hasIdentifier = name !== null
    exchange.document = await engine.findDocument({ query, identifier: name }, exchange.admitted.merchantId)
    // Yoga wants a text, which nobody reads any more.
    return { query: query ?? '-', variables, ...(operationName !== null && { operationName }) }
  }
  const parse = (exchange: YogaExchange, operationName: string | null) => {
    const document = exchange.document as PreparedDocument | RequestErrors
    const chosen =
      'errors' in document
        ? document
        : engine.selectOperation(
            document,
            { operationName, isReadOnly: isReadOnly(exchange.request) },
            exchange.execution.context,
          )
    if ('errors' in chosen) {
      exchange.outcome = rejectedOutcome(chosen)
      throw new AggregateError(chosen.errors)
    }
    exchange.selectedOperation = chosen
    return chosen.document.node
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
  const subscribe = async (exchange: YogaExchange, begin: (signal: AbortSignal) => Promise<ExecutionOutcome>) => {
    const { request, reply, acceptedTypes: forms } = exchange
    if (forms.stream === null) {
      throw new DomainError('NOT_ACCEPTABLE', 'A subscription is answered as text/event-stream only.')
    }
    const end = new AbortController()
    const outcome = await begin(end.signal)
    if (reply.raw.destroyed) end.abort()
    reply.raw.once('close', () => end.abort())
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
          'This path answers application/json and, as a stream, text/event-stream.',
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

/** Where Yoga forms a result, our words for it, in the form that the caller wants most: Yoga reads no qualities. */
function resultProcessorPlugin(all: Record<string, ResultProcessor>): Plugin<YogaServerContext, YogaServerContext> {
  return {
    onResultProcess: ({ result, setResult, setResultProcessor, serverContext: { exchange } }) => {
      const { type, formed } = formatYogaResult(exchange, result as ExecutionResult | AsyncIterable<ExecutionResult>)
      setResult(formed as Parameters<typeof setResult>[0])
      setResultProcessor(all[type] as ResultProcessor, type)
    },
  }
}

/** What Yoga is to form, and as what; the log is told of it. */
function formatYogaResult(exchange: YogaExchange, result: ExecutionResult | AsyncIterable<ExecutionResult>) {
  const { admitted: asked, execution: asking, request, acceptedTypes: forms, outcome, ended } = exchange
  const type = forms.json ?? (forms.stream as StreamMediaType)
  const { operation, isTrusted } = asking.logFields()
  request.operation = operation
  request.isOperationTrusted = isTrusted
  if (outcome === null) {
    const [error] = (result as ExecutionResult).errors as readonly [GraphQLError]
    const refusal = toDomainError(error.originalError ?? error, request)
    request.refusalCode = refusal.code
    const http = { status: httpStatusByCode[refusal.code], headers: errorHeaders(refusal.code) }
    return { type: 'application/json', formed: toStringifiable(errorResult(refusal, request.id), http) }
  }
  if (Symbol.asyncIterator in result) {
    const last = ended.then((refusal) => refusal && errorResult(refusal, request.id))
    const results = takeUntilEnd(formatResults(result, outcome, asked), last)
    return { type: forms.stream as StreamMediaType, formed: toStringifiableStream(results, asking.context.stream) }
  }
  const answered = formatOutcome(outcome, asking, asked)
  request.refusalCode = answered.logFields.codes.join() || null
  const { status, headers } = responseHeadOf(answered.result, type)
  const isStorable = exchange.hasIdentifier && isReadOnly(request) && forms.json !== null && !answered.result.errors
  return {
    type,
    formed: toStringifiable(answered.result, {
      status,
      headers: isStorable ? { ...headers, ...cacheHeaders(exchange) } : headers,
    }),
  }
}

/** Only a POST may change something. */
function isReadOnly({ method }: FastifyRequest): boolean {
  return method !== 'POST'
}

/**
 * Has the caller's own cache keep an answer, if the caller wants that, but for whoever asks with the same key and for the same form:
 * in one browser several may ask.
 */
function cacheHeaders({ reply }: YogaExchange): Record<string, string> {
  const others = reply.getHeader('vary')?.toString().split(', ') ?? []
  const vary = new Set([...others, 'accept', 'authorization', 'origin', 'x-api-key'])
  return { 'cache-control': 'private', vary: [...vary].join(', ') }
}

/** A result as Yoga's forms take it: they ask for its text, and HTTP's part in it. */
function toStringifiable(result: FormattedResult, http?: HttpResponseHead): StringifiableResult {
  return { ...(http && { extensions: { http } }), stringify: () => serializeResult(result) }
}

/**
 * Results with their places in the stream. They come one by one, so each is of the event that was told last; but for one with
 * errors, which may end the stream before that event was told, and whoever goes on after it must not miss it
 * (ruling 80).
 */
async function* toStringifiableStream(
  results: AsyncIterable<FormattedResult>,
  place: StreamPosition,
): AsyncGenerator<StringifiableResult> {
  for await (const result of results) {
    const id = result.errors === undefined ? place.latestEventId : null
    yield { ...toStringifiable(result), ...(id !== null && { id }) }
  }
}
