import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { DomainError } from '../errors.ts'

/**
 * Encrypts secrets with AES-256-GCM. The additional authenticated data `aad` identifies the row, for example
 * `webhook_endpoint:<merchant id>:<endpoint id>`. A ciphertext that is copied to another row cannot be decrypted.
 */
export type Secrets = {
  /** @throws DomainError NOT_CONFIGURED if no key is configured */
  readonly seal: (text: string, aad: string) => string
  /**
   * @throws DomainError NOT_CONFIGURED if the key that encrypted the secret is not configured
   * @throws Error if the ciphertext was changed or was encrypted with another `aad`
   */
  readonly open: (sealed: string, aad: string) => string
  /** Derives bytes from the first key with HKDF. Returns an empty buffer if no key is configured. */
  readonly derive: (purpose: string) => Buffer
}

export const keyBytes = 32

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

// An encrypted secret has the format `s1.<key id>.<base64url of nonce, ciphertext and tag>`.
const sealedPattern = /^s1\.([\w-]{8})\.([\w-]+)$/

/** Encrypts with the first key, and decrypts with any key, so that keys can be rotated. */
export function createSecrets(keys: readonly Buffer[]): Secrets {
  const byId = new Map(keys.map((key) => [deriveKeyId(key), key]))
  const [first] = keys
  if (first === undefined) throw new Error('At least one key is required')
  const firstId = deriveKeyId(first)

  return {
    seal: (text, aad) => {
      // Random 96-bit nonces are safe for 2³² messages with one key (NIST SP 800-38D, 8.3).
      const nonce = randomBytes(nonceBytes)
      const encryption = createCipheriv(cipher, first, nonce).setAAD(Buffer.from(aad))
      const sealed = [nonce, encryption.update(text, 'utf8'), encryption.final(), encryption.getAuthTag()]
      return `s1.${firstId}.${Buffer.concat(sealed).toString('base64url')}`
    },
    open: (sealed, aad) => {
      const [, id = '', contents = ''] = sealedPattern.exec(sealed) ?? []
      const bytes = Buffer.from(contents, 'base64url')
      // Different base64url texts can decode to the same bytes, so only the canonical text is accepted.
      if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== contents) throw tamperedSecretError()
      const key = byId.get(id)
      if (key === undefined) throw missingKeyError(id)
      return decrypt(bytes, { key, aad })
    },
    derive: (purpose) => Buffer.from(hkdfSync('sha256', first, Buffer.alloc(0), purpose, keyBytes)),
  }
}

/** The key id is part of each ciphertext, and does not reveal the key. */
export function deriveKeyId(key: Buffer): string {
  return createHash('sha256').update(key).digest().subarray(0, 6).toString('base64url')
}

function decrypt(bytes: Buffer, { key, aad }: { key: Buffer; aad: string }): string {
  const decryption = createDecipheriv(cipher, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes })
  decryption.setAAD(Buffer.from(aad)).setAuthTag(bytes.subarray(-tagBytes))
  const text = decryption.update(bytes.subarray(nonceBytes, -tagBytes))
  try {
    return Buffer.concat([text, decryption.final()]).toString('utf8')
  } catch {
    throw tamperedSecretError()
  }
}

const secretsKeyHint =
  'SECRETS_KEY must be set to 32 random bytes in base64, as `openssl rand -base64 32` writes them, for all processes alike'

export const noSecrets: Secrets = {
  seal: () => {
    throw new DomainError('NOT_CONFIGURED', `The service cannot encrypt secrets: ${secretsKeyHint}.`)
  },
  open: () => {
    throw new DomainError('NOT_CONFIGURED', `The service cannot decrypt secrets: ${secretsKeyHint}.`)
  },
  derive: () => Buffer.alloc(0),
}

function missingKeyError(id: string): DomainError {
  const message = `The key ${id}, which encrypted this secret, is not configured: SECRETS_KEY must list it after the current key.`
  return new DomainError('NOT_CONFIGURED', message)
}

function tamperedSecretError(): Error {
  return new Error('An encrypted secret was changed, or belongs to another row')
}

export const keyFormat = '32 bytes in base64'

export function parseKeys(text: string): Buffer[] | null {
  const keys = text.split(',').map((each) => parseKey(each.trim()))
  return keys.every((key) => key !== null) ? keys : null
}

function parseKey(text: string): Buffer | null {
  const key = Buffer.from(text, 'base64')
  // Node.js ignores invalid base64 characters, so only canonical base64 is accepted.
  return key.length === keyBytes && key.toString('base64') === text ? key : null
}
