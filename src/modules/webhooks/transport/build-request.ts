import { createHmac } from 'node:crypto'
import type { WallTime } from '../../../core/ids-and-clock.ts'
import type { Mode } from '../../../operations/context.ts'
import type { WebhookFormat } from './formats.ts'
import type { Signer } from './standard-webhooks.ts'
import { createSignedHeaders } from './standard-webhooks.ts'

export type EventMessage = {
  /** Receivers use the event's id to recognize duplicates. */
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly sequence: number
  readonly object: { readonly type: string; readonly id: string; readonly version: number }
  readonly mode: Mode
  readonly imported?: true
  /** The event's object at the time of the event, as JSON with the fields of the REST API. */
  readonly data: string
}

export type WebhookRequest = { readonly body: string; readonly headers: Readonly<Record<string, string>> }

export type BuildRequestOptions = {
  readonly format: WebhookFormat
  readonly signer: Signer
  readonly now: WallTime
}

/**
 * Uses the headers of Standard Webhooks 1.0.0. The signed time is the time of the attempt, because receivers reject
 * signatures older than five minutes.
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

function buildEnvelope(event: EventMessage, hasData: boolean): string {
  const { id, type, timestamp, sequence, object, mode, imported, data } = event
  const head = JSON.stringify({
    id,
    type,
    timestamp,
    sequence,
    object: { type: object.type, id: object.id, version: object.version },
    mode,
    imported,
  })
  return hasData ? `${head.slice(0, -1)},"data":${data}}` : head
}

/**
 * In the original provider's format, the body contains a signature. To verify the signature, receivers parse the body,
 * remove the signature, and stringify the rest. The service parses and stringifies `data` in the same way, so that the
 * signed text has the same key order, escapes and numbers. The HMAC key is the text of the newest secret including
 * `whsec_`, because receivers pass that text to createHmac.
 */
function buildStablestackBody(event: EventMessage, { signer, now }: { signer: Signer; now: WallTime }): string {
  const { id, type } = event
  const object: unknown = JSON.parse(event.data)
  const signed = JSON.stringify({ id, timestamp: now, event_type: type, data: object })
  const secret = signer.sharedSecrets[0]?.text ?? ''
  const hash = createHmac('sha256', secret).update(`${now}.${signed}`).digest('hex')
  const head = JSON.stringify({ id, timestamp: now, event_type: type })
  return `${head.slice(0, -1)},"signature":"t=${now},s=${hash}"${signed.slice(head.length - 1)}`
}
