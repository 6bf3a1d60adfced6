import { ed25519 } from '@noble/curves/ed25519.js'
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeSolanaAddress, solanaAddressError } from '../../../src/modules/networks/address-encoding.ts'

// No point of the curve has this y. It represents program-derived addresses, which are off the curve by design.
const offCurve = base58.encode(Uint8Array.of(2, ...new Array(31).fill(0)))

describe('solanaAddressError', () => {
  test.each([
    ['the USDC mint', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v'],
    ['the USDT mint', 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'],
    ['the token program', 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'],
    ['the system program', '11111111111111111111111111111111'],
    ['an address off the curve', offCurve],
  ])('accepts %s', (_, address) => {
    expect(solanaAddressError(address)).toBeNull()
  })

  test.each([
    ['an empty text', '', /base58/],
    ['a character outside base58', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDtIv', /base58/],
    ['an EVM address', '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf', /base58/],
    ['a Tron address', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', /32 bytes/],
    ['31 bytes', '1'.repeat(31), /32 bytes/],
    ['33 bytes', '1'.repeat(33), /32 bytes/],
    ['a million characters', 'E'.repeat(1_000_000), /32 bytes/],
  ])('rejects %s', (_, address, message) => {
    expect(solanaAddressError(address)).toMatch(message)
  })

  test('control: the off-curve address of this test is not a point on the curve', () => {
    expect(ed25519.utils.isValidPublicKey(base58.decode(offCurve))).toBe(false)
  })
})

test('encodeSolanaAddress returns a valid address that decodes to the public key', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (key) => {
      const address = encodeSolanaAddress(key)
      expect(base58.decode(address)).toEqual(key)
      expect(solanaAddressError(address)).toBeNull()
    }),
  )
})
