import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToNumberLE } from '@noble/curves/utils.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import { encodeSolanaAddress } from './solana.ts'

/**
 * The sandbox's own extended public keys: `m/44'/60'/0'` and `m/44'/195'/0'` of the mnemonic that development tools
 * share ("test" eleven times, then "junk").
 *
 * Its private keys are public knowledge, so that anyone can spend what a test sends here; live mode must refuse them.
 */
export const sandboxExtendedPublicKeys = {
  evm: 'xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP',
  tron: 'xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr',
} as const

/**
 * The sandbox's Solana address number `index`, on the curve and different for every index.
 *
 * Wallets derive ed25519 keys from private keys only (SLIP-0010), which is why live mode takes Solana addresses from an
 * imported pool. The sandbox needs no wallet to find them again, so it adds a public multiple of the generator to one
 * published key: `base + SHA-512(index) · G`. Who knows the mnemonic knows the private scalar of each sum.
 */
export function sandboxSolanaAddress(index: number): string {
  const step = Fn.create(bytesToNumberLE(sha512(utf8ToBytes(`payout-gateway sandbox solana ${index}`))))
  return encodeSolanaAddress(sandboxSolanaBase.add(Point.BASE.multiply(step)).toBytes())
}

const { Point } = ed25519
const { Fn } = Point

/** The public key of `m/44'/501'/0'/0'`, the same mnemonic's first account in Solana wallets. */
const sandboxSolanaBase = Point.fromBytes(base58.decode('oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96'))
