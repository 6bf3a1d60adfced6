import { isIPv4 } from 'node:net'
import { networkCheck } from '../../core/net/ip-networks.ts'

const checks = new WeakMap<readonly string[], (address: string) => boolean>()

/**
 * Whether an address is in one of the networks of a key, which were held to be some when they were stored. An address of IPv4 is
 * also in what its form in IPv6 is in, in which a socket that takes both shows it.
 */
export function isWithin(networks: readonly string[], address: string): boolean {
  const check = checks.get(networks) ?? networkCheck(networks)
  checks.set(networks, check)
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return check(plain) || (isIPv4(plain) && check(`::ffff:${plain}`))
}
