import { sha256 } from '@noble/hashes/sha2.js'
import { createBase58check } from '@scure/base'

/** Base58 with four bytes of double SHA-256 at the end, as Tron addresses and BIP-32 extended keys are written. */
export const base58Check = createBase58check(sha256)

/** Whether `text` holds nothing but base58 digits, which leave out 0, O, I and l because they look alike. */
export function isBase58(text: string): boolean {
  return /^[1-9A-HJ-NP-Za-km-z]+$/.test(text)
}
