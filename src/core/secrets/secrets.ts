import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto'
import { DomainError } from '../errors.ts'

/**
 * How what must be read again but never lie open is kept: encrypted, and bound to where it belongs.
 *
 * `aad` says where that is, such as `webhook_endpoint:<merchant id>:<endpoint id>`; what is put anywhere else does not open.
 */
export type Secrets = {
  /** @throws Refusal NOT_CONFIGURED where there is no key */
  readonly seal: (text: string, aad: string) => string
  /**
   * @throws Refusal NOT_CONFIGURED where the key that sealed it is not there any more
   * @throws an error where it was changed, or belongs elsewhere
   */
  readonly open: (sealed: string, aad: string) => string
  /** Bytes that nobody can make who does not have the key that seals, the same for the same purpose; none where there is no key. */
  readonly derive: (purpose: string) => Buffer
}

/** Bytes of a key of AES-256. */
export const keyBytes = 32

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

// The version of the form, which key, and nonce, ciphertext and tag in one.
const sealedPattern = /^s1\.([\w-]{8})\.([\w-]+)$/

/** Seals with the first of `keys`, which there must be, and opens with whichever of them sealed. */
export function createSecrets(keys: readonly Buffer[]): Secrets {
  const byId = new Map(keys.map((key) => [deriveKeyId(key), key]))
  const [first] = keys
  if (first === undefined) throw new Error('There is no key to seal with')
  const firstId = deriveKeyId(first)

  return {
    seal: (text, aad) => {
      // Random nonces of 96 bits are safe for four billion texts of one key (NIST SP 800-38D, 8.3).
      const nonce = randomBytes(nonceBytes)
      const encryption = createCipheriv(cipher, first, nonce).setAAD(Buffer.from(aad))
      const sealed = [nonce, encryption.update(text, 'utf8'), encryption.final(), encryption.getAuthTag()]
      return `s1.${firstId}.${Buffer.concat(sealed).toString('base64url')}`
    },
    open: (sealed, aad) => {
      const [, id = '', contents = ''] = sealedPattern.exec(sealed) ?? []
      const bytes = Buffer.from(contents, 'base64url')
      // What is not as this writes it was changed, though it may mean the same bytes.
      if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== contents) throw tamperedSecretError()
      const key = byId.get(id)
      if (key === undefined) throw missingKeyError(id)
      return decrypt(bytes, { key, aad })
    },
    derive: (purpose) => Buffer.from(hkdfSync('sha256', first, Buffer.alloc(0), purpose, keyBytes)),
  }
}

/** The names of keys as what they sealed has them: they tell nothing of the key. */
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

/** Where no key is configured: nothing can be sealed, and what was sealed before can't be opened. */
export const noSecrets: Secrets = {
  seal: () => {
    throw new DomainError('NOT_CONFIGURED', `The service can keep no secrets: ${secretsKeyHint}.`)
  },
  open: () => {
    throw new DomainError('NOT_CONFIGURED', `The service can open no secrets: ${secretsKeyHint}.`)
  },
  derive: () => Buffer.alloc(0),
}

function missingKeyError(id: string): DomainError {
  const message = `The key ${id}, which sealed this secret, is not there: SECRETS_KEY must list it, after the one that seals now.`
  return new DomainError('NOT_CONFIGURED', message)
}

function tamperedSecretError(): Error {
  return new Error('A sealed secret was changed, or belongs elsewhere')
}
