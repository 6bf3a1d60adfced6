import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../../src/core/errors.ts'
import { createSecrets, deriveKeyId, noSecrets, parseKeys } from '../../../src/core/secrets/secrets.ts'

const [earlier, later] = [randomBytes(32), randomBytes(32)]
const place = 'webhook_endpoint:a:b'

function thrownBy(act: () => unknown): DomainError | Error {
  try {
    act()
  } catch (error) {
    return error as Error
  }
  return expect.unreachable('it was not refused')
}

test('a secret decrypts for the row it was encrypted for, and encrypting it twice gives different ciphertexts', () => {
  const { seal, open } = createSecrets([later])

  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, aad) => {
      const sealed = seal(text, aad)
      expect(open(sealed, aad)).toBe(text)
      expect(seal(text, aad)).not.toBe(sealed)
    }),
  )
})

test('a ciphertext contains the id of its key, and neither the secret nor the key', () => {
  const sealed = createSecrets([later]).seal('whsec_secret', place)

  expect(sealed).toMatch(new RegExp(`^s1\\.${deriveKeyId(later)}\\.[\\w-]+$`))
  expect(sealed).not.toContain(Buffer.from('whsec_secret').toString('base64url').slice(0, 8))
  expect(sealed).not.toContain(later.toString('base64url').slice(0, 8))
})

test('a ciphertext that was moved to another row does not decrypt', () => {
  const { seal, open } = createSecrets([later])
  const sealed = seal('text', place)

  for (const other of ['webhook_endpoint:a:c', 'webhook_endpoint:b:b', '']) {
    expect(() => open(sealed, other)).toThrow('was changed, or belongs to another row')
  }
})

test('a ciphertext with any changed character does not decrypt', () => {
  const { seal, open } = createSecrets([later, earlier])
  const sealed = seal('text', place)

  for (let at = 0; at < sealed.length; at++) {
    const other = sealed[at] === 'A' ? 'B' : 'A'
    expect(() => open(sealed.slice(0, at) + other + sealed.slice(at + 1), place)).toThrow()
  }
  for (let length = 0; length < sealed.length; length++) {
    expect(() => open(sealed.slice(0, length), place)).toThrow()
  }
  expect(() => open(`${sealed}A`, place)).toThrow()
})

describe('encryption with several keys', () => {
  test('encrypts with the first key and decrypts with any key', () => {
    const before = createSecrets([earlier]).seal('text', place)
    const rotated = createSecrets([later, earlier])

    expect(rotated.open(before, place)).toBe('text')
    expect(createSecrets([later]).open(rotated.seal('text', place), place)).toBe('text')
  })

  test('reports the id of the missing key when a ciphertext cannot be decrypted', () => {
    const sealed = createSecrets([earlier]).seal('text', place)

    expect(thrownBy(() => createSecrets([later]).open(sealed, place))).toMatchObject({
      code: 'NOT_CONFIGURED',
      message: `The key ${deriveKeyId(earlier)}, which encrypted this secret, is not configured: SECRETS_KEY must list it after the current key.`,
    })
  })

  test('rejects a ciphertext whose key id was replaced by the id of another key', () => {
    const sealed = createSecrets([earlier]).seal('text', place).replace(deriveKeyId(earlier), deriveKeyId(later))

    expect(() => createSecrets([later]).open(sealed, place)).toThrow('was changed, or belongs to another row')
  })
})

test('without a key, encryption and decryption fail and report which variable to set', () => {
  for (const act of [() => noSecrets.seal('text', place), () => noSecrets.open('s1.', place)]) {
    expect(thrownBy(act)).toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringContaining('SECRETS_KEY must be set to 32 random bytes in base64'),
    })
  }
})

test.each(['', 'x', `${later.toString('base64')},`, later.toString('hex'), later.toString('base64').slice(0, -1)])(
  'parseKeys rejects %j',
  (text) => expect(parseKeys(text)).toBeNull(),
)

test('parseKeys returns several keys in their order', () => {
  expect(parseKeys(`${later.toString('base64')}, ${earlier.toString('base64')}`)).toEqual([later, earlier])
})
