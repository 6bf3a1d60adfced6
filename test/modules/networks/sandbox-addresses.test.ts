import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToNumberLE } from '@noble/curves/utils.js'
import { hmac } from '@noble/hashes/hmac.js'
import { sha512 } from '@noble/hashes/sha2.js'
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { solanaAddressError } from '../../../src/modules/networks/address-encoding.ts'
import { sandboxExtendedPublicKeys, sandboxSolanaAddress } from '../../../src/modules/networks/sandbox-addresses.ts'
import { junkRoot, junkSeed } from './junk-mnemonic.ts'

test('the sandbox’s extended public keys are derived from the development mnemonic', () => {
  expect(sandboxExtendedPublicKeys).toEqual({
    evm: junkRoot.derive("m/44'/60'/0'").publicExtendedKey,
    tron: junkRoot.derive("m/44'/195'/0'").publicExtendedKey,
  })
})

// Derives the private scalars from the mnemonic, and compares their public keys with the addresses.
test('every Solana sandbox address has a private scalar that is derived from the mnemonic', () => {
  const base = ed25519.utils.getExtendedPublicKey(solanaSecretKey()).scalar
  fc.assert(
    fc.property(fc.nat(), (index) => {
      const step = bytesToNumberLE(sha512(utf8ToBytes(`payout-gateway sandbox solana ${index}`)))
      const key = ed25519.Point.BASE.multiply(ed25519.Point.Fn.create(base + step)).toBytes()
      expect(base58.decode(sandboxSolanaAddress(index))).toEqual(key)
    }),
    { numRuns: 20 },
  )
})

test('Solana sandbox addresses are distinct, valid and on the curve', () => {
  const addresses = Array.from({ length: 200 }, (_, index) => sandboxSolanaAddress(index))
  expect(new Set(addresses).size).toBe(200)
  for (const address of addresses) {
    expect(solanaAddressError(address)).toBeNull()
    expect(ed25519.utils.isValidPublicKey(base58.decode(address))).toBe(true)
  }
})

test('Solana sandbox addresses never change, because existing wallets have them', () => {
  expect([0, 1].map(sandboxSolanaAddress)).toEqual([
    '7WmeaskZcYndzbMU5kq6gGKvQ8rGdtjuqrSbw9xtLkYn',
    'AT39Fq7GMwVcGnDE8MDDZXqqq7q1HhBUw2DbzDuGhFEQ',
  ])
})

/** SLIP-0010's ed25519 derivation of m/44'/501'/0'/0', all steps hardened. */
function solanaSecretKey(): Uint8Array {
  const master = hmac(sha512, utf8ToBytes('ed25519 seed'), junkSeed)
  const node = [44, 501, 0, 0].reduce((parent, index) => {
    const step = concatBytes(Uint8Array.of(0), parent.subarray(0, 32), Uint8Array.of(0x80, 0, index >> 8, index & 0xff))
    return hmac(sha512, parent.subarray(32), step)
  }, master)
  return node.subarray(0, 32)
}
