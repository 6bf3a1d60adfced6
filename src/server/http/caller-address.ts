import { isIP, SocketAddress } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { isIpNetwork } from '../../core/net/ip-networks.ts'
import { isAddressAllowed } from '../../modules/merchants/api-key.ts'

export type TrustedProxies = number | readonly string[]

const maxHops = 10

export const trustProxyFormat = `off, a number of hops from 1 to ${maxHops}, or the addresses and networks of the proxies (10.0.0.5, 2001:db8::/64), separated by commas, none of them with the prefix /0`

export function parseTrustedProxies(text: string): TrustedProxies | null {
  if (text === 'off') return 0
  if (/^\d+$/.test(text)) return Number(text) >= 1 && Number(text) <= maxHops ? Number(text) : null
  const networks = text.split(',').map((each) => each.trim())
  // With the prefix /0, every address would be a trusted proxy, so any caller could forge its address.
  return networks.every((each) => isIpNetwork(each) && !/\/0+$/.test(each)) ? networks : null
}

export function fastifyTrustProxy(proxies: TrustedProxies): false | ((entry: string, hop: number) => boolean) {
  if (proxies === 0) return false
  if (typeof proxies === 'number') return (_, hop) => hop < proxies
  return (entry) => isAddressAllowed(proxies, parseAddress(entry))
}

/**
 * Returns the address of the socket, or the address that trusted proxies forwarded (ruling 117).
 *
 * @returns an IPv4 address, a canonical IPv6 address, `unknown` for an invalid address, or an empty string if the
 *   connection is closed
 */
export function callerAddress({ ip }: FastifyRequest): string {
  return ip ? parseAddress(ip) : ''
}

/** Use the result only to reject a request, because any caller can send the header `X-Forwarded-Proto`. */
export function isForwardedFromHttp({ headers }: FastifyRequest): boolean {
  return headers['x-forwarded-proto'] === 'http'
}

/** Some proxies add a port to the address, for example `1.2.3.4:5678` or `[2001:db8::1]:5678`. */
function parseAddress(entry = ''): string {
  const [, inBrackets, beforePort] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(entry) ?? []
  const address = inBrackets ?? beforePort ?? entry
  const version = isIP(address)
  if (version === 0 || (inBrackets !== undefined && version === 4)) return 'unknown'
  if (version === 4 || address.includes('%')) return address
  return new SocketAddress({ address, family: 'ipv6' }).address.replace(/^::ffff:(?=\d+\.)/, '')
}
