import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { crc32 } from 'node:zlib'
import { createNetworkMatcher } from '../../core/net/ip-networks.ts'
import type { Mode } from '../../operations/context.ts'

/** The first part of every key: secret scanners know a leaked key by it. */
export const apiKeyPrefix = 'pgw'

/** What a key says of itself: which row to look at, and the secret to compare with the hash there. */
export type ApiKey = { readonly mode: Mode; readonly id: string; readonly secret: string }

/** A new key with 192 random bits of secret. */
export function newApiKey(mode: Mode): ApiKey {
  return { mode, id: randomBytes(8).toString('hex'), secret: randomBytes(24).toString('hex') }
}

/** The key as its holder has it: `prefix_mode_id_secret_checksum`. */
export function formatApiKey({ mode, id, secret }: ApiKey): string {
  return withChecksum(`${apiKeyPrefix}_${mode}_${id}_${secret}`)
}

/** Reads a key; `null` when its form or checksum is wrong, which no lookup is needed to know. */
export function parseApiKey(text: string): ApiKey | null {
  if (!/^pgw_(sandbox|live)_[0-9a-f]{16}_[0-9a-f]{48}_[0-9a-f]{8}$/.test(text)) return null
  if (text !== withChecksum(text.slice(0, -9))) return null
  const [, mode, id, secret] = text.split('_') as [string, Mode, string, string]
  return { mode, id, secret }
}

/** What is stored of a secret. One round suffices, because the secret is random and can't be guessed from its hash. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

/** Compares a presented secret with a stored hash in constant time. */
export function matchesHash(secret: string, secretHash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(secret)), Buffer.from(secretHash))
}

function withChecksum(body: string): string {
  return `${body}_${crc32(body).toString(16).padStart(8, '0')}`
}

const networkChecks = new WeakMap<readonly string[], (address: string) => boolean>()

/**
 * Whether an address is in one of the networks of a key, which were held to be some when they were stored. An address of IPv4 is
 * also in what its form in IPv6 is in, in which a socket that takes both shows it.
 */
export function isAddressAllowed(networks: readonly string[], address: string): boolean {
  const check = networkChecks.get(networks) ?? createNetworkMatcher(networks)
  networkChecks.set(networks, check)
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return check(plain) || (isIPv4(plain) && check(`::ffff:${plain}`))
}
