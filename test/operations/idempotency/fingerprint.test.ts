import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprintOf } from '../../../src/operations/idempotency/run-once.ts'

type Data = null | boolean | number | string | bigint | readonly Data[] | { readonly [name: string]: Data }

/** Names as in a schema. JavaScript would reorder numeric ones. */
const name = fc.string({ unit: fc.constantFrom(...'abcXYZ_'), minLength: 1, maxLength: 4 })
const { data } = fc.letrec<{ data: Data }>((tie) => ({
  data: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, '', '0', 'a', 0, 1, 0n, 1n),
    fc.array(tie('data'), { maxLength: 3 }),
    fc.dictionary(name, tie('data'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const request = fc.dictionary(name, data, { maxKeys: 4, noNullPrototype: true })

function reordered(value: Data): Data {
  if (Array.isArray(value)) return value.map(reordered)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, reordered(member)] as const)
  return Object.fromEntries(members.toReversed())
}

/** Canonical text of data: equal only for data with equal fingerprints. A bigint equals the string of its digits. */
function canonicalText(value: Data): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (typeof value === 'bigint') return JSON.stringify(String(value))
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const names = Object.keys(value).toSorted()
  return `{${names.map((name) => `${name}:${canonicalText((value as Record<string, Data>)[name] as Data)}`).join()}}`
}

const withoutNulls = (request: Record<string, Data>) =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null))

// The keys of payouts are stored permanently, so a retry must have the stored fingerprint.
test.each([
  ['without fields', {}, 'RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o'],
  ['with a bigint', { assetCode: 'USDC', amount: 4_000_000_000n }, 'fbMD6uaz3FcyfGPdXxvnaaMpsCtbjo0AUnXas3rqZbw'],
  [
    'with fields in a field',
    { id: 'x', changes: { tags: ['b', { z: 1, a: true }], label: null } },
    'A0rRC2nfJOrS_l8l8WixUCx5A4bamN1-47qSndo8xwM',
  ],
])('the fingerprint of a request %s never changes', (_, request, fingerprint) => {
  expect(fingerprintOf(request)).toBe(fingerprint)
})

test('fingerprintOf ignores the order of fields, and fields that are null or absent', () => {
  fc.assert(
    fc.property(request, fc.array(name, { maxLength: 2 }), (request, others) => {
      const absent = Object.fromEntries(others.map((name, index) => [`${name}5`, index % 2 ? null : undefined]))
      const same = { ...(reordered(request) as object), ...absent }
      expect(fingerprintOf(same)).toBe(fingerprintOf(request))
    }),
    { numRuns: 500 },
  )
})

test('fingerprintOf returns the same value only for equal requests; a null within a nested value makes requests differ', () => {
  fc.assert(
    fc.property(request, request, (one, other) => {
      const isSame = canonicalText(withoutNulls(one)) === canonicalText(withoutNulls(other))
      expect(fingerprintOf(one) === fingerprintOf(other)).toBe(isSame)
    }),
    {
      numRuns: 2_000,
      examples: [
        [{ a: { b: null } }, { a: {} }],
        [{ a: { b: null } }, { b: null }],
        [{ a: [null] }, { a: [] }],
        [{ a: ['a', 'b'] }, { a: ['b', 'a'] }],
        [{ a: 1n }, { a: '1' }],
        [{ a: 1n }, { a: 1 }],
        [{ a: null }, {}],
        [{ a: '' }, {}],
        [{ a: false }, {}],
        [{ a: 0 }, {}],
      ],
    },
  )
})

test.each([
  { at: new Date(0) },
  { at: new Map() },
  { changes: [{ at: new Set() }] },
  { changes: { at: Object.create(null) } },
])('fingerprintOf rejects a request that is not plain data: case %#', (request) => {
  expect(() => fingerprintOf(request)).toThrow('a request must be plain data')
})
