import { secp256k1 } from '@noble/curves/secp256k1.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { base58, createBase58check } from '@scure/base'

/** @param publicKey is in SEC1 form: 33 bytes if compressed, otherwise 65 bytes */
export function encodeEvmAddress(publicKey: Uint8Array): string {
  return `0x${withChecksum(bytesToHex(accountBytes(publicKey)))}`
}

export function checksumEvmAddress(text: string): string | null {
  return /^0x[0-9a-f]{40}$/i.test(text) ? `0x${withChecksum(text.slice(2).toLowerCase())}` : null
}

/**
 * If all letters of an EVM address have the same case, the address has no checksum (EIP-55), and only the format is
 * checked.
 */
export function evmAddressError(address: string): string | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(address)) return 'An EVM address is 0x and 40 hexadecimal digits.'

  const digits = address.slice(2)
  const hasChecksum = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  if (!hasChecksum || digits === withChecksum(digits.toLowerCase())) return null
  return 'The EIP-55 checksum (the mix of upper and lower case) of the EVM address is wrong.'
}

function accountBytes(publicKey: Uint8Array): Uint8Array {
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false).subarray(1)
  return keccak_256(point).subarray(-20)
}

function withChecksum(digits: string): string {
  const hash = bytesToHex(keccak_256(utf8ToBytes(digits)))
  return digits.replace(/[a-f]/g, (letter, index: number) =>
    hash.charAt(index) >= '8' ? letter.toUpperCase() : letter,
  )
}

/** @param publicKey is in SEC1 form: 33 bytes if compressed, otherwise 65 bytes */
export function encodeTronAddress(publicKey: Uint8Array): string {
  return base58Check.encode(concatBytes(Uint8Array.of(versionByte), accountBytes(publicKey)))
}

export function tronAddressError(address: string): string | null {
  if (!isBase58(address)) return 'A Tron address is written in base58: digits and letters without 0, O, I and l.'
  // Checks the length first, because decoding base58 takes quadratic time.
  if (address.length !== 34) return 'A Tron address has 34 characters.'

  const bytes = base58.decode(address)
  if (bytes[0] !== versionByte) return 'A Tron address begins with T, for version byte 0x41.'
  if (base58Check.encode(bytes.subarray(0, 21)) !== address) return 'The checksum of the Tron address is wrong.'
  return null
}

const versionByte = 0x41

export function encodeSolanaAddress(publicKey: Uint8Array): string {
  return base58.encode(publicKey)
}

/**
 * Allows Solana addresses off the ed25519 curve, because program-derived addresses (multisig vaults, escrows) can
 * receive tokens. Solana addresses have no checksum, so a wrong address of 32 bytes is not detected.
 */
export function solanaAddressError(address: string): string | null {
  if (!isBase58(address)) return 'A Solana address is written in base58: digits and letters without 0, O, I and l.'
  if (address.length > 44 || base58.decode(address).length !== 32) return 'A Solana address encodes exactly 32 bytes.'
  return null
}

export const base58Check = createBase58check(sha256)

export function isBase58(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]+$/.test(text)
}
