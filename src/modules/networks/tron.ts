import { concatBytes } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import { base58Check, isBase58 } from './base58.ts'
import { accountBytes } from './evm.ts'

/**
 * The Tron address of a secp256k1 public key: the version byte and the account's 20 bytes in base58check.
 *
 * @param publicKey SEC1 bytes, compressed (33) or not (65)
 */
export function encodeTronAddress(publicKey: Uint8Array): string {
  return base58Check.encode(concatBytes(Uint8Array.of(versionByte), accountBytes(publicKey)))
}

/** What is wrong with a Tron address, or null: first its alphabet, then its length, version byte and checksum. */
export function tronAddressError(address: string): string | null {
  if (!isBase58(address)) return 'A Tron address is written in base58: digits and letters without 0, O, I and l.'
  // The length goes before the decoding, whose time grows with the square of what a caller sends.
  if (address.length !== 34) return 'A Tron address has 34 characters.'

  const bytes = base58.decode(address)
  if (bytes[0] !== versionByte) return 'A Tron address begins with T, for version byte 0x41.'
  if (base58Check.encode(bytes.subarray(0, 21)) !== address) return 'The checksum of the Tron address is wrong.'
  return null
}

const versionByte = 0x41
