import { expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { hashPassword, isPasswordHash, matchesPassword } from '../../../src/core/secrets/password-hash.ts'

/** Made by another implementation: `printf %s 'correct horse battery' | argon2 'some salt here' -id -k 19456 -t 2 -p 1 -e`. */
const reference = '$argon2id$v=19$m=19456,t=2,p=1$c29tZSBzYWx0IGhlcmU$elHLiVeOqWU++GOKUb3rF0GB7fIXK/HO0MAhC5fFtEg'

test('matchesPassword accepts the right password for a hash from another program, and no other password', async () => {
  expect(isPasswordHash(reference)).toBe(true)
  expect(await matchesPassword('correct horse battery', reference)).toBe(true)
  for (const wrong of ['', 'correct horse batterx', 'correct horse battery ', 'Correct horse battery']) {
    expect([wrong, await matchesPassword(wrong, reference)]).toEqual([wrong, false])
  }
})

test('hashPassword salts each hash, and a password matches in any Unicode normalization form', async () => {
  const [one, other] = [await hashPassword('caf\u00e9 with milk'), await hashPassword('caf\u00e9 with milk')]
  expect([isPasswordHash(one), one === other]).toEqual([true, false])
  expect(await matchesPassword('cafe\u0301 with milk', one)).toBe(true)
  expect(await matchesPassword('cafe with milk', one)).toBe(false)
})

test('matchesPassword returns false if the hash is missing or has an unknown format', async () => {
  const empty = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
  for (const hash of [null, '', 'x', empty]) expect([hash, await matchesPassword('', hash)]).toEqual([hash, false])
})

test('hashPassword rejects concurrent calls beyond its queue limit, and accepts calls again afterwards', async () => {
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, () =>
      hashPassword('a flood of passwords').then(
        () => 'hashed',
        (error: unknown) => (error instanceof DomainError ? error.code : error),
      ),
    ),
  )
  // Two at a time, and sixteen that wait.
  expect(outcomes.filter((outcome) => outcome === 'hashed')).toHaveLength(18)
  expect(outcomes.filter((outcome) => outcome === 'UNAVAILABLE')).toHaveLength(12)
  expect(await hashPassword('after the flood')).toMatch(/^\$argon2id\$/)
})
