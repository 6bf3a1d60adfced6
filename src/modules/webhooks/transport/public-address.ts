import { isIP } from 'node:net'
import { createNetworkMatcher } from '../../../core/net/ip-networks.ts'

/** What of IPv4 is not public unicast (IANA's registry of special-purpose addresses), with where Azure serves its machines. */
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
 * Of IPv6 all but 2000::/3, the only unicast that was ever given out, which refuses what is mapped to IPv4, compatible with it
 * or translated to it (64:ff9b::/96, 64:ff9b:1::/48) whatever it holds; and of that Teredo and its neighbours, documentation,
 * AS112, 6to4 and the former 6bone.
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

/** Whether anyone on the internet reaches the same machine at this address; what is no address is not public either. */
export function isPublicUnicast(address: string): boolean {
  // One with a zone is of one link.
  return isIP(address) !== 0 && !address.includes('%') && !isSpecialPurpose(address)
}
