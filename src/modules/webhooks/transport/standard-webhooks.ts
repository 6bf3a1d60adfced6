import { createHmac, sign, timingSafeEqual } from 'node:crypto'
import type { WallTime } from '../../../core/ids-and-clock.ts'
import type { Signer } from './signing-secrets.ts'

/** The headers of Standard Webhooks 1.0.0. */
export type SignedHeaders = {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

/** How far a signature's time may be from ours, in seconds. */
const toleranceSeconds = 300

/** Signatures that are looked at: a sender has one by each of its secrets, and those of a rotation are two. */
const maxSignatures = 10

type SigningInput = { readonly body: string; readonly signer: Signer; readonly now: WallTime }

/** `webhook-id`, `webhook-timestamp` in seconds, and a signature by each secret and private key that is valid now. */
export function createSignedHeaders(
  id: string,
  { body, signer, now }: SigningInput,
): SignedHeaders & { readonly 'content-type': string; readonly 'user-agent': string } {
  const seconds = Math.floor(now / 1000)
  const content = Buffer.from(`${id}.${seconds}.${body}`)
  const others = signer.privateKeys.map((key) => `v1a,${sign(null, content, key).toString('base64')}`)
  return {
    'content-type': 'application/json',
    'user-agent': 'payout-gateway',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': [...signWithSharedSecrets(content, signer), ...others].join(' '),
  }
}

/**
 * The id of what was signed with one of a signer's shared secrets in the last five minutes; `null` for anything else.
 *
 * @param headers as they came, their names in lower case
 */
export function verifySignature(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  { body, signer, now }: SigningInput,
): string | null {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': given } = headers
  if (typeof id !== 'string' || typeof time !== 'string' || typeof given !== 'string') return null
  // Whoever signs chooses its ids: what none needs is kept out of what is stored and logged.
  if (!/^[\x21-\x7e]{1,255}$/.test(id) || !/^\d{1,12}$/.test(time)) return null
  if (Math.abs(now / 1000 - Number(time)) > toleranceSeconds) return null
  const expected = signWithSharedSecrets(Buffer.from(`${id}.${time}.${body}`), signer).map((each) => Buffer.from(each))
  const signatures = given.split(' ', maxSignatures).map((each) => Buffer.from(each))
  const isOurs = (signature: Buffer) =>
    expected.some((each) => each.length === signature.length && timingSafeEqual(each, signature))
  return signatures.some(isOurs) ? id : null
}

function signWithSharedSecrets(content: Buffer, { sharedSecrets: shared }: Signer): string[] {
  return shared.map(({ key }) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`)
}
