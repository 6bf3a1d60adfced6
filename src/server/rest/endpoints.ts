import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import type { FieldError, FieldNames } from '../../core/errors.ts'
import { DomainError, invalidInput } from '../../core/errors.ts'
import { parseIdempotencyKey } from '../../core/input.ts'
import { requireScope } from '../../operations/access/api-caller.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { failure, problemDetails, toErrorPayload } from '../../rest/error-responses.ts'
import { ignoredFieldsHeader } from '../../rest/input-fields.ts'
import type { Download, Route } from '../../rest/route.ts'
import { convertInput, unpackInput } from '../../rest/route.ts'
import { idempotencyKeyField } from '../../rest/sent-fields.ts'
import type { HoldStream } from '../graphql/stream-limiter.ts'
import { createAdmissionHook, createQueueSpaceHook } from '../http/admission.ts'
import { preferenceFor } from '../http/content-negotiation.ts'
import { countHeader } from '../http/http-errors.ts'
import { acceptOnlyJson, parseJson } from '../http/json-body.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { withRequestTrace } from '../http/request-lifecycle.ts'
import type { ResponseFlush } from '../http/response-flush.ts'
import { sendText } from '../http/response-flush.ts'
import { routes } from './routes.ts'
import type { Exchange, SendDownload } from './send-download.ts'
import { createDownloadSender } from './send-download.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Maps field names in errors to names in the request. `names` is `null` until the request is parsed, because parse
     * errors already contain the request's names.
     */
    names: FieldNames | null
    /** A double cannot represent every number in the body, so the body's text is kept. */
    bodyText: string | null
  }
}

type RestOptions = {
  readonly service: Service
  readonly limits: RateLimits | null
  readonly responseFlush: ResponseFlush
  readonly holdStream: HoldStream
}

export function addRestRoutes(app: FastifyInstance, { service, limits, responseFlush, holdStream }: RestOptions): void {
  app.decorateRequest('bodyText', null)
  acceptOnlyJson(app, (body, request) =>
    parseJson(body, (text) => {
      request.bodyText = text
    }),
  )
  const admit = createAdmissionHook(service, limits, responseFlush)
  const sendDownload = createDownloadSender(holdStream)
  const requireQueueSpace = createQueueSpaceHook(service)
  const waitForFlush = (_request: FastifyRequest, _reply: FastifyReply, _payload: unknown, done: () => void) =>
    responseFlush.schedule(done)
  for (const route of routes) {
    const onRequest = [requireAcceptable(route), admit]
    app.route({
      method: route.method,
      url: route.path,
      ...(route.method === 'GET'
        ? { onRequest, onSend: waitForFlush }
        : { onRequest: [...onRequest, requireQueueSpace] }),
      handler: (request, reply) =>
        handleRequest(route, { request, reply }, { service, responseFlush, holdStream, sendDownload }),
    })
  }
}

async function handleRequest(
  route: Route,
  { request, reply }: Exchange,
  { service, responseFlush, holdStream, sendDownload }: Omit<RestOptions, 'limits'> & { sendDownload: SendDownload },
): Promise<void> {
  const { key, faults } = isCreation(route) ? readIdempotencyHeader(request) : noIdempotencyKey
  const { merchantId, aheadMs, caller } = request
  if (route.writeOperation === null) requireScope(caller, 'read')
  const context = createContext(withRequestTrace(service, request), merchantId, key, aheadMs, caller)
  let otherNames: readonly string[] = []
  const sent = unpackInput(route, request, {
    headerErrors: faults,
    onIgnored: (names) => {
      if (route.convert === null) reply.header('x-ignored-fields', ignoredFieldsHeader(names))
      else otherNames = names
    },
  })
  const { input, names, errors } = convertInput(route, sent, pickMembers(request.body, otherNames))
  request.names = names
  if (errors.length > 0) throw invalidInput(errors)
  const run = (context: Context) => route.run(context, input)
  if (route.types !== null) {
    await sendDownload({ request, reply }, async () => (await run(context)).result as Download)
    return
  }
  const { result, isReplayed } = route.isLongPoll(input)
    ? await runWithHeldStream({ request, reply }, holdStream, (signal) => run({ ...context, signal }))
    : await run(context)
  if (isReplayed) reply.header('idempotent-replayed', 'true')
  if (route.location !== null) reply.header('location', route.location(result))
  const response = { status: route.status, type: jsonType, text: route.response.write(result) }
  sendText(reply, response, route.method === 'GET' ? responseFlush.schedule : undefined)
}

function pickMembers(body: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  const members = body as Readonly<Record<string, unknown>>
  return Object.fromEntries(names.map((name) => [name, members[name]]))
}

async function runWithHeldStream<Result>(
  { request, reply }: Exchange,
  holdStream: HoldStream,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController()
  let endedBy: DomainError | null = null
  const { ended, release } = holdStream(request, reply, () => {
    // A keep-alive connection would delay the shutdown.
    reply.header('connection', 'close')
    abort.abort()
  })
  ended.then((reason) => {
    endedBy = reason
    abort.abort()
  })
  try {
    const result = await run(abort.signal)
    if (endedBy !== null) throw endedBy
    return result
  } finally {
    release()
  }
}

export function sendFailure(error: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const payload = toErrorPayload({ names: request.names ?? {}, requestId: request.id, sent: request }, error)
  request.refusalCode = error.code
  // The error response has the usual envelope (ruling 2), or problem details if the client prefers problem details
  // (ruling 10).
  reply.code(httpStatusByCode[error.code]).headers(errorHeaders(error.code))
  return prefersProblemDetails(request.headers.accept)
    ? reply.type('application/problem+json').send(problemDetails.write(payload))
    : reply.type(jsonType).send(failure.write(payload))
}

const jsonType = 'application/json; charset=utf-8'

function prefersProblemDetails(accept: string | undefined): boolean {
  const [json, problem] = [preferenceFor('application/json', accept), preferenceFor('application/problem+json', accept)]
  return (
    problem.quality > json.quality || (problem.isExplicit && problem.quality > 0 && problem.quality === json.quality)
  )
}

/**
 * Rejects a request that accepts no media type of the route (ruling 6). If `Accept` contains only
 * `application/problem+json`, successful responses are still JSON.
 */
function requireAcceptable({ types }: Route) {
  const names = types?.map((type) => type.split(';')[0] as string) ?? ['application/json']
  return ({ headers: { accept } }: FastifyRequest, _: FastifyReply, done: () => void): void => {
    const [json, problem] = [
      preferenceFor('application/json', accept),
      preferenceFor('application/problem+json', accept),
    ]
    const acceptsErrors = json.quality > 0 || (problem.isExplicit && problem.quality > 0 && !json.isExplicit)
    const isAcceptable = acceptsErrors || names.some((name) => preferenceFor(name, accept).quality > 0)
    if (!isAcceptable) throw new DomainError('NOT_ACCEPTABLE', `This service answers ${names.join(', ')} only.`)
    done()
  }
}

function isCreation({ method, writeOperation }: Route): boolean {
  return method === 'POST' && writeOperation !== null
}

const noIdempotencyKey = { key: null, faults: [] }

/** If the idempotency key is invalid, `key` is `null`, and `faults` lists the errors (ruling 22). */
function readIdempotencyHeader({ headers, raw }: FastifyRequest): { key: string | null; faults: FieldError[] } {
  const text = headers[idempotencyKeyHeader]?.toString()
  if (text === undefined) return noIdempotencyKey
  const field = idempotencyKeyField
  // Node joins repeated headers with a comma.
  if (text.includes(',') && countHeader(raw, idempotencyKeyHeader) > 1) {
    return { key: null, faults: [{ field, code: 'INVALID_PARAMETER', message: 'must be given once' }] }
  }
  return parseIdempotencyKey(field, text)
}

const idempotencyKeyHeader = 'idempotency-key'
