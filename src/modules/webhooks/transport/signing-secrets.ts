import type { KeyObject } from 'node:crypto'
import { createPrivateKey, createPublicKey, createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'

// Standard Webhooks 1.0.0, "Signature scheme": what secrets and keys begin with.
const sharedPrefix = 'whsec_'
const privatePrefix = 'whsk_'
const publicPrefix = 'whpk_'

/** Bytes of a shared secret; of an ed25519 seed and of its public key too. */
const keyBytes = 32

/** What signs for an endpoint, ready for use (Node takes four times as long with the bytes of a key): the newest first, and those that are still valid beside it in a rotation. */
export type Signer = {
  readonly sharedSecrets: readonly { readonly text: string; readonly key: KeyObject }[]
  readonly privateKeys: readonly KeyObject[]
}

/** A new `whsec_…`: 32 random bytes in base64. */
export function generateSharedSecret(): string {
  return sharedPrefix + randomBytes(keyBytes).toString('base64')
}

/** A new ed25519 pair: `whsk_…` is seed and public key together, as the specification's own samples are, in base64. */
export function generateKeyPair(): { privateKey: string; publicKey: string } {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  const both = Buffer.concat([Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')])
  return { privateKey: privatePrefix + both.toString('base64'), publicKey: formatPublicKey(x) }
}

/**
 * Reads what an endpoint signs with now.
 *
 * @param secrets every `whsec_…` and `whsk_…` that is valid, the newest first; at least one `whsec_…`
 * @throws an error where one is neither, which says nothing of its contents
 */
export function parseSigner(secrets: readonly string[]): Signer {
  const isPrivate = (text: string) => text.startsWith(privatePrefix)
  const shared = secrets
    .filter((text) => !isPrivate(text))
    .map((text) => ({ text, key: createSecretKey(decodeBytes(text, sharedPrefix, keyBytes)) }))
  if (shared.length === 0) throw new Error(`An endpoint has no ${sharedPrefix} to sign with`)
  return { sharedSecrets: shared, privateKeys: secrets.filter(isPrivate).map(parsePrivateKey) }
}

function parsePrivateKey(text: string): KeyObject {
  const both = decodeBytes(text, privatePrefix, 2 * keyBytes)
  const d = both.subarray(0, keyBytes).toString('base64url')
  const x = both.subarray(keyBytes).toString('base64url')
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', d, x }, format: 'jwk' })
  // Node takes a public half of another key, and what it signs no receiver could verify.
  if (createPublicKey(key).export({ format: 'jwk' }).x !== x) throw new Error(`The halves of a ${privatePrefix} differ`)
  return key
}

function decodeBytes(text: string, prefix: string, length: number): Buffer {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : ''
  const read = Buffer.from(encoded, 'base64')
  if (read.length === length && read.toString('base64') === encoded) return read
  throw new Error(`A secret is not ${prefix} with ${length} bytes in base64`)
}

function formatPublicKey(x: string): string {
  return publicPrefix + Buffer.from(x, 'base64url').toString('base64')
}
