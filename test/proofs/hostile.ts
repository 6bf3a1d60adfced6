import * as fc from 'fast-check'
import { anyText as anyAmountText } from '../core/money/amount-forms.ts'

// Inputs that no front end sends: JavaScript strings with anything in them, and JSON as text, because parsing and
// serializing would lose much of it (duplicate names, 100,000 levels, numbers beyond every type).

/** Strings that have broken other systems: ambiguous amounts, names with a meaning, invisible characters. */
const texts = [
  ...[
    '1e5',
    '1E5',
    '0x10',
    '0b1',
    '0o7',
    '1_000',
    '.5',
    '5.',
    '+1',
    '-1',
    '-0',
    '1,5',
    '1 000',
    '1n',
    'NaN',
    'Infinity',
  ],
  ...[
    '٣',
    '１２３',
    '٠٫٥',
    '०',
    '0.000000001',
    '99999999999',
    '9223372036854775808',
    '1'.repeat(400),
    `0.${'1'.repeat(400)}`,
  ],
  ...[
    '\0',
    'a\0b',
    '\ud800',
    '\udc00',
    'a\ud83d',
    '\ufeff',
    '\u202etxt.exe',
    '\u2066a\u2069',
    '\u200b',
    '\u0301',
    '\x7f',
  ],
  ...['\r\n', '\u2028', ' ', '\t', '\u00a0', '\u3000', 'é', 'e\u0301', 'ß', 'İ', 'ı', 'ﬁ', '𝟙', '😀', '😀'.repeat(300)],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON', 'length'],
  ...[
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    '[object Object]',
    '0',
    '1',
    '-1',
    '1e309',
    '%00',
    '%',
    '%zz',
    '%ff',
    '../..',
  ],
  ...["' or 1=1 --", '"; drop table payouts; --', '{"$ne":null}', '{{1}}', '<script>', '\\', '\\u0000', '%n%s'],
  ...[
    '00000000-0000-7000-8000-000000000000',
    '00000000-0000-0000-0000-00000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
  ],
  ...[
    '9999-12-31T23:59:59.999Z',
    '+275760-09-13T00:00:00Z',
    '0000-00-00',
    '2026-02-30',
    '2026-01-01T24:00:00Z',
    '12/31/99',
  ],
  ...[
    'a'.repeat(64),
    'a'.repeat(65),
    'a'.repeat(256),
    'a'.repeat(10_000),
    '1'.repeat(5_000),
    `a${'\u0301'.repeat(3_000)}`,
  ],
]

/**
 * Mutations that invalidate a string: NUL for the engine, a lone surrogate for a column, an override character for a
 * reader.
 */
const hidden = ['\0', '\ud800', '\udc00', '\u202e', '\x7f', '\n', '\ufffe']

/** A string that is unlikely to be valid anywhere. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...texts) },
  { weight: 2, arbitrary: anyAmountText },
  { weight: 3, arbitrary: fc.constantFrom(...hidden).map((character) => `Ada${character} Obi`) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  // Arbitrary UTF-16, with lone surrogates.
  { weight: 1, arbitrary: fc.array(fc.nat(0xffff), { maxLength: 12 }).map((units) => String.fromCharCode(...units)) },
)

const deep = (levels: number, open: string, inner: string, close: string) =>
  open.repeat(levels) + inner + close.repeat(levels)

/** JSON values of wrong types and sizes, as text. */
const jsonValues = [
  ...['null', 'true', 'false', '0', '-0', '1', '-1', '1.5', '0.1', '1e5', '1e400', '-1e400', '1e-400', '25.50'],
  ...[
    '9007199254740993',
    '9223372036854775808',
    '1'.repeat(400),
    '""',
    '[]',
    '{}',
    '[null]',
    '["1"]',
    '[[]]',
    '{"":""}',
  ],
  ...['{"__proto__":"1"}', '{"constructor":{"prototype":{"amount":"1"}}}', '{"toString":1,"valueOf":1}', '{"then":1}'],
  ...[
    '{"toJSON":1}',
    '{"length":-1}',
    '{"0":"1"}',
    '{"$ne":null}',
    '{"a":1,"a":2}',
    '"\\ud800"',
    '"\\u0000"',
    '"\\u202e"',
  ],
  deep(300, '[', '', ']'),
  deep(300, '{"a":', '1', '}'),
]

/** Large values, which are rare because each takes as long as a hundred others. */
const largeJsonValues = [
  deep(100_000, '[', '', ']'),
  deep(30_000, '{"a":', '1', '}'),
  `"${'a'.repeat(1_000_000)}"`,
  `"${'a'.repeat(200_000)}"`,
  `"${'\\u0301'.repeat(30_000)}"`,
  '9'.repeat(100_000),
  `[${Array.from({ length: 20_000 }, (_, i) => i).join()}]`,
]

/** Text that is no JSON, in the position of a value. */
const brokenJson = [
  '',
  'NaN',
  'undefined',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  "'a'",
  '"a',
  '"\\x"',
  '"\t"',
  '[1,]',
  '{a:1}',
  '}',
  '﻿1',
]

/** A JSON value as text that is unlikely to be valid anywhere, and sometimes no JSON. */
export const hostileJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 120, arbitrary: hostileText.map((text) => JSON.stringify(text)) },
  { weight: 60, arbitrary: fc.constantFrom(...jsonValues) },
  { weight: 16, arbitrary: fc.json() },
  { weight: 8, arbitrary: fc.constantFrom(...brokenJson) },
  { weight: 1, arbitrary: fc.constantFrom(...largeJsonValues) },
)

/** Possible faults of the request around a value. */
export type Frame = {
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Cuts this fraction off the end of the body. */
  readonly cut?: number
  /** Replaces the body. */
  readonly body?: string | Buffer
  readonly method?: string
}

const contentTypes = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/xml', ''],
  ...[
    'application/json; charset=utf-16',
    'application/json;;',
    'application/jsonx',
    'APPLICATION/JSON',
    'json',
    '/',
    '*/*',
  ],
  ...['application/graphql', 'application/json, text/html', 'application/problem+json', `a/${'b'.repeat(5_000)}`],
]

const bodies = [
  ...['', ' ', 'null', '[]', '"a"', '1', '{', '{}{}', '[{}]', '\ufeff{}', '{"a":1,}', 'a=b&c=d', '<a/>', '\0'],
  deep(100_000, '[', '', ']'),
  `{${'"__proto__":'.repeat(1)}${deep(1_000, '{"a":', '1', '}')}}`,
  'a'.repeat(1_000_000),
  Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from([0xc0, 0x80]),
  Buffer.from('{"a":1}', 'utf16le'),
  Buffer.from([0x1f, 0x8b, 0x08]),
]

const headers: readonly Readonly<Record<string, string>>[] = [
  ...['', '""', '"', 'é', '\0', 'a'.repeat(256), 'a'.repeat(20_000), '😀', '__proto__'].map((key) => ({
    'idempotency-key': key,
  })),
  ...['text/html', '', ',,,', '*', 'application/problem+json', `${'a/b,'.repeat(2_000)}`, 'text/event-stream'].map(
    (accept) => ({ accept }),
  ),
  ...['', ' ', 'pgw_', 'é', '\0', 'a'.repeat(20_000), '__proto__', 'undefined'].map((key) => ({ 'x-api-key': key })),
  ...['Basic YTpi', 'Bearer', 'Bearer  ', 'Bearer a b', '\0', `Bearer ${'a'.repeat(20_000)}`].map((authorization) => ({
    authorization,
  })),
  ...['', 'é', 'a'.repeat(129), '\r\n', '__proto__', 'a b'].map((id) => ({ 'x-request-id': id })),
  { 'content-length': '-1' },
  { 'content-length': '1e3' },
  { 'content-encoding': 'gzip' },
  { 'transfer-encoding': 'identity' },
  { 'x-http-method-override': 'DELETE' },
  { host: '' },
  { expect: '100-continue' },
  { range: 'bytes=0-1' },
  { 'if-none-match': '*' },
  { ['__proto__']: 'x', constructor: 'y' },
]

/** Nothing, most of the time, or one fault of the request as a whole. */
export const hostileFrame: fc.Arbitrary<Frame> = fc.oneof(
  { weight: 18, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: fc.constantFrom(...contentTypes).map((contentType) => ({ contentType })) },
  { weight: 2, arbitrary: fc.constantFrom(...headers).map((given) => ({ headers: given })) },
  { weight: 1, arbitrary: fc.double({ min: 0.01, max: 1, noNaN: true }).map((cut) => ({ cut })) },
  { weight: 1, arbitrary: fc.constantFrom(...bodies).map((body) => ({ body })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE')
      .map((method) => ({ method })),
  },
)
