import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Service } from '../context.ts'
import { failureHeaders, statusOfCode } from '../doors/http-status.ts'
import type { FieldFault } from '../errors.ts'
import { invalidInput, Refusal } from '../errors.ts'
import type { Answer, Asked, FormattedResult } from '../graphql/answer.ts'
import { answer, bodyOf, failedResult } from '../graphql/answer.ts'
import type { GraphqlRequest } from '../graphql/engine.ts'
import { createEngine } from '../graphql/engine.ts'
import { isPageWanted } from './accept.ts'
import { admission } from './admission.ts'
import { formsTaken } from './forms-taken.ts'
import { schemaFor } from './graphql-schema.ts'
import type { HoldStream } from './graphql-streams.ts'
import { countStreams, untilEnded } from './graphql-streams.ts'
import { repeatedName, takeJson } from './json-body.ts'
import type { Read } from './json-text.ts'
import { readJson } from './json-text.ts'
import { refuseOtherMethods } from './other-methods.ts'
import type { GraphiqlPage } from './pages/graphiql.ts'
import { sendGraphiql } from './pages/graphiql.ts'
import type { RateLimits } from './rate-limit.ts'
import { refusalOf } from './refusal-of.ts'
import type { Turn } from './turn.ts'

/** What the door takes: `graphiql` is `null` where there is none; `isPlanned` is false in tests only. */
export type GraphqlOptions = {
  readonly service: Service
  readonly limits: RateLimits | null
  readonly graphiql: GraphiqlPage | null
  readonly isPlanned: boolean
  /** How many processes answer: each may hold its share of a merchant's streams. */
  readonly processes: number
  readonly turn: Turn
}

const path = '/graphql'

/**
 * Adds the GraphQL endpoint to the HTTP host.
 *
 * One JSON answer, which is nearly all there is, goes from the engine to the host; streams are formed by Yoga. Form posts are
 * refused, so that no page of another site can send one.
 */
export function addGraphqlRoute(
  app: FastifyInstance,
  { service, limits, graphiql, isPlanned, processes, turn }: GraphqlOptions,
): void {
  const engine = createEngine(schemaFor(service.mode), { isPlanned })
  const holdStream = countStreams(app, service, processes)
  const admit = admission(service, limits, turn)
  takeJson(app)
  app.setErrorHandler((error, request, reply) => sendRefusal(refusalOf(error, request), request, reply))

  const run = (request: FastifyRequest, reply: FastifyReply, parameters: GraphqlRequest, isReadOnly: boolean) => {
    const asked = { service, engine, merchantId: request.merchantId, requestId: request.id, log: request.log }
    return respond(parameters, { request, reply, asked, isReadOnly, holdStream, turn })
  }
  app.post(path, { onRequest: admit }, (request, reply) => run(request, reply, parametersOf(request.body), false))
  const admitProgram: typeof admit = (request, reply, done) => {
    if (graphiql === null || !isBrowser(request)) return admit(request, reply, done)
    done()
  }
  app.get(path, { onRequest: admitProgram }, (request, reply) => {
    if (graphiql !== null && isBrowser(request)) return sendGraphiql(graphiql, request, reply)
    return run(request, reply, parametersOf(decodedQuery(request.query as Record<string, unknown>)), true)
  })
  refuseOtherMethods(app, path, ['GET', 'POST'])
}

/** A browser that opens the address, rather than a program that asks something: the page itself holds nothing to protect. */
function isBrowser({ headers, query }: FastifyRequest): boolean {
  return isPageWanted(headers.accept) && !('query' in (query as object))
}

type Responding = {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly asked: Asked
  readonly isReadOnly: boolean
  readonly holdStream: HoldStream
  readonly turn: Turn
}

/**
 * Answers in a form that the caller takes.
 *
 * @throws Refusal NOT_ACCEPTABLE before anything runs, because a mutation that is done must not look refused; RATE_LIMITED
 *   for one stream too many
 */
async function respond(parameters: GraphqlRequest, responding: Responding): Promise<FastifyReply> {
  const { request, reply, asked, isReadOnly, holdStream, turn } = responding
  const { json, stream } = formsTaken(request.headers.accept)
  if (json === null && stream === null) {
    throw new Refusal('NOT_ACCEPTABLE', 'This path answers application/json and, as a stream, text/event-stream.')
  }
  // Ends what feeds a stream, when that ends.
  const end = stream === null ? null : new AbortController()
  let answered = await answer(parameters, asked, { isReadOnly, ...(end && { signal: end.signal }) })
  request.operation = answered.seen.operation
  request.refusalCode = answered.seen.codes.join() || null
  const isStream = Symbol.asyncIterator in answered.result
  if (json !== null && !isStream) return sendJson(answered, json, { reply, turn })
  if (stream === null) throw new Refusal('NOT_ACCEPTABLE', 'A subscription is answered as text/event-stream only.')
  if (isStream) {
    if (reply.raw.destroyed) end?.abort()
    reply.raw.once('close', () => end?.abort())
    const refused = holdStream(request, reply)
    const last = refused.then((refusal) => refusal && failedResult(refusal, asked.requestId))
    answered = { ...answered, result: untilEnded(answered.result as AsyncIterable<FormattedResult>, last) }
  }
  // Yoga has nothing left to parse or to run: it forms the stream.
  handler ??= createHandler()
  const response = await (await handler).fetch(
    `http://localhost${path}`,
    { method: 'POST', headers: { accept: stream, 'content-type': 'application/json' }, body: '{"query":"."}' },
    answered,
  )
  return reply.send(response)
}

async function sendJson(
  { result, operation, httpStatus }: Answer,
  type: string,
  { reply, turn }: Pick<Responding, 'reply' | 'turn'>,
): Promise<FastifyReply> {
  // The newer media type has HTTP say that nothing ran; under the older one clients expect 200 (GraphQL over HTTP, 6.4).
  const isRefused = httpStatus === 200 && !('data' in result) && !('dataText' in result) && type !== 'application/json'
  reply.code(isRefused ? statusOfCode.MALFORMED_REQUEST : httpStatus)
  if (httpStatus === statusOfCode.UNAVAILABLE) reply.headers(failureHeaders('UNAVAILABLE'))
  if (httpStatus === statusOfCode.METHOD_NOT_ALLOWED) reply.header('allow', 'POST')
  // Made before the wait: what is left to do then is to send.
  const body = bodyOf(result as FormattedResult)
  if (operation === 'query') await turn.end()
  return reply.type(`${type}; charset=utf-8`).send(body)
}

/**
 * A query string as a body would have it; what is no JSON stays a string, and is refused as one.
 *
 * @throws Refusal INVALID_INPUT for a name that is given twice
 */
function decodedQuery({ variables, extensions, ...others }: Record<string, unknown>): Record<string, unknown> {
  return { ...others, variables: decoded('variables', variables), extensions: decoded('extensions', extensions) }
}

function decoded(name: string, given: unknown): unknown {
  if (typeof given !== 'string' || given === '') return given || null
  let read: Read
  try {
    read = readJson(given)
  } catch {
    return given
  }
  if (read.repeated !== null) throw repeatedName(`${name}.${read.repeated}`)
  return read.value
}

/**
 * The parameters of a request (GraphQL over HTTP, 5.1).
 *
 * @throws Refusal INVALID_INPUT that names each one that has the wrong type
 */
function parametersOf(body: unknown): GraphqlRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    const message = Array.isArray(body) ? 'must be one request: there are no batches' : 'must be a JSON object'
    throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message }])
  }
  const { query, operationName = null, variables = null, extensions = null } = body as Record<string, unknown>
  const faults: FieldFault[] = []
  if (typeof query !== 'string' || query.trim() === '') {
    faults.push({ field: 'query', code: 'MISSING_REQUIRED_FIELD', message: 'must be a GraphQL document' })
  }
  if (operationName !== null && typeof operationName !== 'string') {
    faults.push({ field: 'operationName', code: 'INVALID_FORMAT', message: 'must be a string' })
  }
  if (!isMap(variables)) faults.push({ field: 'variables', code: 'INVALID_FORMAT', message: 'must be an object' })
  if (!isMap(extensions)) faults.push({ field: 'extensions', code: 'INVALID_FORMAT', message: 'must be an object' })
  if (faults.length > 0) throw invalidInput(faults)
  return {
    query: query as string,
    operationName: (operationName as string | null) || null,
    variables: (variables ?? {}) as Record<string, unknown>,
  }
}

function isMap(value: unknown): boolean {
  return value === null || (typeof value === 'object' && !Array.isArray(value))
}

let handler: ReturnType<typeof createHandler> | undefined

/**
 * Yoga for the forms of streams: each request comes with its answer. It is loaded for the first one, because it takes a
 * third of the time of a start, which most processes never need.
 */
async function createHandler() {
  const { createYoga } = await import('graphql-yoga')
  return createYoga<Answer>({
    graphqlEndpoint: path,
    logging: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    multipart: false,
    batching: false,
    maskedErrors: false,
    plugins: [
      {
        onParams: ({ setResult, context }) => setResult((context as unknown as Answer).result as never),
      },
    ],
  })
}

function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  request.refusalCode = refusal.code
  reply.headers(failureHeaders(refusal.code)).code(statusOfCode[refusal.code])
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(failedResult(refusal, request.id)))
}
