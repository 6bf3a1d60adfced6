import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  base58Check,
  encodeEvmAddress,
  encodeTronAddress,
  tronAddressError,
} from '../../../src/modules/networks/address-encoding.ts'

const tetherContract = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'
const base58Digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const publicKeys = fc.uint8Array({ minLength: 48, maxLength: 48 }).map((seed) => secp256k1.keygen(seed).publicKey)

describe('encodeTronAddress', () => {
  test('returns the published address of the curve’s generator', () => {
    expect(encodeTronAddress(secp256k1.Point.BASE.toBytes())).toBe('TMVQGm1qAQYVdetCeGRRkTWYYrLXuHK2HC')
  })

  test('encodes the same account as the key’s EVM address, with the version byte 0x41', () => {
    fc.assert(
      fc.property(publicKeys, (key) => {
        const account = bytesToHex(base58Check.decode(encodeTronAddress(key)))
        expect(account).toBe(encodeEvmAddress(key).toLowerCase().replace('0x', '41'))
      }),
    )
  })
})

describe('tronAddressError', () => {
  test('accepts the address of the USDT contract, which decodes to its published bytes', () => {
    expect(tronAddressError(tetherContract)).toBeNull()
    expect(bytesToHex(base58Check.decode(tetherContract))).toBe('41a614f803b6fd780986a42c78ec9c7f77e6ded13c')
  })

  test.each([
    ['an empty text', '', /base58/],
    ['a character outside base58', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj60', /base58/],
    ['an EVM address', '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf', /base58/],
    ['a short text', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6', /34 characters/],
    ['a long text', `${tetherContract}t`, /34 characters/],
    ['a million characters', 'T'.repeat(1_000_000), /34 characters/],
    ['34 characters that are not 25 bytes', '1'.repeat(34), /0x41/],
    ['a Bitcoin address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', /0x41/],
    ['a letter of the other case', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6T', /checksum/],
  ])('rejects %s', (_, address, message) => {
    expect(tronAddressError(address)).toMatch(message)
  })

  // The checksum has 32 bits, so one change in four thousand million would pass.
  test('detects any single changed character', () => {
    const change = fc.record({ at: fc.nat(33), digit: fc.constantFrom(...base58Digits) })
    fc.assert(
      fc.property(publicKeys, change, (key, { at, digit }) => {
        const address = encodeTronAddress(key)
        const mutated = address.slice(0, at) + digit + address.slice(at + 1)
        return mutated === address || tronAddressError(mutated) !== null
      }),
    )
  })

  test('accepts any 20 bytes in base58check with the version byte 0x41, and rejects other version bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 21, maxLength: 21 }), (bytes) => {
        expect(tronAddressError(base58Check.encode(Uint8Array.from([0x41, ...bytes.subarray(1)])))).toBeNull()
        if (bytes[0] !== 0x41) expect(tronAddressError(base58Check.encode(bytes))).not.toBeNull()
      }),
    )
  })
})
