import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

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
