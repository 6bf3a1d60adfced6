import { defineEnum } from '../../core/api/enum-descriptions.ts'
/** The networks are spelled as in the API contract (ruling 25). */
export const networks = defineEnum({
  erc20: 'Ethereum (ERC-20 tokens).',
  polygon: 'Polygon. Its addresses are those of Ethereum.',
  bep20: 'BNB Smart Chain. Its addresses are those of Ethereum.',
  trc20: 'Tron. Its addresses start with T.',
  solana: 'Solana. Its addresses are 32 bytes in base58.',
})

export type Network = (typeof networks)[number]

/** A public key has the same address on all networks of an address family. */
const addressFamilies = ['evm', 'tron', 'solana'] as const

export type AddressFamily = (typeof addressFamilies)[number]

const families: Record<Network, AddressFamily> = {
  erc20: 'evm',
  polygon: 'evm',
  bep20: 'evm',
  trc20: 'tron',
  solana: 'solana',
}

const labels: { [Each in Network]: Capitalize<Each> } = {
  erc20: 'Erc20',
  polygon: 'Polygon',
  bep20: 'Bep20',
  trc20: 'Trc20',
  solana: 'Solana',
}

/**
 * The number of confirmations after which a transaction is final. The block of the transaction is the first
 * confirmation.
 *
 * - Ethereum: a block is finalized two epochs of 32 slots after its own epoch (Gasper, ethereum.org).
 * - Polygon: the number of confirmations that was usual before milestones (PIP-11). The deepest known reorganization, in
 *   February 2023, had 157 blocks.
 * - BNB Smart Chain: two thirds of the 21 validators plus one (BNB Chain's documentation, without fast finality).
 * - Tron: a block is solidified after 19 of the 27 super representatives have confirmed it (TRON's documentation).
 * - Solana: a block is rooted (`finalized` in `getSignatureStatuses`) after 31 more blocks.
 */
const confirmations: Record<Network, number> = {
  erc20: 64,
  polygon: 256,
  bep20: 15,
  trc20: 19,
  solana: 32,
}

export function requiredConfirmations(network: Network): number {
  return confirmations[network]
}

export function addressFamily(network: Network): AddressFamily {
  return families[network]
}

/** Returns the spelling of the network in asset codes, for example `Erc20` (contract 2.4). */
export function networkLabel(network: Network): Capitalize<Network> {
  return labels[network]
}

/** The usual spellings of networks. Requests may spell networks in any case. */
export const networkSpellings: readonly string[] = [
  ...networks,
  ...networks.map((network) => networkLabel(network)),
  ...networks.map((network) => network.toUpperCase()),
]

/** If the value is not a network, returns it unchanged (ruling 25). */
export function normalizeNetwork<Value>(value: Value): Value | Network {
  return typeof value === 'string' ? (networks.find((network) => network === value.toLowerCase()) ?? value) : value
}
