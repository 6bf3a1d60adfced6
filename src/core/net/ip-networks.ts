import { BlockList, isIP } from 'node:net'

type IpNetwork = { readonly address: string; readonly prefix: number; readonly family: IpFamily }

type IpFamily = 'ipv4' | 'ipv6'

const addressBits: Record<IpFamily, number> = { ipv4: 32, ipv6: 128 }

function parseNetwork(text: string): IpNetwork | null {
  const [, address = '', length] = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i.exec(text) ?? []
  const family = familyOf(address)
  if (family === null) return null
  const prefix = Number(length ?? addressBits[family])
  return prefix > addressBits[family] ? null : { address, prefix, family }
}

export function isIpNetwork(text: string): boolean {
  return parseNetwork(text) !== null
}

/**
 * The matcher returns `false` for an IPv6 address with a zone (`fe80::1%eth0`).
 *
 * @throws Error if a network is invalid
 */
export function createNetworkMatcher(networks: readonly string[]): (address: string) => boolean {
  // One `BlockList` for both address families would also match an IPv4 address (as ::ffff:<address>) with an IPv6
  // network.
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const text of networks) {
    const network = parseNetwork(text)
    if (network === null) throw new Error(`${JSON.stringify(text)} must be a network (10.0.0.0/8) or an address`)
    lists[network.family].addSubnet(network.address, network.prefix, network.family)
  }
  return (address) => {
    const family = familyOf(address)
    return family !== null && !address.includes('%') && lists[family].check(address, family)
  }
}

function familyOf(address: string): IpFamily | null {
  const version = isIP(address)
  return version === 0 ? null : `ipv${version as 4 | 6}`
}

export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host)
}
