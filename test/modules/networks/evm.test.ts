import { secp256k1 } from '@noble/curves/secp256k1.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeEvmAddress, evmAddressError } from '../../../src/modules/networks/address-encoding.ts'

// EIP-55's own test cases: all capitals, all lower case, and mixed.
const allCapitals = ['0x52908400098527886E0F7030069857D2E4169EE7', '0x8617E340B3D01FA5F11F306F4090FD50E238070D']
const allLowerCase = ['0xde709f2102306220921060314715629080e2fb77', '0x27b1fdb04752bbc536007a920d24acb045561c26']
const mixed = [
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

const publicKeys = fc.uint8Array({ minLength: 48, maxLength: 48 }).map((seed) => secp256k1.keygen(seed).publicKey)

describe('encodeEvmAddress', () => {
  test('returns the published address of the curve’s generator, for a compressed and an uncompressed key', () => {
    const generator = secp256k1.Point.BASE
    expect(encodeEvmAddress(generator.toBytes(true))).toBe('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf')
    expect(encodeEvmAddress(generator.toBytes(false))).toBe('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf')
  })

  test('returns addresses that evmAddressError accepts', () => {
    fc.assert(fc.property(publicKeys, (key) => evmAddressError(encodeEvmAddress(key)) === null))
  })
})

describe('evmAddressError', () => {
  test.each([...allCapitals, ...allLowerCase, ...mixed])('accepts %s', (address) => {
    expect(evmAddressError(address)).toBeNull()
  })

  test.each([
    ['an empty text', ''],
    ['without 0x', '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
    ['with 0X', '0X5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED'],
    ['39 digits', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe'],
    ['41 digits', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd'],
    ['a character that is not a hexadecimal digit', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg'],
    ['a trailing line feed', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed\n'],
  ])('rejects an address in a wrong format: %s', (_, address) => {
    expect(evmAddressError(address)).toBe('An EVM address is 0x and 40 hexadecimal digits.')
  })

  test('detects one changed digit', () => {
    expect(evmAddressError('0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAec')).toMatch(/checksum/)
  })

  // The hash ignores case, so a letter of the other case is always detected; an address in one case has no checksum.
  test('detects a letter in the wrong case, unless all letters of the address have the same case', () => {
    fc.assert(
      fc.property(publicKeys, fc.integer({ min: 2, max: 41 }), (key, at) => {
        const address = encodeEvmAddress(key)
        const mutated = turnCase(address, at)
        const digits = mutated.slice(2)
        const hasMixedCase = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
        return mutated === address || (evmAddressError(mutated) !== null) === hasMixedCase
      }),
    )
  })
})

function turnCase(text: string, at: number): string {
  const letter = text.charAt(at)
  const turned = letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()
  return text.slice(0, at) + turned + text.slice(at + 1)
}
