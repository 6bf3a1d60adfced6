import { createHmac } from 'node:crypto'
import type { WallTime } from '../../../core/ids-and-clock.ts'
import type { WebhookFormat } from './formats.ts'
import type { EventMessage, WebhookRequest } from './message.ts'
import type { Signer } from './signing-secrets.ts'
import { createSignedHeaders } from './standard-webhooks.ts'

/** How an event is written for one attempt; `now` is the time of the attempt in milliseconds, and is what is signed. */
export type BuildRequestOptions = { readonly format: WebhookFormat; readonly signer: Signer; readonly now: WallTime }

/**
 * What is posted at an attempt: the body in the endpoint's format, and the headers of Standard Webhooks 1.0.0 over it.
 *
 * Whatever is signed has the time of the attempt and not the event's: receivers refuse what is older than five minutes, and
 * the tenth attempt is days old.
 */
export function buildRequest(event: EventMessage, { format, signer, now }: BuildRequestOptions): WebhookRequest {
  const body = bodyBuilders[format](event, { signer, now })
  return { body, headers: createSignedHeaders(event.id, { body, signer, now }) }
}

const bodyBuilders: Record<
  WebhookFormat,
  (event: EventMessage, signing: Omit<BuildRequestOptions, 'format'>) => string
> = {
  standard: (event) => buildEnvelope(event, true),
  thin: (event) => buildEnvelope(event, false),
  stablestack: buildStablestackBody,
}

/** The event as the feed has it; `data` goes in as it was written. */
function buildEnvelope({ id, type, timestamp, sequence, object, mode, data }: EventMessage, hasData: boolean): string {
  const head = JSON.stringify({
    id,
    type,
    timestamp,
    sequence,
    object: { type: object.type, id: object.id, version: object.version },
    mode,
  })
  return hasData ? `${head.slice(0, -1)},"data":${data}}` : head
}

/**
 * The provider's body, whose signature stands in it.
 *
 * Its receivers verify what they get when they parse the body, take the signature out and write the rest anew. So it is
 * written from what parsing gives: then their JSON.stringify finds the same order of keys, escapes and numbers, whatever was
 * in `data`. There is room for one signature, which in a rotation is by the newest secret; the headers have all of them. The
 * secret is the text that its owner was shown, `whsec_` included: that is what they pass to createHmac.
 */
function buildStablestackBody(event: EventMessage, { signer, now }: { signer: Signer; now: WallTime }): string {
  const { id, type } = event
  const object: unknown = JSON.parse(event.data)
  const signed = JSON.stringify({ id, timestamp: now, event_type: type, data: object })
  const secret = signer.sharedSecrets[0]?.text ?? ''
  const hash = createHmac('sha256', secret).update(`${now}.${signed}`).digest('hex')
  // Once more with the signature in its place: `data` comes last, so the rest is what was signed.
  const head = JSON.stringify({ id, timestamp: now, event_type: type })
  return `${head.slice(0, -1)},"signature":"t=${now},s=${hash}"${signed.slice(head.length - 1)}`
}
