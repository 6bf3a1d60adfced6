import { base58 } from '@scure/base'
import { isBase58, solanaAddressError } from './address-encoding.ts'
import type { AddressFamily, Network } from './network.ts'
import { addressFamily } from './network.ts'

/**
 * Returns `null` for a valid address, otherwise a message that can follow the field's name (ruling 23). Does not verify
 * checksums. Allows the sample addresses of the API contract, although some EVM addresses among them are malformed.
 */
export function addressFormatError(network: Network, address: string): string | null {
  const { matches, description } = addressFormats[addressFamily(network)]
  return matches(address) ? null : `must be an address on ${network}: ${description}`
}

const addressFormats: Record<AddressFamily, { matches: (address: string) => boolean; description: string }> = {
  evm: { matches: (address) => /^0x[\dA-Za-z]{39,40}$/.test(address), description: '0x and 40 hexadecimal digits' },
  tron: {
    matches: (address) => /^T[1-9A-HJ-NP-Za-km-z]{33}$/.test(address),
    description: 'T and 33 more characters of base58',
  },
  solana: { matches: (address) => solanaAddressError(address) === null, description: '32 bytes in base58' },
}

export function transactionHashFormat(network: Network): string {
  return transactionHashFormats[addressFamily(network)].description
}

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
  // A Solana transaction is identified by its first signature.
  solana: {
    description: '64 bytes in base58',
    parse: (text) => (isBase58(text) && text.length <= 88 && base58.decode(text).length === 64 ? text : null),
  },
}
