import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { crc32 } from 'node:zlib'
import { createNetworkMatcher } from '../../core/net/ip-networks.ts'
import type { Mode } from '../../operations/context.ts'

/** Secret scanners find leaked API keys by the prefix `pgw`. */
export const apiKeyPrefix = 'pgw'

export type ApiKey = { readonly mode: Mode; readonly id: string; readonly secret: string }

export function newApiKey(mode: Mode): ApiKey {
  return { mode, id: randomBytes(8).toString('hex'), secret: randomBytes(24).toString('hex') }
}

export function formatApiKey({ mode, id, secret }: ApiKey): string {
  return withChecksum(`${apiKeyPrefix}_${mode}_${id}_${secret}`)
}

/** Returns `null` for a wrong format or checksum, without a database query. */
export function parseApiKey(text: string): ApiKey | null {
  if (!/^pgw_(sandbox|live)_[0-9a-f]{16}_[0-9a-f]{48}_[0-9a-f]{8}$/.test(text)) return null
  if (text !== withChecksum(text.slice(0, -9))) return null
  const [, mode, id, secret] = text.split('_') as [string, Mode, string, string]
  return { mode, id, secret }
}

/** One round of SHA-256 suffices, because the secret is random. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}

export function matchesHash(secret: string, secretHash: string): boolean {
  return timingSafeEqual(Buffer.from(hashSecret(secret)), Buffer.from(secretHash))
}

function withChecksum(body: string): string {
  return `${body}_${crc32(body).toString(16).padStart(8, '0')}`
}

const networkChecks = new WeakMap<readonly string[], (address: string) => boolean>()

/**
 * A dual-stack socket reports an IPv4 address as an IPv4-mapped IPv6 address, so the two notations are equivalent. The
 * allowed networks were validated before they were stored.
 */
export function isAddressAllowed(networks: readonly string[], address: string): boolean {
  const check = networkChecks.get(networks) ?? createNetworkMatcher(networks)
  networkChecks.set(networks, check)
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return check(plain) || (isIPv4(plain) && check(`::ffff:${plain}`))
}
