import { isIP } from 'node:net'
import { createNetworkMatcher } from '../../../core/net/ip-networks.ts'

/**
 * The networks in IANA's IPv4 Special-Purpose Address Registry, multicast and reserved networks, and the address of
 * Azure's platform services.
 */
const specialIpv4Networks = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]

/**
 * The first three networks cover everything outside 2000::/3, which is the only allocated unicast space. These three
 * networks include all IPv4-mapped, IPv4-compatible and translated addresses (64:ff9b::/96, 64:ff9b:1::/48). The other
 * networks are Teredo, documentation, AS112, 6to4 and the former 6bone.
 */
const specialIpv6Networks = [
  '::/3',
  '4000::/2',
  '8000::/1',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3ffe::/16',
  '3fff::/20',
]

const isSpecialPurpose = createNetworkMatcher([...specialIpv4Networks, ...specialIpv6Networks])

export function isPublicUnicast(address: string): boolean {
  // An IPv6 address with a zone (`%`) is link-local.
  return isIP(address) !== 0 && !address.includes('%') && !isSpecialPurpose(address)
}
