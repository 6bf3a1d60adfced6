import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { base58 } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { base58Check, encodeEvmAddress, encodeTronAddress } from '../../../src/modules/networks/address-encoding.ts'
import { deriveAddress, parseExtendedPublicKey } from '../../../src/modules/networks/derive-address.ts'
import { sandboxExtendedPublicKeys } from '../../../src/modules/networks/sandbox-addresses.ts'
import { junkRoot } from './junk-mnemonic.ts'

// BIP-32's test vector 1: m/0H/1/2H is of account level (depth 3, hardened), m/0H/1/2H/2 its child.
const vectorAccount =
  'xpub6D4BDPcP2GT577Vvch3R8wDkScZWzQzMMUm3PWbmWvVJrZwQY4VUNgqFJPMM3No2dFDFGTsxxpG5uJh7n7epu4trkrX7x7DogT5Uv6fcLW5'
const vectorChild =
  'xpub6FHa3pjLCk84BayeJxFW2SP4XRrFd1JYnxeLeU8EqN3vDfZmbqBqaGJAyiLjTAwm6ZLRQUMv1ZACTj37sR62cfN7fe5JnJ7dh8zL4fiyLHV'
const vectorMaster =
  'xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8'

describe('deriveAddress', () => {
  test.each([
    [0, '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'],
    [1, '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'],
    [2, '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'],
  ])('derives address %i of the development mnemonic', (index, address) => {
    expect(deriveAddress('evm', sandboxExtendedPublicKeys.evm, index)).toBe(address)
  })

  test('derives the same address from the public key as from the private key', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 31 - 1), (index) => {
        const evm = encodeEvmAddress(junkPublicKey(`m/44'/60'/0'/0/${index}`))
        const tron = encodeTronAddress(junkPublicKey(`m/44'/195'/0'/0/${index}`))
        expect(deriveAddress('evm', sandboxExtendedPublicKeys.evm, index)).toBe(evm)
        expect(deriveAddress('tron', sandboxExtendedPublicKeys.tron, index)).toBe(tron)
      }),
      { numRuns: 20 },
    )
  })

  test('derives the same addresses again after its cache evicted the accounts', () => {
    const accounts = Array.from({ length: 260 }, (_, chain) =>
      extendedKey({ ...fieldsOf(vectorAccount), chainCode: chain.toString(16).padStart(64, '0') }),
    )
    const addresses = accounts.map((account) => deriveAddress('evm', account, 0))
    expect(new Set(addresses).size).toBe(accounts.length)
    expect(accounts.slice(0, 3).map((account) => deriveAddress('evm', account, 0))).toEqual(addresses.slice(0, 3))
  })

  test.each([-1, 0.5, 2 ** 31, Number.NaN])('throws for index %d', (index) => {
    expect(() => deriveAddress('evm', sandboxExtendedPublicKeys.evm, index)).toThrow()
  })
})

describe('parseExtendedPublicKey', () => {
  test('parses the account key of the BIP-32 test vector, and the child key equals the published key', () => {
    expect(parseExtendedPublicKey(vectorAccount).deriveChild(2).publicExtendedKey).toBe(vectorChild)
  })

  test('rejects every private key with a message that does not contain the key', () => {
    const privateKey = junkRoot.derive("m/44'/60'/0'").privateExtendedKey
    const disguised = extendedKey({ ...fieldsOf(privateKey), version: '0488b21e' })
    const otherCoin = extendedKey({ ...fieldsOf(privateKey), version: '04b2430c' })
    for (const text of [privateKey, `${privateKey} `, ` ${privateKey}`, 'xprv', disguised, otherCoin]) {
      const message = messageOf(text)
      expect(message).toMatch(/^This is a private key\. .* Never enter a private key/)
      expect(message).not.toContain(text.slice(4, 12) || text)
    }
  })

  const account = fieldsOf(vectorAccount)
  test.each([
    ['an empty text', '', /111 characters/],
    ['a word', 'xpub', /111 characters/],
    ['a trailing line feed', `${vectorAccount}\n`, /111 characters/],
    ['a character outside base58', `${vectorAccount.slice(0, -1)}0`, /111 characters/],
    ['a wrong checksum', `${vectorAccount.slice(0, -1)}6`, /checksum/],
    ['ypub', extendedKey({ ...account, version: '049d7cb2' }), /version/],
    ['tpub', extendedKey({ ...account, version: '043587cf' }), /version/],
    ['a master key', vectorMaster, /account level/],
    ['the external chain', vectorChild, /account level/],
    ['depth 3, not hardened', extendedKey({ ...account, index: '00000002' }), /account level/],
    ['depth 4, hardened', extendedKey({ ...account, depth: 4 }), /account level/],
    ['no point', extendedKey({ ...account, key: `02${'00'.repeat(31)}07` }), /not a point/],
    ['point prefix 04', extendedKey({ ...account, key: `04${account.key.slice(2)}` }), /not a point/],
  ])('rejects %s', (_, text, message) => {
    expect(messageOf(text)).toMatch(message)
  })

  test('rejects a key with any single changed character', () => {
    const digits = fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz')
    fc.assert(
      fc.property(fc.nat(110), digits, (at, digit) => {
        const mutated = vectorAccount.slice(0, at) + digit + vectorAccount.slice(at + 1)
        return mutated === vectorAccount || messageOf(mutated) !== ''
      }),
    )
  })

  // BIP-32's test vector 5: extended keys that are invalid, each for its own reason.
  test.each([
    'xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6LBpB85b3D2yc8sfvZU521AAwdZafEz7mnzBBsz4wKY5fTtTQBm',
    'xprv9s21ZrQH143K24Mfq5zL5MhWK9hUhhGbd45hLXo2Pq2oqzMMo63oStZzFGTQQD3dC4H2D5GBj7vWvSQaaBv5cxi9gafk7NF3pnBju6dwKvH',
    'xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Txnt3siSujt9RCVYsx4qHZGc62TG4McvMGcAUjeuwZdduYEvFn',
    'xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6N8ZMMXctdiCjxTNq964yKkwrkBJJwpzZS4HS2fxvyYUA4q2Xe4',
    'xpub661no6RGEX3uJkY4bNnPcw4URcQTrSibUZ4NqJEw5eBkv7ovTwgiT91XX27VbEXGENhYRCf7hyEbWrR3FewATdCEebj6znwMfQkhRYHRLpJ',
    'xpub661MyMwAuDcm6CRQ5N4qiHKrJ39Xe1R1NyfouMKTTWcguwVcfrZJaNvhpebzGerh7gucBvzEQWRugZDuDXjNDRmXzSZe4c7mnTK97pTvGS8',
    'DMwo58pR1QLEFihHiXPVykYB6fJmsTeHvyTp7hRThAtCX8CvYzgPcn8XnmdfHGMQzT7ayAmfo4z3gY5KfbrZWZ6St24UVf2Qgo6oujFktLHdHY4',
    'DMwo58pR1QLEFihHiXPVykYB6fJmsTeHvyTp7hRThAtCX8CvYzgPcn8XnmdfHPmHJiEDXkTiJTVV9rHEBUem2mwVbbNfvT2MTcAqj3nesx8uBf9',
    'xpub661MyMwAqRbcEYS8w7XLSVeEsBXy79zSzH1J8vCdxAZningWLdN3zgtU6Q5JXayek4PRsn35jii4veMimro1xefsM58PgBMrvdYre8QyULY',
  ])('rejects the key that BIP-32 lists as invalid: %s', (text) => {
    expect(messageOf(text)).not.toBe('')
  })

  test('throws an error whose message is a sentence for any invalid text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => /\.$/.test(messageOf(text))))
  })
})

type Fields = { version: string; depth: number; parent: string; index: string; chainCode: string; key: string }

function fieldsOf(text: string): Fields {
  const hex = bytesToHex(base58.decode(text))
  const depth = Number.parseInt(hex.slice(8, 10), 16)
  const [version, parent, index] = [hex.slice(0, 8), hex.slice(10, 18), hex.slice(18, 26)]
  return { version, depth, parent, index, chainCode: hex.slice(26, 90), key: hex.slice(90, 156) }
}

function extendedKey({ version, depth, parent, index, chainCode, key }: Fields): string {
  const depthHex = depth.toString(16).padStart(2, '0')
  return base58Check.encode(hexToBytes(version + depthHex + parent + index + chainCode + key))
}

function messageOf(text: string): string {
  try {
    parseExtendedPublicKey(text)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

/** Derives from the private key, independently of public derivation. */
function junkPublicKey(path: string): Uint8Array {
  const { privateKey } = junkRoot.derive(path)
  if (privateKey === null) throw new Error('A node derived from the root has its private key.')
  return secp256k1.getPublicKey(privateKey)
}
