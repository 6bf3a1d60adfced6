import { base58 } from '@scure/base'
import { isBase58 } from './base58.ts'

/** The Solana address of an ed25519 public key: its 32 bytes in base58. */
export function encodeSolanaAddress(publicKey: Uint8Array): string {
  return base58.encode(publicKey)
}

/**
 * What is wrong with a Solana address, or null.
 *
 * Bytes off the ed25519 curve pass: program-derived addresses (multisig vaults, escrows) lie off it by design and do
 * receive tokens. As the format has no checksum either, a typing error that keeps 32 bytes cannot be found.
 */
export function solanaAddressError(address: string): string | null {
  if (!isBase58(address)) return 'A Solana address is written in base58: digits and letters without 0, O, I and l.'
  // The length goes before the decoding, whose time grows with the square of what a caller sends.
  if (address.length > 44 || base58.decode(address).length !== 32) return 'A Solana address encodes exactly 32 bytes.'
  return null
}
