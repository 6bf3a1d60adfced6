import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseJsonText } from '../../../src/core/net/json-text.ts'
import { leastCpuMs } from '../../support/cpu.ts'

/** A JSON value in its written form: an object is a list of members, whose names may repeat. */
type Written = { readonly members: readonly (readonly [string, Written])[] } | readonly Written[] | Plain
type Plain = string | number | boolean | null

// A few names, including those with a meaning in JavaScript or with JSON syntax in them.
const names = fc.oneof(
  fc.constantFrom('a', 'b', 'é', '__proto__', 'constructor', '', 'a"b', '\\', ':', '{"a":1}', '0', '\ud800'),
  fc.string({ unit: 'grapheme', maxLength: 3 }),
)
const plain = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('":', '\\"', '{', '}'),
  fc.integer(),
)

const { value: written } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(plain, fc.constantFrom(true, false, null)) as fc.Arbitrary<Written>,
    fc.array(tie('value'), { maxLength: 4 }) as fc.Arbitrary<Written>,
    fc.record({ members: fc.array(fc.tuple(names, tie('value')), { maxLength: 4 }) }) as fc.Arbitrary<Written>,
  ),
}))

function isObject(value: Written): value is { members: readonly (readonly [string, Written])[] } {
  return typeof value === 'object' && value !== null && 'members' in value
}

/** The text of a value, with white space and escapes picked by `choose`. */
function textOf(value: Written, choose: (count: number) => number): string {
  const space = () => ['', ' ', '\n', '\t\r '][choose(4)]
  const string = (text: string) =>
    choose(3) > 0
      ? JSON.stringify(text)
      : `"${[...Array(text.length).keys()].map((i) => `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`).join('')}"`
  if (isObject(value)) {
    const members = value.members.map(([name, each]) => `${string(name)}${space()}:${space()}${textOf(each, choose)}`)
    return `{${space()}${members.join(`${space()},`)}${space()}}`
  }
  if (Array.isArray(value)) return `[${value.map((each) => `${space()}${textOf(each, choose)}`).join(',')}${space()}]`
  return typeof value === 'string' ? string(value) : JSON.stringify(value)
}

/** The parsed value: the last of several members with one name wins. */
function valueOfWritten(value: Written): unknown {
  if (isObject(value)) {
    const read = {}
    for (const [name, each] of value.members) {
      Object.defineProperty(read, name, {
        value: valueOfWritten(each),
        enumerable: true,
        configurable: true,
        writable: true,
      })
    }
    return read
  }
  return Array.isArray(value) ? value.map(valueOfWritten) : value
}

function namesOf(value: Written): string[] {
  if (isObject(value)) return value.members.flatMap(([name, each]) => [name, ...namesOf(each)])
  return Array.isArray(value) ? value.flatMap(namesOf) : []
}

/** The paths of duplicate names, found by walking the written form. */
function repeatedIn(value: Written, path: readonly string[] = []): string[] {
  if (isObject(value)) {
    return value.members.flatMap(([name, each], i) => [
      ...(value.members.slice(0, i).some(([other]) => other === name) ? [[...path, name].join('.')] : []),
      ...repeatedIn(each, [...path, name]),
    ])
  }
  return Array.isArray(value) ? value.flatMap((each, i) => repeatedIn(each, [...path, String(i)])) : []
}

test('parseJsonText finds the first duplicate name, however the text is formatted', () => {
  let repeatCount = 0
  fc.assert(
    fc.property(written, fc.infiniteStream(fc.nat()), (value, numbers) => {
      const text = textOf(value, (count) => (numbers.next().value as number) % count)
      const { value: read, duplicatePath: repeated } = parseJsonText(text)
      // V8 may misread an escaped name; all known names that it misreads contain such a character.
      if (!/["\\\p{Cc}]/u.test(namesOf(value).join(''))) expect(read).toEqual(valueOfWritten(value))
      const [first] = repeatedIn(value)
      repeatCount += first === undefined ? 0 : 1
      expect(repeated).toBe(first ?? null)
    }),
    { numRuns: 3_000 },
  )
  // One text in twelve has such a name, so fewer than half of the expected number is no chance.
  expect(repeatCount).toBeGreaterThan(120)
})

describe('a JSON member name with escapes', () => {
  test('is parsed correctly whatever text was parsed before, despite a bug in V8', () => {
    // Each first text has a name that begins like the escape in the second one; V8 13.6 confuses the two.
    for (const [before, text, value] of [
      ['{"a":1,"\\\\":2}', '{"a":1,"\\u0062":2}', { a: 1, b: 2 }],
      ['{"amount":1,"customer\\\\u0":2}', '{"amount":1,"customer\\u005fid":2}', { amount: 1, customer_id: 2 }],
    ] as const) {
      JSON.parse(before)
      expect(parseJsonText(text)).toEqual({ value, duplicatePath: null })
    }
    expect(parseJsonText('{"amount":"1","\\u0061mount":"2"}')).toEqual({
      value: { amount: '2' },
      duplicatePath: 'amount',
    })
  })
})

describe('parseJsonText', () => {
  test.each(['', '{', '{"a":1,}', '{"a":1,"a":}', '"', '"\\', '{"a":1}{"a":1}', "{'a':1}"])(
    'rejects %s as invalid JSON',
    (text) => {
      expect(() => parseJsonText(text)).toThrow(SyntaxError)
    },
  )

  test('parses a text with 80,000 levels of nesting, and reports a duplicate name in it', () => {
    const deep = (count: number, inner: string) => `${'{"a":['.repeat(count)}${inner}${']}'.repeat(count)}`
    expect(parseJsonText(deep(40_000, '{"b":1}')).duplicatePath).toBeNull()
    expect(parseJsonText(deep(3, '{"b":1,"b":2}')).duplicatePath).toBe('a.0.a.0.a.0.b')
    expect(parseJsonText(deep(40_000, '{"b":1,"b":2}')).duplicatePath).toMatch(/^a\.0\.a\.0.{90,100}…$/)
  })

  test('truncates a long duplicate name in its report', () => {
    const name = 'n'.repeat(10_000)
    expect(parseJsonText(`{"${name}":1,"${name}":2}`).duplicatePath).toHaveLength(101)
  })

  test('takes time linear in the number of names', async () => {
    const reading = (count: number, times: number) => () => {
      const text = `{${Array.from({ length: count }, (_, i) => `"${i}":0`).join()},"0":0}`
      for (let turn = 0; turn < times; turn++) expect(parseJsonText(text).duplicatePath).toBe('0')
    }
    // The same number of names in one text and in a hundred.
    expect(await leastCpuMs(reading(10_000, 1))).toBeLessThan(20 * (await leastCpuMs(reading(100, 100))))
  })
})
