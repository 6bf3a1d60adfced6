import { BlockList, isIP } from 'node:net'

/** A network in CIDR notation, or one address. */
type Network = { readonly address: string; readonly prefix: number; readonly family: 'ipv4' | 'ipv6' }

/** Reads a network such as `203.0.113.0/24`, or one address; `null` for what is neither. */
export function parseNetwork(text: string): Network | null {
  const [, address = '', length] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return null
  const bits = version === 4 ? 32 : 128
  const prefix = length === undefined ? bits : Number(length)
  return prefix > bits ? null : { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' }
}

/** Whether an address is in one of the networks, which were held to be some when they were stored. */
export function isWithin(networks: readonly string[], address: string): boolean {
  // An IPv4 caller of a socket that takes both is seen so.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIP(plain) !== 0 && listOf(networks).check(plain, isIP(plain) === 4 ? 'ipv4' : 'ipv6')
}

const lists = new WeakMap<readonly string[], BlockList>()

function listOf(networks: readonly string[]): BlockList {
  const known = lists.get(networks)
  if (known) return known
  const list = new BlockList()
  for (const network of networks.flatMap((each) => parseNetwork(each) ?? [])) {
    list.addSubnet(network.address, network.prefix, network.family)
  }
  lists.set(networks, list)
  return list
}
