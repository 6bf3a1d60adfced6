import { base58 } from '@scure/base'
import { isBase58 } from './base58.ts'
import type { AddressFamily, Network } from './network.ts'
import { addressFamily } from './network.ts'

/** How the transactions of a network are named, in words for whoever named one otherwise. */
export function transactionHashForm(network: Network): string {
  return forms[addressFamily(network)].words
}

/** The name of a transaction in the one spelling that is kept, so that the same is never taken for another; `null` for no name. */
export function readTransactionHash(network: Network, text: string): string | null {
  return forms[addressFamily(network)].read(text)
}

type Form = { readonly words: string; readonly read: (text: string) => string | null }

const forms: Record<AddressFamily, Form> = {
  evm: {
    words: '0x and 64 hexadecimal digits',
    read: (text) => (/^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : null),
  },
  tron: {
    words: '64 hexadecimal digits',
    read: (text) => (/^[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : null),
  },
  // The first signature of the transaction, which has no other name. Its length goes before the decoding, as for addresses.
  solana: {
    words: '64 bytes in base58',
    read: (text) => (isBase58(text) && text.length <= 88 && base58.decode(text).length === 64 ? text : null),
  },
}
