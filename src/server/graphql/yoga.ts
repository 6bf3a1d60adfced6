import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ExecutionResult, GraphQLError } from 'graphql'
import type { Plugin, YogaInitialContext } from 'graphql-yoga'
import { failureHeaders, statusOfCode } from '../../core/api/http-status.ts'
import { Refusal } from '../../core/errors.ts'
import type { Document, Faulty } from '../../graphql/documents/prepare-document.ts'
import type { Chosen, Engine, Outcome } from '../../graphql/execution/engine.ts'
import { refused } from '../../graphql/execution/engine.ts'
import type { Asked, Asking, FormattedResult } from '../../graphql/execution/execute.ts'
import { answerOf, askingOf, bodyOf, failedResult, formatEach } from '../../graphql/execution/execute.ts'
import type { StreamPlace } from '../../graphql/schema/graphql-context.ts'
import type { FormsTaken, StreamType } from '../http/forms-taken.ts'
import { formsTaken } from '../http/forms-taken.ts'
import { refusalOf } from '../http/to-api-error.ts'
import type { Form, Written } from './multipart-mixed.ts'
import { inParts } from './multipart-mixed.ts'
import { parametersOf } from './parameters.ts'
import { inEvents } from './sse.ts'
import type { Http } from './status.ts'
import { httpOf } from './status.ts'
import type { HoldStream } from './stream-limiter.ts'
import { untilEnded } from './stream-limiter.ts'

/** Has Yoga answer a request that was admitted. */
export type YogaHandler = (request: FastifyRequest, reply: FastifyReply, asked: Asked) => Promise<Response>

/** A request on its way through Yoga, which gives it to each of the hooks. */
type Exchange = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly asked: Asked
  readonly asking: Asking
  readonly forms: FormsTaken
  /** The document that it asks for, and whether it does so by its name. */
  document: Document | Faulty | null
  isNamed: boolean
  chosen: Chosen | null
  /** What came of it; `null` where what was thrown is all that there is to say. */
  outcome: Outcome | null
  /** Why a stream ends before its own time. */
  ended: Promise<Refusal | null>
}

type OnItsWay = { readonly exchange: Exchange }

/**
 * Makes the handler of Yoga, with the engine where Yoga has places for one.
 *
 * It is loaded here and not with this module, because that takes a third of the time of a start, which many processes never
 * need. What Yoga has of its own for the same things is off: it would run forms, answer any origin, and remember documents
 * again.
 */
export async function createYogaHandler(engine: Engine, path: string, holdStream: HoldStream): Promise<YogaHandler> {
  const { createYoga, processRegularResult } = await import('graphql-yoga')
  const yoga = createYoga<OnItsWay>({
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
      runsBy(engine, holdStream),
      answersBy({
        'application/json': processRegularResult,
        'application/graphql-response+json': processRegularResult,
        'text/event-stream': inEvents,
        'multipart/mixed': inParts,
      }),
    ],
  })
  return async (request, reply, asked) => {
    const exchange: Exchange = {
      request,
      reply,
      asked,
      asking: askingOf(asked),
      forms: formsTaken(request.headers.accept),
      document: null,
      isNamed: false,
      chosen: null,
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
function runsBy(engine: Engine, holdStream: HoldStream): Plugin<OnItsWay, OnItsWay> {
  const find = async (exchange: Exchange) => {
    const { query, name = null, operationName, variables } = parametersOf(exchange.request)
    exchange.isNamed = name !== null
    exchange.document = await engine.find({ query, name }, exchange.asked.merchantId)
    // Yoga wants a text, which nobody reads any more.
    return { query: query ?? '-', variables, ...(operationName !== null && { operationName }) }
  }
  const parse = (exchange: Exchange, operationName: string | null) => {
    const document = exchange.document as Document | Faulty
    const chosen =
      'errors' in document
        ? document
        : engine.choose(document, { operationName, isReadOnly: isReadOnly(exchange.request) }, exchange.asking.context)
    if ('errors' in chosen) {
      exchange.outcome = refused(chosen)
      throw new AggregateError(chosen.errors)
    }
    exchange.chosen = chosen
    return chosen.document.node
  }
  const run = async ({ exchange, params }: OnItsWay & YogaInitialContext) => {
    const checked = engine.check(exchange.chosen as Chosen, params.variables ?? {}, exchange.asking.context)
    if ('errors' in checked) return refused(checked)
    return checked.operation.node.operation === 'subscription'
      ? subscribe(exchange, (signal) => engine.subscribe(checked, signal))
      : engine.execute(checked)
  }
  const subscribe = async (exchange: Exchange, begin: (signal: AbortSignal) => Promise<Outcome>) => {
    const { request, reply, forms } = exchange
    if (forms.stream === null) {
      throw new Refusal('NOT_ACCEPTABLE', 'A subscription is answered as text/event-stream only.')
    }
    const end = new AbortController()
    const outcome = await begin(end.signal)
    if (reply.raw.destroyed) end.abort()
    reply.raw.once('close', () => end.abort())
    if (Symbol.asyncIterator in outcome.result) exchange.ended = holdStream(request, reply).ended
    return outcome
  }
  const resultOf = async (context: OnItsWay & YogaInitialContext) => {
    context.exchange.outcome = await run(context)
    return context.exchange.outcome.result
  }
  return {
    onRequestParse: ({ serverContext: { exchange }, setRequestParser }) => {
      const { json, stream } = exchange.forms
      if (json === null && stream === null) {
        throw new Refusal('NOT_ACCEPTABLE', 'This path answers application/json and, as a stream, text/event-stream.')
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
function answersBy(all: Record<string, Form>): Plugin<OnItsWay, OnItsWay> {
  return {
    onResultProcess: ({ result, setResult, setResultProcessor, serverContext: { exchange } }) => {
      const { type, formed } = formedOf(exchange, result as ExecutionResult | AsyncIterable<ExecutionResult>)
      setResult(formed as Parameters<typeof setResult>[0])
      setResultProcessor(all[type] as Form, type)
    },
  }
}

/** What Yoga is to form, and as what; the log is told of it. */
function formedOf(exchange: Exchange, result: ExecutionResult | AsyncIterable<ExecutionResult>) {
  const { asked, asking, request, forms, outcome, ended } = exchange
  const type = forms.json ?? (forms.stream as StreamType)
  const { operation, isTrusted } = asking.seen()
  request.operation = operation
  request.isOperationTrusted = isTrusted
  if (outcome === null) {
    const [error] = (result as ExecutionResult).errors as readonly [GraphQLError]
    const refusal = refusalOf(error.originalError ?? error, request)
    request.refusalCode = refusal.code
    const http = { status: statusOfCode[refusal.code], headers: failureHeaders(refusal.code) }
    return { type: 'application/json', formed: written(failedResult(refusal, request.id), http) }
  }
  if (Symbol.asyncIterator in result) {
    const last = ended.then((refusal) => refusal && failedResult(refusal, request.id))
    const results = untilEnded(formatEach(result, outcome, asked), last)
    return { type: forms.stream as StreamType, formed: eachWritten(results, asking.context.stream) }
  }
  const answered = answerOf(outcome, asking, asked)
  request.refusalCode = answered.seen.codes.join() || null
  const { status, headers } = httpOf(answered.result, type)
  const isStorable = exchange.isNamed && isReadOnly(request) && forms.json !== null && !answered.result.errors
  return {
    type,
    formed: written(answered.result, { status, headers: isStorable ? { ...headers, ...storable(exchange) } : headers }),
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
function storable({ reply }: Exchange): Record<string, string> {
  const others = reply.getHeader('vary')?.toString().split(', ') ?? []
  const vary = new Set([...others, 'accept', 'authorization', 'origin', 'x-api-key'])
  return { 'cache-control': 'private', vary: [...vary].join(', ') }
}

/** A result as Yoga's forms take it: they ask for its text, and HTTP's part in it. */
function written(result: FormattedResult, http?: Http): Written {
  return { ...(http && { extensions: { http } }), stringify: () => bodyOf(result) }
}

/**
 * Results with their places in the stream. They come one by one, so each is of the event that was told last; but for one with
 * errors, which may end the stream before that event was told, and whoever goes on after it must not miss it
 * (ruling 80).
 */
async function* eachWritten(results: AsyncIterable<FormattedResult>, place: StreamPlace): AsyncGenerator<Written> {
  for await (const result of results) {
    const id = result.errors === undefined ? place.latest : null
    yield { ...written(result), ...(id !== null && { id }) }
  }
}
