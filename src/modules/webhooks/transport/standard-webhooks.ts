import type { KeyObject } from 'node:crypto'
import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  timingSafeEqual,
} from 'node:crypto'
import type { WallTime } from '../../../core/ids-and-clock.ts'

const sharedPrefix = 'whsec_'
const privatePrefix = 'whsk_'
const publicPrefix = 'whpk_'

const keyBytes = 32

/**
 * All secrets and keys are sorted newest first. During a rotation, requests are also signed with the previous secrets
 * and keys. Secrets are key objects, because signing with raw bytes takes four times as long.
 */
export type Signer = {
  readonly sharedSecrets: readonly { readonly text: string; readonly key: KeyObject }[]
  readonly privateKeys: readonly KeyObject[]
}

export function generateSharedSecret(): string {
  return sharedPrefix + randomBytes(keyBytes).toString('base64')
}

/** The private key (`whsk_…`) is the ed25519 seed followed by the public key, in base64. */
export function generateKeyPair(): { privateKey: string; publicKey: string } {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  const both = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')])
  const publicKey = publicPrefix + Buffer.from(x, 'base64url').toString('base64')
  return { privateKey: privatePrefix + both.toString('base64'), publicKey }
}

/**
 * @param secrets all valid `whsec_…` and `whsk_…`, newest first; at least one must be a `whsec_…`
 * @throws Error, which does not reveal the secret, if a secret is invalid
 */
export function parseSigner(secrets: readonly string[]): Signer {
  const isPrivate = (text: string) => text.startsWith(privatePrefix)
  const sharedSecrets = secrets
    .filter((text) => !isPrivate(text))
    .map((text) => ({ text, key: createSecretKey(decodeBytes(text, sharedPrefix, keyBytes)) }))
  if (sharedSecrets.length === 0) throw new Error(`An endpoint has no ${sharedPrefix} secret to sign with`)
  return { sharedSecrets, privateKeys: secrets.filter(isPrivate).map(parsePrivateKey) }
}

function parsePrivateKey(text: string): KeyObject {
  const both = decodeBytes(text, privatePrefix, 2 * keyBytes)
  const d = both.subarray(0, keyBytes).toString('base64url')
  const x = both.subarray(keyBytes).toString('base64url')
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })
  // Node.js does not check whether the public key belongs to the private key. If it does not, receivers cannot verify
  // the signatures.
  if (createPublicKey(key).export({ format: 'jwk' }).x !== x)
    throw new Error(`The halves of a ${privatePrefix} key differ`)
  return key
}

function decodeBytes(text: string, prefix: string, length: number): Buffer {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : ''
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.length === length && bytes.toString('base64') === encoded) return bytes
  throw new Error(`A secret is not ${prefix} with ${length} bytes in base64`)
}

export type SignedHeaders = {
  readonly 'webhook-id': string
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

const toleranceSeconds = 300

/** A rotation needs two signatures. */
const maxSignatures = 10

type SigningInput = { readonly body: string; readonly signer: Signer; readonly now: WallTime }

export function createSignedHeaders(
  id: string,
  { body, signer, now }: SigningInput,
): SignedHeaders & { readonly 'content-type': string; readonly 'user-agent': string } {
  const seconds = Math.floor(now / 1000)
  const content = Buffer.from(`${id}.${seconds}.${body}`)
  const asymmetric = signer.privateKeys.map((key) => `v1a,${sign(null, content, key).toString('base64')}`)
  return {
    'content-type': 'application/json',
    'user-agent': 'payout-gateway',
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': [...signWithSharedSecrets(content, signer), ...asymmetric].join(' '),
  }
}

/**
 * Returns the id of a request that a shared secret signed in the last five minutes, or `null`.
 *
 * @param headers have names in lower case
 */
export function verifySignature(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  { body, signer, now }: SigningInput,
): string | null {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': header } = headers
  if (typeof id !== 'string' || typeof time !== 'string' || typeof header !== 'string') return null
  // The request's sender chooses `webhook-id`. The characters of `webhook-id` are restricted, because the id is stored
  // and logged.
  if (!/^[\x21-\x7e]{1,255}$/.test(id) || !/^\d{1,12}$/.test(time)) return null
  if (Math.abs(now / 1000 - Number(time)) > toleranceSeconds) return null
  const expected = signWithSharedSecrets(Buffer.from(`${id}.${time}.${body}`), signer).map((each) => Buffer.from(each))
  const signatures = header.split(' ', maxSignatures).map((each) => Buffer.from(each))
  const isValid = (signature: Buffer) =>
    expected.some((each) => each.length === signature.length && timingSafeEqual(each, signature))
  return signatures.some(isValid) ? id : null
}

function signWithSharedSecrets(content: Buffer, { sharedSecrets }: Signer): string[] {
  return sharedSecrets.map(({ key }) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`)
}
