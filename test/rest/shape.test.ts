import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { GetPayoutInput, getPayout } from '../../src/modules/payouts/get-payout.ts'
import { amount, boolean, integer, plainText, text, uuid } from '../../src/rest/json-types.ts'
import { get } from '../../src/rest/route.ts'
import {
  constant,
  listOf,
  member,
  nullable,
  nullInExample,
  optional,
  resource,
  shape,
  unionByType,
} from '../../src/rest/shape.ts'

type Row = {
  readonly type: string
  readonly name: string
  readonly note: string | null
  readonly fee: bigint | null
  readonly tags: readonly Row[]
  readonly parent?: Row
}

const tag = shape<Row>('A tag.', { name: member((row) => row.name, text('Its name.', 'Blue')) })
const members = {
  parent: optional((row: Row) => row.parent, tag),
  note: nullable((row: Row) => row.note, text('A note.', 'Fine')),
  kind: constant('What it is.', 'THING'),
  name: member((row: Row) => row.name, text('Its name.', 'Blue')),
  again: nullInExample((row: Row) => row.note, plainText('The same.', 'Fine')),
  fee: nullable((row: Row) => row.fee, amount('A fee.', '0.50000000')),
  count: member((row: Row) => row.tags.length, integer('How many.', 1)),
  is_new: member((row: Row) => row.tags.length === 0, boolean('Whether.', true)),
  tags: member((row: Row) => row.tags, listOf('All.', tag)),
  whole: tag,
}
const thing = resource<Row>('Thing', 'A thing.', members)

/** The row as an object for `JSON.stringify`. */
function asJson({ parent, note, name, fee, tags }: Row) {
  return {
    parent: parent && { name: parent.name },
    note,
    kind: 'THING',
    name,
    again: note,
    fee: fee === null ? null : '1.50000000',
    count: tags.length,
    is_new: tags.length === 0,
    tags: tags.map((each) => ({ name: each.name })),
    whole: { name },
  }
}

test('a shape serializes a row like JSON.stringify, including null and missing members', () => {
  const row: Row = { type: 'A', name: 'Ada', note: null, fee: null, tags: [] }
  const rows: Row[] = [row, { ...row, note: 'x', fee: 150_000_000n }, { ...row, parent: row, tags: [row, row] }]
  for (const each of rows) expect(thing.write(each)).toBe(JSON.stringify(asJson(each)))
  expect(shape('Nothing.', { parent: members.parent }).write(row)).toBe('{}')
  // Like a stored response from before the member existed.
  const { name: _, ...older } = row
  expect(thing.write(older as Row)).toBe(JSON.stringify(asJson(older as Row)))
})

test('a shape escapes strings like JSON.stringify', () => {
  const unit = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"', '\\', '\n', '\u007f', '\ud800', '\u2028'))
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const name = units.join('')
      expect(tag.write({ name } as Row)).toBe(JSON.stringify({ name }))
    }),
  )
})

test('a union of shapes serializes each row by its type, and its schema has all shapes', () => {
  type Each = { readonly type: 'A'; readonly name: string } | { readonly type: 'B' }
  const named = shape<Each & { readonly type: 'A' }>('A.', {
    name: member((row) => row.name, text('Its name.', 'Blue')),
  })
  const either = unionByType<Each>('Either', 'One of two.', { A: named, B: shape('B.', { kind: members.kind }) })
  expect(either.write({ type: 'A', name: 'Ada' })).toBe('{"name":"Ada"}')
  expect(either.write({ type: 'B' })).toBe('{"kind":"THING"}')
  expect(either.schema.oneOf).toHaveLength(2)
})

test('the schema of a shape requires members that are always present, and allows null for nullable members', () => {
  const { properties = {}, required } = thing.schema
  expect(required).toEqual(Object.keys(members).filter((name) => name !== 'parent'))
  expect([properties.note?.type, properties.again?.examples]).toEqual([['string', 'null'], [null]])
})

test('a shape that does not fit its row does not compile', () => {
  const nullable = (row: Row) => row.note
  // @ts-expect-error a nullable value in a non-null shape
  member(nullable, text('A note.', 'Fine'))
  // @ts-expect-error an amount without the shape of amounts
  member((row: Row) => row.fee ?? 0n, text('A fee.', '0.50000000'))
  const documented = { name: 'x', title: 'x', description: 'x', example: {}, refusals: [], answer: {} }
  const endpoint = { ...documented, input: GetPayoutInput, operation: getPayout }
  // @ts-expect-error a field without a description
  get('/x', { ...endpoint, fields: {} })
  const id = { payoutId: 'An id.', other: 'Another.' }
  // @ts-expect-error a field that the input does not have
  get('/x', { ...endpoint, fields: id })
  const other = z.object({ payoutId: z.number() })
  // @ts-expect-error an operation with another input
  get('/x', { ...endpoint, input: other, fields: { payoutId: 'An id.' } })
  // @ts-expect-error a shape of another type than the operation's result
  get('/x', { ...endpoint, fields: { payoutId: 'An id.' }, response: { data: shape<{ x: 1 }>('x', {}) } })
  expect(uuid('An id.').schema.format).toBe('uuid')
})
