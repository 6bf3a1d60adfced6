import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToNumberLE } from '@noble/curves/utils.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { utf8ToBytes } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import { encodeSolanaAddress } from './address-encoding.ts'
import { addressOf, cachedNode, parseExtendedPublicKey } from './derive-address.ts'
import type { AddressFamily } from './network.ts'

/**
 * The keys `m/44'/60'/0'` and `m/44'/195'/0'` of the mnemonic that development tools share ("test" eleven times, then
 * "junk"). The private keys are public, so anyone can spend money at the derived addresses, and live mode must reject
 * these keys.
 */
export const sandboxExtendedPublicKeys = {
  evm: 'xpub6Ce9NcJvTk36xtLSrJLZqE7wtgA5deCeYs7rSQtreh4cj6ByPtrg9sD7V2FNFLPnf8heNP3FGkeV9qwfzvZNSd54JoNXVsXFYSYwHsnJxqP',
  tron: 'xpub6BuRy7ZmkGfP2RWhoor1kWB1w9DvrtmJbFBvnC1bQ4SB5NbCHTyQYCJSXZtxDbFyHTmC7wkU2he3nYYdpZ3Vf6qUAkXSnL6RPif4BDtDEKr',
} as const

export function sandboxMerchantAddress(family: AddressFamily, merchantId: string, index: number): string {
  if (family === 'solana') return solanaAddressFromSeed(`${merchantId} ${index}`)
  const branch = cachedNode(`${family} ${merchantId}`, () => {
    const hash = sha512(utf8ToBytes(`payout-gateway sandbox merchant ${merchantId}`))
    const [first, second] = [0, 4].map((offset) => new DataView(hash.buffer, hash.byteOffset).getUint32(offset) >>> 1)
    const chain = parseExtendedPublicKey(sandboxExtendedPublicKeys[family]).deriveChild(1)
    return chain.deriveChild(first as number).deriveChild(second as number)
  })
  return addressOf(family, branch.deriveChild(index))
}

/**
 * Adds a point to a public key (`base + SHA-512(index) · G`), because ed25519 keys derive only from private keys
 * (SLIP-0010). The address is on the ed25519 curve. Anyone with the mnemonic can compute the private key of the
 * address.
 */
export function sandboxSolanaAddress(index: number): string {
  return solanaAddressFromSeed(String(index))
}

function solanaAddressFromSeed(name: string): string {
  const step = Fn.create(bytesToNumberLE(sha512(utf8ToBytes(`payout-gateway sandbox solana ${name}`))))
  // A constant-time multiplication is slower, and `step` is not secret.
  return encodeSolanaAddress(sandboxSolanaBase.add(Point.BASE.multiplyUnsafe(step)).toBytes())
}

const { Point } = ed25519
const { Fn } = Point

/** The public key of `m/44'/501'/0'/0'`, the first Solana account of the sandbox's mnemonic. */
const sandboxSolanaBase = Point.fromBytes(base58.decode('oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96'))
