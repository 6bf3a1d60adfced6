import { isIPv4 } from 'node:net'
import { createNetworkMatcher } from '../../core/net/ip-networks.ts'

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
