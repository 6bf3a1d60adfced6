import { networkCheck } from '../doors/ip-networks.ts'

const checks = new WeakMap<readonly string[], (address: string) => boolean>()

/** Whether an address is in one of the networks of a key, which were held to be some when they were stored. */
export function isWithin(networks: readonly string[], address: string): boolean {
  const check = checks.get(networks) ?? networkCheck(networks)
  checks.set(networks, check)
  // An IPv4 caller of a socket that takes both is seen so.
  return check(address.replace(/^::ffff:(?=\d+\.)/i, ''))
}
