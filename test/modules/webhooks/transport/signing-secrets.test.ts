import type { KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  generateKeyPair,
  generateSharedSecret,
  parseSigner,
} from '../../../../src/modules/webhooks/transport/standard-webhooks.ts'

// A key pair in the format of Standard Webhooks, from another implementation.
const sample = {
  privateKey: 'whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==',
  publicKey: 'whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=',
}

function publicOf(privateKey: string): string {
  const [key] = parseSigner([generateSharedSecret(), privateKey]).privateKeys
  const { x = '' } = createPublicKey(key as KeyObject).export({ format: 'jwk' })
  return `whpk_${Buffer.from(x, 'base64url').toString('base64')}`
}

test('a shared secret has 32 random bytes', () => {
  const secret = generateSharedSecret()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(generateSharedSecret()).not.toBe(secret)
  expect(parseSigner([secret]).sharedSecrets[0]?.key.symmetricKeySize).toBe(32)
})

test('a public key is derived from its private key', () => {
  const { privateKey, publicKey } = generateKeyPair()
  expect(privateKey).toMatch(/^whsk_[A-Za-z0-9+/]{86}==$/)
  expect(publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/)
  expect(publicOf(privateKey)).toBe(publicKey)
  expect(publicOf(sample.privateKey)).toBe(sample.publicKey)
})

test('a signer keeps the order of its shared secrets', () => {
  const secrets = [generateSharedSecret(), generateSharedSecret()]
  expect(parseSigner([sample.privateKey, ...secrets]).sharedSecrets.map(({ text }) => text)).toEqual(secrets)
  expect(parseSigner([...secrets, sample.privateKey]).privateKeys).toHaveLength(1)
})

const secret = generateSharedSecret()

test.each([
  ['an empty list', []],
  ['no shared secret', [sample.privateKey]],
  ['an empty secret', ['whsec_']],
  ['a truncated secret', [secret.slice(0, -1)]],
  ['a secret with another prefix', [secret.replace('whsec_', 'whsec-')]],
  ['a secret in non-canonical base64', [`whsec_${'A'.repeat(42)}B=`]],
  ['a public key', [secret, sample.publicKey]],
  ['half of a private key', [secret, sample.privateKey.slice(0, 49)]],
  ['halves of two private keys', [secret, `whsk_${'A'.repeat(86)}==`]],
])('parseSigner rejects %s, and the error contains no secret', (_, secrets) => {
  const signing = () => parseSigner(secrets)
  expect(signing).toThrow(/An endpoint has no|A secret is not|The halves of/)
  for (const secret of secrets) {
    if (secret.length > 10) expect(signing).not.toThrow(secret.slice(6))
  }
})
