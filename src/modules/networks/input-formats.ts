import { base58 } from '@scure/base'
import { isBase58, solanaAddressError } from './address-encoding.ts'
import type { AddressFamily, Network } from './network.ts'
import { addressFamily } from './network.ts'

/**
 * What is wrong with the form of an address on `network`, as a predicate, or null (ruling 23).
 *
 * The forms are those of the contract's samples: some of their EVM addresses have letters that are not hexadecimal, and one has a
 * digit too few. A checksum is not looked at.
 */
export function addressFormatError(network: Network, address: string): string | null {
  const { fits, form } = addressFormats[addressFamily(network)]
  return fits(address) ? null : `must be an address on ${network}: ${form}`
}

const addressFormats: Record<AddressFamily, { fits: (address: string) => boolean; form: string }> = {
  evm: { fits: (address) => /^0x[\dA-Za-z]{39,40}$/.test(address), form: '0x and 40 hexadecimal digits' },
  tron: { fits: (address) => /^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(address), form: 'T and 33 more characters of base58' },
  solana: { fits: (address) => solanaAddressError(address) === null, form: '32 bytes in base58' },
}

/** How the transactions of a network are named, in words for whoever named one otherwise. */
export function transactionHashFormat(network: Network): string {
  return transactionHashFormats[addressFamily(network)].description
}

/** The name of a transaction in the one spelling that is kept, so that the same is never taken for another; `null` for no name. */
export function parseTransactionHash(network: Network, text: string): string | null {
  return transactionHashFormats[addressFamily(network)].parse(text)
}

type TransactionHashFormat = { readonly description: string; readonly parse: (text: string) => string | null }

const transactionHashFormats: Record<AddressFamily, TransactionHashFormat> = {
  evm: {
    description: '0x and 64 hexadecimal digits',
    parse: (text) => (/^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : null),
  },
  tron: {
    description: '64 hexadecimal digits',
    parse: (text) => (/^[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : null),
  },
  // The first signature of the transaction, which has no other name. Its length goes before the decoding, as for addresses.
  solana: {
    description: '64 bytes in base58',
    parse: (text) => (isBase58(text) && text.length <= 88 && base58.decode(text).length === 64 ? text : null),
  },
}
