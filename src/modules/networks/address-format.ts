import type { AddressFamily, Network } from './network.ts'
import { addressFamily } from './network.ts'
import { solanaAddressError } from './solana.ts'

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
