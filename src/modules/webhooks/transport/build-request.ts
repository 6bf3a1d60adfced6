import { createHmac } from 'node:crypto'
import type { WallTime } from '../../../core/ids-and-clock.ts'
import type { Mode } from '../../../operations/context.ts'
import type { WebhookFormat } from './formats.ts'
import type { Signer } from './standard-webhooks.ts'
import { createSignedHeaders } from './standard-webhooks.ts'

export type EventMessage = {
  /** `evt_` and a UUID, by which receivers deduplicate. */
  readonly id: string
  readonly type: string
  /** The time of the event, in ISO 8601. */
  readonly timestamp: string
  readonly sequence: number
  readonly object: { readonly type: string; readonly id: string; readonly version: number }
  readonly mode: Mode
  /** The object as of the event, as JSON in its REST shape; serialized once for all endpoints. */
  readonly data: string
}

export type WebhookRequest = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

export type BuildRequestOptions = {
  readonly format: WebhookFormat
  readonly signer: Signer
  /** The time of the attempt, which is signed. */
  readonly now: WallTime
}

/**
 * Builds the request of an attempt: the body in the endpoint's format and its Standard Webhooks 1.0.0 headers. They sign the time
 * of the attempt, not of the event: receivers reject signatures older than five minutes, and the tenth attempt is days later.
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
 * Builds the original provider's body, which contains its signature.
 *
 * Its receivers parse the body, remove the signature and stringify the rest to verify it. So `data` is parsed and stringified
 * here too: then their JSON.stringify yields the same key order, escapes and numbers. The body has room for one signature, in a
 * rotation that of the newest secret; the headers have all. The HMAC key is the text of the secret, `whsec_` included, because
 * that is what receivers pass to createHmac.
 */
function buildStablestackBody(event: EventMessage, { signer, now }: { signer: Signer; now: WallTime }): string {
  const { id, type } = event
  const object: unknown = JSON.parse(event.data)
  const signed = JSON.stringify({ id, timestamp: now, event_type: type, data: object })
  const secret = signer.sharedSecrets[0]?.text ?? ''
  const hash = createHmac('sha256', secret).update(`${now}.${signed}`).digest('hex')
  // Inserts the signature before `data` without stringifying that again.
  const head = JSON.stringify({ id, timestamp: now, event_type: type })
  return `${head.slice(0, -1)},"signature":"t=${now},s=${hash}"${signed.slice(head.length - 1)}`
}
