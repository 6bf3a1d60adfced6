import { defineEnum } from '../../core/api/enum-descriptions.ts'
/** The networks on which stablecoins are held and paid out, spelled as the contract spells them (ruling 25). */
export const networks = defineEnum({
  erc20: 'Ethereum, the network that tokens of the kind ERC-20 live on.',
  polygon: 'Polygon; its addresses are those of Ethereum.',
  bep20: 'BNB Smart Chain; its addresses are those of Ethereum.',
  trc20: 'Tron; its addresses start with T.',
  solana: 'Solana; its addresses are of a form of their own.',
})

/** One of `networks`. */
export type Network = (typeof networks)[number]

/** The kinds of address: networks of one family share keys, encoding and therefore addresses. */
const addressFamilies = ['evm', 'tron', 'solana'] as const

/** One of `addressFamilies`. */
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
 * Confirmations after which what a network says of a transaction is taken for final: the block that it is in counts as the first.
 *
 * - Ethereum: a block is finalized two epochs of 32 slots after its own (Gasper, ethereum.org).
 * - Polygon: what was waited for before there were milestones (PIP-11, "current finality time breakdown: 256 blocks"); the
 *   deepest reorganisation known, of February 2023, was of 157.
 * - BNB Smart Chain: two thirds of its 21 validators and one have built on it (BNB Chain's documents, without fast finality).
 * - Tron: 19 of its 27 super representatives have, and the block is solidified (TRON's documents).
 * - Solana: the block is rooted, which `getSignatureStatuses` calls `finalized`: 31 have been built on it.
 */
const confirmations: Record<Network, number> = {
  erc20: 64,
  polygon: 256,
  bep20: 15,
  trc20: 19,
  solana: 32,
}

/** After how many confirmations a deposit on `network` is credited. */
export function requiredConfirmations(network: Network): number {
  return confirmations[network]
}

/** The kind of address that `network` uses. */
export function addressFamily(network: Network): AddressFamily {
  return families[network]
}

/** `network` as the contract writes it inside asset codes: `Erc20` (contract 2.4). */
export function networkLabel(network: Network): Capitalize<Network> {
  return labels[network]
}

/** The spellings that are shown to callers: that of requests, that of asset codes, and capitals. Any other case is taken too. */
export const networkSpellings: readonly string[] = [
  ...networks,
  ...networks.map((network) => networkLabel(network)),
  ...networks.map((network) => network.toUpperCase()),
]

/** What a request says of a network, in any case, as requests spell it; anything else as it is (ruling 25). */
export function normalizeNetwork<Given>(given: Given): Given | Network {
  return typeof given === 'string' ? (networks.find((network) => network === given.toLowerCase()) ?? given) : given
}
