import { setTimeout as delay } from 'node:timers/promises'
import { invalidInput } from '../core/errors.ts'
import type { HydratedEvent } from '../modules/events/event-payload.ts'
import { event as eventShape, toEventMessage } from '../modules/events/event-shape.ts'
import { watchEvents } from '../modules/events/list-events.ts'
import { parseWholeNumber, splitList } from '../modules/operators/actions/action-declaration.ts'
import { buildRequest } from '../modules/webhooks/transport/build-request.ts'
import { findUrlFieldErrors } from '../modules/webhooks/transport/destination-policy.ts'
import { judgeResponse } from '../modules/webhooks/transport/retry-schedule.ts'
import type { Sender } from '../modules/webhooks/transport/send.ts'
import { createSender } from '../modules/webhooks/transport/send.ts'
import type { Signer } from '../modules/webhooks/transport/standard-webhooks.ts'
import { generateSharedSecret, parseSigner } from '../modules/webhooks/transport/standard-webhooks.ts'
import type { Context, Service } from '../operations/context.ts'
import type { CommandRuntime, CommandSyntax, CommandTable, OptionValues } from './command.ts'
import { requireMerchantContext, requireSandboxFor, wordAt } from './command.ts'
import { triggerEvent } from './trigger-event.ts'

const eventOptions: CommandSyntax['options'] = {
  merchant: ['merchant id', 'required if there are several'],
  from: ['sequence', 'start with this past event'],
  types: ['list', 'event types, separated by commas; default: all'],
}
const fieldNames = { after: '--from' }

export const eventCommands: CommandTable = {
  'events tail': {
    changes: 'nothing',
    summary: 'Print events as they happen. Runs until Ctrl-C.',
    options: eventOptions,
    names: fieldNames,
    isLongRunning: true,
    run: async (service, _, options, { report, signal }) => {
      const context = await requireMerchantContext(service, options)
      for await (const event of await openEventStream(context, options, signal)) {
        report(eventLine(event), JSON.parse(eventShape.write(event)))
      }
    },
  },
  listen: {
    changes: 'nothing',
    summary:
      'Forward events to a URL as webhooks. Sends them in order, and repeats each until the URL responds with 2xx. Shows the signing secret. Runs until Ctrl-C.',
    required: { 'forward-to': 'url' },
    options: { ...eventOptions, secret: ['whsec_…', 'sign with the secret of an earlier run'] },
    names: fieldNames,
    isLongRunning: true,
    run: async (service, _, options, runtime) => {
      const forwarder = createForwarder(service, { url: options['forward-to'] ?? '', secret: options.secret })
      const context = await requireMerchantContext(service, options)
      const events = await openEventStream(context, options, runtime.signal)
      await forwardEvents(context, events, { ...forwarder, ...runtime })
    },
  },
  trigger: {
    changes: { subject: async (_, options, service) => (await requireMerchantContext(service, options)).merchantId },
    summary: 'Trigger an event in the sandbox. Creates what it needs, such as a customer, a deposit or a payout.',
    words: ['event type'],
    options: { merchant: ['merchant id', 'required if there are several'] },
    run: async (service, words, options) => {
      const context = await requireMerchantContext(requireSandboxFor(service, 'trigger'), options)
      const { sequence, id, type, object, objectId, timestamp } = await triggerEvent(context, wordAt(words, 0))
      return { sequence, id, type, timestamp, objectType: object.type, objectId }
    },
  },
}

/**
 * Streams the events from the sequence number `from`, inclusive (ruling 81). Without `from`, streams only new events.
 */
function openEventStream(
  context: Context,
  { from, types }: OptionValues,
  signal: AbortSignal,
): Promise<AsyncGenerator<HydratedEvent>> {
  const after = from === undefined ? null : Math.max(parseWholeNumber('from', from) - 1, 0)
  return watchEvents(context, { after, types: splitList(types)?.filter(Boolean) }, signal)
}

function eventLine({ sequence, timestamp, type, object, objectId, version }: HydratedEvent): string {
  return [sequence, timestamp, type, `${object.type} ${objectId}`, `version ${version}`].join('  ')
}

/** The last retry delay also applies to all further retries. */
const retryDelaysMs = [1_000, 2_000, 5_000, 10_000, 30_000]

type Forwarder = { readonly url: string; readonly secret: string; readonly signer: Signer; readonly sender: Sender }

/** @throws DomainError INVALID_INPUT with the option's name, if the URL is not allowed for a webhook endpoint */
function createForwarder(
  service: Service,
  { url, secret = generateSharedSecret() }: { url: string; secret?: string | undefined },
): Forwarder {
  const errors = findUrlFieldErrors(service, url)
  if (errors.length > 0) throw invalidInput(errors.map((error) => ({ ...error, field: '--forward-to' })))
  const { mode, webhookAllowed } = service
  return {
    url,
    secret,
    signer: createForwardSigner(secret),
    sender: createSender({ mode, allowlistEntries: webhookAllowed }),
  }
}

function createForwardSigner(secret: string): Signer {
  try {
    return parseSigner([secret])
  } catch {
    const message = 'must be whsec_ with 32 bytes in base64, as an earlier run has shown it'
    throw invalidInput([{ field: '--secret', code: 'INVALID_FORMAT', message }])
  }
}

/**
 * Forwards events in order, and repeats each event until the response is 2xx. At the end, reports the sequence number
 * of the next event. A run that starts at the reported number misses no event, but may repeat the last event
 * (at-least-once delivery).
 */
async function forwardEvents(
  context: Context,
  events: AsyncIterable<HydratedEvent>,
  target: Forwarder & CommandRuntime,
): Promise<void> {
  const { url, secret, sender, report } = target
  report(`Forwarding events to ${url}, signed with ${secret}`, { url, secret })
  let next: number | null = null
  try {
    for await (const event of events) {
      next = event.sequence
      if (await forwardEvent(context, event, target)) next++
    }
  } finally {
    sender.close()
    if (next !== null) report(`Continue with --from ${next}`, { next })
  }
}

/** Retries until the response is 2xx. Returns `false` if the signal is aborted before a 2xx response. */
async function forwardEvent(
  { wallClock }: Context,
  event: HydratedEvent,
  { url, signer, sender, report, signal }: Forwarder & CommandRuntime,
): Promise<boolean> {
  const { sequence, id, type } = event
  for (let attempt = 1; !signal.aborted; attempt++) {
    const request = buildRequest(toEventMessage(event), { format: 'standard', signer, now: wallClock() })
    const response = await resultOrAbort(signal, sender.send(url, request))
    if (response === null) return false
    const { status, error, durationMs } = response
    const outcome = error?.message ?? `answered with ${status}`
    const json = { sequence, id, type, status, error, durationMs }
    report(`${sequence}  ${type}  ${id}  ${outcome} after ${durationMs} ms`, json)
    if (judgeResponse(status).isDelivered) return true
    await delay(retryDelaysMs[Math.min(attempt, retryDelaysMs.length) - 1], null, { signal }).catch(() => {})
  }
  return false
}

function resultOrAbort<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result | null> {
  return new Promise((resolve, reject) => {
    const resolveAborted = () => resolve(null)
    signal.addEventListener('abort', resolveAborted, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', resolveAborted))
  })
}
