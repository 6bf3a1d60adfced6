import { setTimeout as delay } from 'node:timers/promises'
import { invalidInput } from '../core/errors.ts'
import { eventMessage } from '../modules/events/event-message.ts'
import type { Told } from '../modules/events/event-payload.ts'
import { urlFaults } from '../modules/webhooks/endpoints/endpoint-url.ts'
import { writePost } from '../modules/webhooks/transport/build-request.ts'
import { judge } from '../modules/webhooks/transport/retry-schedule.ts'
import type { Sender } from '../modules/webhooks/transport/send.ts'
import { createSender } from '../modules/webhooks/transport/send.ts'
import type { Signer } from '../modules/webhooks/transport/signing-secrets.ts'
import { newSharedSecret, signerOf } from '../modules/webhooks/transport/signing-secrets.ts'
import type { Context, Service } from '../operations/context.ts'
import type { Going } from './command.ts'

/** How long is waited after each attempt that failed, and after all later ones as after the last. */
const pausesMs = [1_000, 2_000, 5_000, 10_000, 30_000]

/** What posts events to one URL. */
type Forwarder = { readonly url: string; readonly secret: string; readonly signer: Signer; readonly sender: Sender }

/**
 * Makes what posts to a URL, which may be wherever an endpoint of webhooks may be.
 *
 * @throws Refusal INVALID_INPUT that names the option
 */
export function forwarderTo(
  service: Service,
  { url, secret = newSharedSecret() }: { url: string; secret?: string | undefined },
): Forwarder {
  const faults = urlFaults(service, url)
  if (faults.length > 0) throw invalidInput(faults.map((fault) => ({ ...fault, field: '--forward-to' })))
  const { mode, webhookAllowed } = service
  return { url, secret, signer: signerWith(secret), sender: createSender({ mode, allowed: webhookAllowed }) }
}

function signerWith(secret: string): Signer {
  try {
    return signerOf([secret])
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
  events: AsyncIterable<Told>,
  { url, secret, sender, tell, ...rest }: Forwarder & Going,
): Promise<void> {
  tell(`Events go to ${url}, signed with ${secret}`, { url, secret })
  let next: number | null = null
  try {
    for await (const told of events) {
      next = told.sequence
      if (await forward(context, told, { url, secret, sender, tell, ...rest })) next++
    }
  } finally {
    sender.close()
    if (next !== null) tell(`Go on with --from ${next}`, { next })
  }
}

/** Whether it was taken, which only an end can prevent. */
async function forward(
  { wallClock }: Context,
  told: Told,
  { url, signer, sender, tell, signal }: Forwarder & Going,
): Promise<boolean> {
  const { sequence, id, type } = told
  for (let attempt = 1; !signal.aborted; attempt++) {
    const post = writePost(eventMessage(told), { format: 'standard', signer, now: wallClock() })
    const sent = await orEnd(signal, sender.send(url, post))
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
    if (judge(status).isDelivered) return true
    await delay(pausesMs[Math.min(attempt, pausesMs.length) - 1], null, { signal }).catch(() => {})
  }
  return false
}

/** What comes of work, or `null` if the end comes before. */
function orEnd<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result | null> {
  return new Promise((resolve, reject) => {
    const end = () => resolve(null)
    signal.addEventListener('abort', end, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', end))
  })
}
