import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createYoga } from 'graphql-yoga'
import type { Service } from '../context.ts'
import type { FieldFault } from '../errors.ts'
import { invalidInput, Refusal } from '../errors.ts'
import { admission } from '../http/admission.ts'
import { takeJson } from '../http/json-body.ts'
import { refusalOf } from '../http/refusal-of.ts'
import { failureHeaders, statusOfCode } from '../http-status.ts'
import type { RateLimiter } from '../rate-limit.ts'
import type { Answer, Asked } from './answer.ts'
import { answer, failedResult } from './answer.ts'
import type { Compiling, GraphqlRequest } from './engine.ts'
import { createEngine } from './engine.ts'
import type { GraphiqlPage } from './graphiql.ts'
import { sendGraphiql } from './graphiql.ts'
import { schemaFor } from './schema.ts'
import { countStreams } from './streams.ts'

/** What the door takes: `graphiql` is `null` where there is none; `compiling` is `again` but in tests. */
export type GraphqlOptions = {
  readonly service: Service
  readonly limiter: RateLimiter | null
  readonly graphiql: GraphiqlPage | null
  readonly compiling: Compiling
}

const path = '/graphql'

/**
 * Adds the GraphQL endpoint to the HTTP host.
 *
 * A JSON POST, which is nearly all there is, goes from the host to the engine; streams, GET and the negotiation of media
 * types are Yoga's, which asks the same engine. Form posts are refused, so that no page of another site can send one.
 */
export function addGraphqlRoute(app: FastifyInstance, { service, limiter, graphiql, compiling }: GraphqlOptions): void {
  const engine = createEngine(schemaFor(service.mode), { compiling })
  const yoga = createHandler()
  const holdStream = countStreams(app)
  const admit = admission(service, limiter)
  takeJson(app)
  app.setErrorHandler((error, request, reply) => sendRefusal(refusalOf(error, request), request, reply))

  app.post(path, { onRequest: admit }, (request, reply) => {
    const asked = { service, engine, merchantId: request.merchantId, requestId: request.id, log: request.log }
    if (takesJson(request)) return answerJson(request, reply, asked)
    if (takesStream(request)) holdStream(request.merchantId, reply)
    return answerThroughYoga(yoga, request, reply, asked)
  })
  const admitProgram = async (request: FastifyRequest, reply: FastifyReply) => {
    if (graphiql === null || !isBrowser(request)) await admit(request, reply)
  }
  app.get(path, { onRequest: admitProgram }, (request, reply) => {
    if (graphiql !== null && isBrowser(request)) return sendGraphiql(graphiql, request, reply)
    const asked = { service, engine, merchantId: request.merchantId, requestId: request.id, log: request.log }
    if (takesStream(request)) holdStream(request.merchantId, reply)
    return answerThroughYoga(yoga, request, reply, asked)
  })
  const others = app.supportedMethods.filter((method) => !['GET', 'HEAD', 'POST'].includes(method))
  const refuse = async (_: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', 'GET, HEAD, POST')
    throw new Refusal('METHOD_NOT_ALLOWED', 'This path takes GET and POST.')
  }
  app.route({ method: others, url: path, onRequest: refuse, handler: refuse })
}

/** A browser that opens the address, rather than a program that asks something: the page itself holds nothing to protect. */
function isBrowser({ headers: { accept = '' }, query }: FastifyRequest): boolean {
  return accept.includes('text/html') && !('query' in (query as object))
}

/** Whether the caller takes one JSON document, and so needs no stream. */
function takesJson({ headers: { accept = '' } }: FastifyRequest): boolean {
  return (
    accept === '' ||
    (/\*\/\*|application\/(\*|json|graphql-response\+json)/.test(accept) &&
      !/text\/event-stream|multipart/.test(accept))
  )
}

function takesStream({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('text/event-stream')
}

async function answerJson(request: FastifyRequest, reply: FastifyReply, asked: Asked): Promise<string> {
  const answered = await answer(parametersOf(request.body), asked, { isReadOnly: false })
  if (Symbol.asyncIterator in answered.result) {
    throw new Refusal('NOT_ACCEPTABLE', 'A subscription is answered as text/event-stream only.')
  }
  const isResponseJson = request.headers.accept?.includes('application/graphql-response+json') ?? false
  const isRefused = !('data' in answered.result)
  // The newer media type has HTTP say that nothing ran; under the older one clients expect 200 (GraphQL over HTTP, 6.4).
  reply.code(
    answered.httpStatus === 200 && isRefused && isResponseJson ? statusOfCode.MALFORMED_REQUEST : answered.httpStatus,
  )
  if (answered.httpStatus === statusOfCode.UNAVAILABLE) reply.headers(failureHeaders('UNAVAILABLE'))
  reply.type(`application/${isResponseJson ? 'graphql-response+json' : 'json'}; charset=utf-8`)
  return answered.stringify(answered.result)
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

/** Yoga for what needs its HTTP: it parses the request and forms the response, and the engine answers. */
function createHandler() {
  return createYoga<Asked & { isReadOnly: boolean }>({
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
        onParams: async ({ params, setResult, context }) => {
          const asked = context as unknown as Asked & { isReadOnly: boolean }
          const { result, httpStatus } = await answer(parametersOf(params), asked, asked)
          setResult(withStatus(result, httpStatus) as never)
        },
      },
    ],
  })
}

/** Tells Yoga of a status that is not its own idea. */
function withStatus(result: Answer['result'], status: number) {
  if (Symbol.asyncIterator in result || status === 200) return result
  const headers = status === statusOfCode.METHOD_NOT_ALLOWED ? { allow: 'POST' } : failureHeaders('UNAVAILABLE')
  return { ...result, extensions: { ...result.extensions, http: { status, headers } } }
}

async function answerThroughYoga(
  yoga: ReturnType<typeof createHandler>,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: Asked,
): Promise<FastifyReply> {
  const headers = new Headers(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ) as [string, string][],
  )
  const hasBody = request.method === 'POST'
  const response = await yoga.fetch(
    `http://localhost${request.url}`,
    { method: request.method, headers, ...(hasBody && { body: JSON.stringify(request.body) }) },
    { ...asked, isReadOnly: !hasBody },
  )
  return reply.send(response)
}

function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers(failureHeaders(refusal.code)).code(statusOfCode[refusal.code])
  return reply.type('application/json; charset=utf-8').send(JSON.stringify(failedResult(refusal, request.id)))
}
