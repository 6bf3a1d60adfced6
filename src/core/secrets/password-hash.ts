import crypto, { randomBytes, timingSafeEqual } from 'node:crypto'
import { unavailable } from '../errors.ts'

/**
 * OWASP recommends 19,456 KiB of memory and two passes for argon2id. Password hashes with another cost are rejected,
 * because the duration of a sign-in would reveal which operators exist.
 */
const cost = { memory: 19_456, passes: 2, parallelism: 1 }
const saltBytes = 16
const tagBytes = 32

const hashPrefix = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$`
const hashPattern = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{43})$/

export const passwordHashFormat = `${hashPrefix}<salt>$<hash>`

/** Node.js supports argon2 since version 24.7. Only the console needs argon2. */
export const canHashPasswords = typeof crypto.argon2 === 'function'

const maxConcurrentHashes = 2
const maxWaitingHashes = 16

let running = 0
const waiting: (() => void)[] = []

export function isPasswordHash(text: string): boolean {
  return text.startsWith(hashPrefix) && hashPattern.test(text)
}

/** @throws DomainError UNAVAILABLE if too many hashes are being computed */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  return `${hashPrefix}${toBase64(salt)}$${toBase64(await computeTag(password, salt))}`
}

/**
 * The duration is the same for right and wrong passwords. If the operator is unknown, `hash` is `null` and the result
 * is `false`.
 *
 * @throws DomainError UNAVAILABLE if too many hashes are being computed
 */
export async function matchesPassword(password: string, hash: string | null): Promise<boolean> {
  const [, , , , salt, tag = ''] = hashPattern.exec(hash ?? '') ?? []
  const computed = await computeTag(password, salt === undefined ? randomBytes(saltBytes) : Buffer.from(salt, 'base64'))
  const expected = Buffer.alloc(tagBytes)
  Buffer.from(tag, 'base64').copy(expected)
  return timingSafeEqual(computed, expected) && tag !== ''
}

function toBase64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}

async function computeTag(password: string, salt: Buffer): Promise<Buffer> {
  await waitForTurn()
  try {
    return await argon2id(password.normalize('NFKC'), salt)
  } finally {
    running--
    waiting.shift()?.()
  }
}

async function waitForTurn(): Promise<void> {
  if (running >= maxConcurrentHashes) {
    if (waiting.length >= maxWaitingHashes) throw unavailable('Too many people sign in now. Try again in a moment.')
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  running++
}

function argon2id(message: string, nonce: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    crypto.argon2('argon2id', { message, nonce, ...cost, tagLength: tagBytes }, (error, tag) =>
      error ? reject(error) : resolve(tag),
    )
  })
}
