import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { FieldNames } from '../../core/api/error-message.ts'
import { errorHeaders, httpStatusByCode } from '../../core/api/http-status.ts'
import type { FieldError } from '../../core/errors.ts'
import { DomainError } from '../../core/errors.ts'
import { parseIdempotencyKey } from '../../core/input.ts'
import { requireScope } from '../../operations/access/api-caller.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { failure, problemDetails, toErrorPayload } from '../../rest/error-responses.ts'
import { ignoredFieldsHeader } from '../../rest/ignored-fields.ts'
import type { Download, Route } from '../../rest/route.ts'
import { unpackInput } from '../../rest/route.ts'
import type { HoldStream } from '../graphql/stream-limiter.ts'
import { createAdmissionHook } from '../http/admission.ts'
import { preferenceFor } from '../http/content-negotiation.ts'
import { acceptOnlyJson, parseJson } from '../http/json-body.ts'
import { rejectOtherMethods } from '../http/method-not-allowed.ts'
import type { RateLimits } from '../http/rate-limit.ts'
import { withRequestTrace } from '../http/request-lifecycle.ts'
import type { ResponseFlush } from '../http/response-flush.ts'
import { sendText } from '../http/send-text.ts'
import { countHeader } from '../http/validate-head.ts'
import { routes } from './routes.ts'
import type { SendDownload } from './send-download.ts'
import { createDownloadSender } from './send-download.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** How the caller names the operation's fields; null while the door itself is at work, which uses the caller's names. */
    names: FieldNames | null
    /** The body as it was written, for numbers that a double can't hold. */
    bodyText: string | null
  }
}

type RestExchange = { readonly request: FastifyRequest; readonly reply: FastifyReply }

type RestOptions = {
  readonly service: Service
  readonly limits: RateLimits | null
  readonly responseFlush: ResponseFlush
  readonly holdStream: HoldStream
}

/** Adds the endpoints to the HTTP host. */
export function addRestRoutes(
  app: FastifyInstance,
  { service, limits, responseFlush: turn, holdStream }: RestOptions,
): void {
  app.decorateRequest('bodyText', null)
  acceptOnlyJson(app, (body, request) =>
    parseJson(body, (text) => {
      request.bodyText = text
    }),
  )
  const admitted = createAdmissionHook(service, limits, turn)
  const sendDownload = createDownloadSender(holdStream)
  const requireWriteCapacity = (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    service.db.requireQueueSpace()
    done()
  }
  // What is refused waits too: it was read that there is nothing.
  const waitForFlush = (_request: FastifyRequest, _reply: FastifyReply, _text: unknown, done: () => void) =>
    turn.schedule(done)
  for (const route of routes) {
    const admit = [requireAcceptable(route), admitted]
    app.route({
      method: route.method,
      url: route.path,
      ...(route.method === 'GET'
        ? { onRequest: admit, onSend: waitForFlush }
        : { onRequest: [...admit, requireWriteCapacity] }),
      handler: (request, reply) =>
        handleRequest(route, { request, reply }, { service, responseFlush: turn, holdStream, sendDownload }),
    })
  }
  const sharing = Map.groupBy(routes, ({ path }) => path.replace(/:\w+/g, ':'))
  for (const each of sharing.values()) {
    const methods = each.map(({ method }) => method)
    rejectOtherMethods(app, each[0]?.path ?? '', methods)
  }
}

async function handleRequest(
  route: Route,
  { request, reply }: RestExchange,
  {
    service,
    responseFlush: turn,
    holdStream,
    sendDownload,
  }: Omit<RestOptions, 'limits'> & { sendDownload: SendDownload },
): Promise<void> {
  const { key, faults } = route.method === 'POST' ? readIdempotencyHeader(request) : noIdempotencyKey
  const { merchantId, aheadMs, caller } = request
  if (route.writeOperation === null) requireScope(caller, 'read')
  const context = createContext(withRequestTrace(service, request), merchantId, key, aheadMs, caller)
  const input = unpackInput(route, request, {
    doorFaults: faults,
    onIgnored: (names) => reply.header('x-ignored-fields', ignoredFieldsHeader(names)),
  })
  request.names = route.names
  const run = (context: Context) => route.run(context, input)
  if (route.types !== null) {
    await sendDownload({ request, reply }, async () => (await run(context)).result as Download)
    return
  }
  const { result, isReplayed } = route.isLongPoll(input)
    ? await runWithHeldStream({ request, reply }, holdStream, (signal) => run({ ...context, signal }))
    : await run(context)
  if (isReplayed) reply.header('idempotent-replayed', 'true')
  const answered = { status: route.status, type: jsonType, text: route.response.write(result) }
  sendText(reply, answered, route.method === 'GET' ? turn.schedule : undefined)
}

/** Runs what may wait, until the caller has gone, its key has ended or the service does. */
async function runWithHeldStream<Result>(
  { request, reply }: RestExchange,
  holdStream: HoldStream,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const end = new AbortController()
  let refusal: DomainError | null = null
  const { ended, release } = holdStream(request, reply, () => {
    // Kept open, the connection would have the end of the service wait for it.
    reply.header('connection', 'close')
    end.abort()
  })
  ended.then((reason) => {
    refusal = reason
    end.abort()
  })
  try {
    const result = await run(end.signal)
    if (refusal !== null) throw refusal
    return result
  } finally {
    release()
  }
}

/** Answers a failure in the envelope of ruling 2, or as problem details where the caller asks for them (ruling 10). */
export function sendFailure(refusal: DomainError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const told = toErrorPayload({ names: request.names ?? {}, requestId: request.id }, refusal)
  request.refusalCode = refusal.code
  reply.code(httpStatusByCode[refusal.code]).headers(errorHeaders(refusal.code))
  return prefersProblemDetails(request.headers.accept)
    ? reply.type('application/problem+json').send(problemDetails.write(told))
    : reply.type(jsonType).send(failure.write(told))
}

const jsonType = 'application/json; charset=utf-8'

/** Problem details are for whoever names them, and does not want the envelope more (ruling 10). */
function prefersProblemDetails(accept: string | undefined): boolean {
  const [json, problem] = [preferenceFor('application/json', accept), preferenceFor('application/problem+json', accept)]
  return (
    problem.quality > json.quality || (problem.isExplicit && problem.quality > 0 && problem.quality === json.quality)
  )
}

/**
 * A caller that accepts no JSON can't be answered, or no file where that is what is answered; most say nothing or accept anything
 * (ruling 6). Who names problem details alone means failures by it, and takes JSON.
 */
function requireAcceptable({ types }: Route) {
  const names = types?.map((type) => type.split(';')[0] as string) ?? ['application/json']
  return ({ headers: { accept } }: FastifyRequest, _: FastifyReply, done: () => void): void => {
    const [json, problem] = [
      preferenceFor('application/json', accept),
      preferenceFor('application/problem+json', accept),
    ]
    const takesFailures = json.quality > 0 || (problem.isExplicit && problem.quality > 0 && !json.isExplicit)
    const takes = takesFailures || names.some((name) => preferenceFor(name, accept).quality > 0)
    if (!takes) throw new DomainError('NOT_ACCEPTABLE', `This service answers ${names.join(', ')} only.`)
    done()
  }
}

const noIdempotencyKey = { key: null, faults: [] }

/** The key, `null` when there is none, or what is wrong with it (ruling 22). */
function readIdempotencyHeader({ headers, raw }: FastifyRequest): { key: string | null; faults: FieldError[] } {
  const text = headers[idempotencyKeyHeader]?.toString()
  if (text === undefined) return noIdempotencyKey
  const field = 'Idempotency-Key'
  // Node joins the values of a header that was sent twice by a comma: which of them would be meant?
  if (text.includes(',') && countHeader(raw, idempotencyKeyHeader) > 1) {
    return { key: null, faults: [{ field, code: 'INVALID_PARAMETER', message: 'must be given once' }] }
  }
  return parseIdempotencyKey(field, text)
}

const idempotencyKeyHeader = 'idempotency-key'
