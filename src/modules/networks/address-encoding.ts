import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { base58, createBase58check } from '@scure/base'

/**
 * The EIP-55 address of a secp256k1 public key, the same on every EVM network.
 *
 * @param publicKey SEC1 bytes, compressed (33) or not (65)
 */
export function encodeEvmAddress(publicKey: Uint8Array): string {
  return `0x${withChecksum(bytesToHex(accountBytes(publicKey)))}`
}

/**
 * What is wrong with an EVM address, or null.
 *
 * An address wholly in lower or wholly in upper case carries no checksum (EIP-55), so only its form can be checked.
 */
export function evmAddressError(address: string): string | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return 'An EVM address is 0x and 40 hexadecimal digits.'

  const digits = address.slice(2)
  const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (!hasChecksum || digits === withChecksum(digits.toLowerCase())) return null
  return 'The EIP-55 checksum of the EVM address, its mix of upper and lower case, is wrong.'
}

/**
 * The 20 bytes that name a key's account: the end of the Keccak-256 hash of its point.
 *
 * Exported because Tron names accounts by the same bytes and only writes them differently.
 */
export function accountBytes(publicKey: Uint8Array): Uint8Array {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1)
  return keccak_256(point).subarray(-20)
}

/** Capitalizes each letter of 40 lower-case digits where the hash of those digits has a nibble of 8 or more. */
function withChecksum(digits: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)))
  return digits.replace(/[a-f]/g, (letter, at: number) => (hash.charAt(at) >= '8' ? letter.toUpperCase() : letter))
}

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

/** Base58 with four bytes of double SHA-256 at the end, as Tron addresses and BIP-32 extended keys are written. */
export const base58Check = createBase58check(sha256)

/** Whether `text` holds nothing but base58 digits, which leave out 0, O, I and l because they look alike. */
export function isBase58(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]+$/.test(text)
}
