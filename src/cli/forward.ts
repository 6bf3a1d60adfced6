import { setTimeout as delay } from 'node:timers/promises'
import { invalidInput } from '../core/errors.ts'
import { toEventMessage } from '../modules/events/event-message.ts'
import type { HydratedEvent } from '../modules/events/event-payload.ts'
import { buildRequest } from '../modules/webhooks/transport/build-request.ts'
import { findUrlFieldErrors } from '../modules/webhooks/transport/destination-policy.ts'
import { judgeResponse } from '../modules/webhooks/transport/retry-schedule.ts'
import type { Sender } from '../modules/webhooks/transport/send.ts'
import { createSender } from '../modules/webhooks/transport/send.ts'
import type { Signer } from '../modules/webhooks/transport/standard-webhooks.ts'
import { generateSharedSecret, parseSigner } from '../modules/webhooks/transport/standard-webhooks.ts'
import type { Context, Service } from '../operations/context.ts'
import type { CommandRuntime } from './command.ts'

/** How long is waited after each attempt that failed, and after all later ones as after the last. */
const retryDelaysMs = [1_000, 2_000, 5_000, 10_000, 30_000]

/** What posts events to one URL. */
type Forwarder = { readonly url: string; readonly secret: string; readonly signer: Signer; readonly sender: Sender }

/**
 * Makes what posts to a URL, which may be wherever an endpoint of webhooks may be.
 *
 * @throws Refusal INVALID_INPUT that names the option
 */
export function createForwarder(
  service: Service,
  { url, secret = generateSharedSecret() }: { url: string; secret?: string | undefined },
): Forwarder {
  const faults = findUrlFieldErrors(service, url)
  if (faults.length > 0) throw invalidInput(faults.map((fault) => ({ ...fault, field: '--forward-to' })))
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
 * Posts events in their order, each until it is answered with 2xx, and says which would be next: so whoever begins there
 * misses none, and may get the one again that was under way.
 */
export async function forwardEvents(
  context: Context,
  events: AsyncIterable<HydratedEvent>,
  { url, secret, sender, report: tell, ...rest }: Forwarder & CommandRuntime,
): Promise<void> {
  tell(`Events go to ${url}, signed with ${secret}`, { url, secret })
  let next: number | null = null
  try {
    for await (const told of events) {
      next = told.sequence
      if (await forwardEvent(context, told, { url, secret, sender, report: tell, ...rest })) next++
    }
  } finally {
    sender.close()
    if (next !== null) tell(`Go on with --from ${next}`, { next })
  }
}

/** Whether it was taken, which only an end can prevent. */
async function forwardEvent(
  { wallClock }: Context,
  told: HydratedEvent,
  { url, signer, sender, report: tell, signal }: Forwarder & CommandRuntime,
): Promise<boolean> {
  const { sequence, id, type } = told
  for (let attempt = 1; !signal.aborted; attempt++) {
    const post = buildRequest(toEventMessage(told), { format: 'standard', signer, now: wallClock() })
    const sent = await resultOrAbort(signal, sender.send(url, post))
    if (sent === null) return false
    const { status, error, durationMs } = sent
    const outcome = error?.message ?? `answered with ${status}`
    tell(`${sequence}  ${type}  ${id}  ${outcome} after ${durationMs} ms`, {
      sequence,
      id,
      type,
      status,
      error,
      durationMs,
    })
    if (judgeResponse(status).isDelivered) return true
    await delay(retryDelaysMs[Math.min(attempt, retryDelaysMs.length) - 1], null, { signal }).catch(() => {})
  }
  return false
}

/** What comes of work, or `null` if the end comes before. */
function resultOrAbort<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result | null> {
  return new Promise((resolve, reject) => {
    const resolveAborted = () => resolve(null)
    signal.addEventListener('abort', resolveAborted, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', resolveAborted))
  })
}
