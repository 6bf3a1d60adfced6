import { WebhookError } from './errors.ts'
import type { StablestackEvent, WebhookEvent } from './generated/rest.ts'

/** The headers of a request: `Headers`, or an object with names in lower case, as Node.js has them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export type WebhookRequest = {
  /** The bytes as they arrived. A body that was parsed and serialized again may differ. */
  readonly body: string | Uint8Array
  readonly headers: WebhookHeaders
  /** All currently valid secrets (`whsec_…`) and public keys (`whpk_…`); several during a rotation. */
  readonly secrets: string | readonly string[]
  /** The maximum difference between the signature's time and the current time. */
  readonly toleranceSeconds?: number
  /** Milliseconds since 1970. */
  readonly now?: number
}

/**
 * Verifies a webhook's Standard Webhooks 1.0.0 signature, which all formats have, and returns the event. Deduplicate
 * events by their `id`.
 *
 * @throws WebhookError unless a recent signature matches one of the secrets
 */
export async function verifyWebhook(request: WebhookRequest): Promise<WebhookEvent> {
  const { headers, toleranceSeconds = 300, now = Date.now() } = request
  const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body
  const id = headerOf(headers, 'webhook-id')
  const time = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature').split(' ').slice(0, maxSignatures)
  if (!/^[\x21-\x7e]{1,255}$/.test(id) || !/^\d{1,12}$/.test(time))
    throw new WebhookError('malformed', 'The webhook lacks a valid webhook-id or webhook-timestamp.')
  if (Math.abs(now / 1_000 - Number(time)) > toleranceSeconds)
    throw new WebhookError('expired', `The webhook was signed more than ${toleranceSeconds} seconds away from now.`)
  const head = new TextEncoder().encode(`${id}.${time}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  for (const secret of listOf(request.secrets)) {
    const { scheme, algorithm, key } = await importSecret(secret)
    for (const signature of signatures) {
      const bytes = signature.startsWith(`${scheme},`) ? bytesOf(signature.slice(scheme.length + 1)) : null
      // WebCrypto compares in constant time.
      if (bytes && (await crypto.subtle.verify(algorithm, key, bytes, signed))) return parse(body)
    }
  }
  throw new WebhookError('wrong-signature', 'No signature of the webhook is by one of the secrets.')
}

/**
 * Verifies the signature in a body of the format `stablestack`, as receivers of the original provider do. Only the
 * newest secret makes this signature. `verifyWebhook` also verifies such a webhook, by its headers.
 *
 * @throws WebhookError unless the signature is recent and matches one of the secrets
 */
export async function verifyStablestackWebhook(request: Omit<WebhookRequest, 'headers'>): Promise<StablestackEvent> {
  const { body, toleranceSeconds = 300, now = Date.now() } = request
  const event = parse<StablestackEvent>(typeof body === 'string' ? new TextEncoder().encode(body) : body)
  const { signature, ...content } = event
  const [, time = '', hex = ''] = /^t=(\d{1,15}),s=([\da-f]{64})$/.exec(String(signature)) ?? []
  if (!time) throw new WebhookError('malformed', 'The webhook has no valid signature in its body.')
  if (Math.abs(now - Number(time)) > toleranceSeconds * 1_000)
    throw new WebhookError('expired', `The webhook was signed more than ${toleranceSeconds} seconds away from now.`)
  const signed = new TextEncoder().encode(`${time}.${JSON.stringify(content)}`)
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  for (const secret of listOf(request.secrets)) {
    // The HMAC key is the secret's text, including its prefix.
    const key = await importHmac(new TextEncoder().encode(secret))
    if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return event
  }
  throw new WebhookError('wrong-signature', 'The signature of the webhook is by none of the secrets.')
}

/** The maximum number of signatures that are verified; a rotation needs two. */
const maxSignatures = 10

const listOf = (secrets: string | readonly string[]) => (typeof secrets === 'string' ? [secrets] : secrets)

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : (headers as Record<string, unknown>)[name]
  return typeof value === 'string' ? value : ''
}

/** @throws TypeError for a text that is neither a secret nor a public key, without revealing it */
async function importSecret(text: string) {
  const [, prefix, encoded = ''] = /^(whsec|whpk)_(.+)$/.exec(text) ?? []
  const bytes = bytesOf(encoded)
  if (prefix === 'whsec' && bytes && bytes.length >= 24)
    return { scheme: 'v1', algorithm: 'HMAC', key: await importHmac(bytes) }
  if (prefix === 'whpk' && bytes?.length === 32)
    return {
      scheme: 'v1a',
      algorithm: 'Ed25519',
      key: await crypto.subtle.importKey('raw', bytes, 'Ed25519', false, ['verify']),
    }
  throw new TypeError('A webhook secret is whsec_ or whpk_ with its bytes in base64.')
}

function importHmac(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

/** Decodes base64; `null` for another text. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function parse<T = WebhookEvent>(body: Uint8Array): T {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    throw new WebhookError('malformed', 'The body of the webhook is not JSON.')
  }
}
