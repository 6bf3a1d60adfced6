import * as fc from 'fast-check'
import type { DocumentNode } from 'graphql'
import { getIntrospectionQuery, parse, visit } from 'graphql'
import { describe, expect, test } from 'vitest'
import {
  exceededDocumentLimit,
  exceededPairLimit,
  exceededVariableLimit,
  limits,
} from '../../src/graphql/documents/limits.ts'
import { everyEngine, startApp } from '../support/app.ts'

const times = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ')
const excess = (text: string) => exceededDocumentLimit(parse(text, { noLocation: true }))

/** A document with this many units of each limited quantity. */
const holding: readonly (readonly [limit: keyof typeof limits, (count: number) => string])[] = [
  ['depth', (count) => `${'{a'.repeat(count)}${'}'.repeat(count)}`],
  ['depth', (count) => `{...f} fragment f on A ${'{a'.repeat(count)}${'}'.repeat(count)}`],
  ['aliases', (count) => `{a {${times(count, (i) => `a${i}: b`)}}}`],
  ['aliases', (count) => `{${times(count, (i) => `a${i}: b`)}}`],
  ['aliases', (count) => `{${times(count, () => '...f')}} fragment f on A {a: b}`],
  ['aliasLength', (count) => `{... {${'a'.repeat(count)}: b}}`],
  ['directives', (count) => `query ${times(count - 2, () => '@d')} {...f @d} fragment f on A {... @d {a}}`],
  [
    'fields',
    (count) =>
      `{a {...f ...f b ${times((count - 4) % 2, () => 'c')}}} fragment f on A {${times(Math.floor((count - 2) / 2), () => 'a')}}`,
  ],
  ['operations', (count) => times(count, (i) => `query q${i} {a}`)],
  ['introspectionLists', (count) => `{__type(name: "A") ${'{fields'.repeat(count)} {name} ${'}'.repeat(count)}}`],
  ['introspectionAliases', (count) => `{__schema {types {${times(count, (i) => `a${i}: name`)} name}}}`],
]

const spreadNote = 'counting each fragment wherever it is spread.'

const messages: Partial<Record<keyof typeof limits, string>> = {
  depth: 'A query may be at most 12 levels deep.',
  aliases: `A query may have at most 30 aliases, ${spreadNote}`,
  aliasLength: 'An alias may have at most 100 characters.',
  directives: `A query may have at most 50 directives, ${spreadNote}`,
  fields: `A document may have at most 1000 fields, ${spreadNote}`,
  operations: 'A document may have at most 50 operations.',
  introspectionLists: 'Introspection may nest at most 3 lists.',
  introspectionAliases: 'Introspection must not use aliases.',
}

describe('the size of a document', () => {
  test.each(holding)('a document is accepted at the limit of %s, and rejected above it', (limit, document) => {
    expect(excess(document(limits[limit]))).toBeNull()
    expect(excess(document(limits[limit] + 1))).toBe(messages[limit])
  })

  test.each([
    ['itself', '{...f} fragment f on A {a ...f}'],
    [
      'another fragment that spreads the first fragment',
      '{...f} fragment f on A {a {...g}} fragment g on A {... {...f}}',
    ],
  ])('a fragment that spreads %s is rejected', (_, document) => {
    expect(excess(document)).toBe('Fragments must not form a cycle.')
  })

  test('a document with type definitions is rejected by validation, not by a limit', async () => {
    const app = await startApp('sqlite')
    const { errors } = await app.graphql('{__typename} type A {b: Int}')
    expect(errors).toMatchObject([
      { message: 'The "A" definition is not executable.', extensions: { code: 'INVALID_DOCUMENT' } },
    ])
  })

  test('the size of a document with several operations is the size of its largest operation', () => {
    const operation = (name: string) => `query ${name} {${times(limits.aliases, (i) => `a${i}: b`)}}`
    expect(excess(`${operation('a')} ${operation('b')}`)).toBeNull()
    expect(excess(`query a {b} query c {...f ...f} fragment f on A {${times(16, (i) => `a${i}: b`)}}`)).not.toBeNull()
  })

  test.each(['types', 'fields', 'interfaces', 'possibleTypes', 'inputFields', 'args'])(
    'the introspection field %s counts as a list',
    (field) => {
      const nested = (count: number) => `{__schema ${`{${field}`.repeat(count)} {name} ${'}'.repeat(count)}}`
      expect(excess(nested(limits.introspectionLists))).toBeNull()
      expect(excess(nested(limits.introspectionLists + 1))).toBe(messages.introspectionLists)
    },
  )

  test('the limit of fields applies to all operations of a document together', () => {
    const operations = (count: number) =>
      `${times(count, (i) => `query q${i} {...f}`)} fragment f on A {${times(100, () => 'a')}}`
    expect(excess(operations(limits.fields / 100))).toBeNull()
    expect(excess(operations(limits.fields / 100 + 1))).toContain('fields')
  })

  test('aliases of __type and __typename are accepted, and an alias of __schema is rejected', () => {
    expect(excess('{a: __type(name: "A") {name} b: __typename c: d {fields {e: fields {f: types {g}}}}}')).toBeNull()
    expect(excess('{a: __schema {types {name}}}')).not.toBeNull()
  })

  // Few fragment names, so that fragments spread one another in every way, including cycles.
  const name = fc.integer({ min: 0, max: 11 }).map((i) => `f${i}`)
  const { selections } = fc.letrec<{ selections: string; selection: string }>((tie) => ({
    selection: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant('a'),
      name.map((spread) => `...${spread}`),
      tie('selections').map((inner) => `b ${inner}`),
      tie('selections').map((inner) => `... ${inner}`),
    ),
    selections: fc.array(tie('selection'), { minLength: 1, maxLength: 6 }).map((all) => `{${all.join(' ')}}`),
  }))
  const documents = fc
    .tuple(fc.array(selections, { minLength: 1, maxLength: 4 }), fc.array(selections, { maxLength: 12 }))
    .map(([operations, fragments]) =>
      [
        ...operations.map((each, i) => `query q${i} ${each}`),
        ...fragments.map((each, i) => `fragment f${i} on A ${each}`),
      ].join(' '),
    )

  test('the size of a document is computed with at most one visit per selection set, however fragments are nested', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const { document, selectionSets, looks } = watched(parse(text))
        exceededDocumentLimit(document)
        expect(looks()).toBeLessThanOrEqual(selectionSets)
      }),
      { numRuns: 300 },
    )
  })

  test('counting the pairs of merging fields takes at most one visit per selection set after all fragments are inlined', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const document = parse(text)
        fc.pre(exceededDocumentLimit(document) === null)
        const looksAtMost = sets(document)
        const spied = watched(document)
        exceededPairLimit(document)
        expect(spied.looks()).toBeLessThanOrEqual(looksAtMost)
      }),
      { numRuns: 300 },
    )
  })

  test('the size of a document equals its size with every fragment inlined', () => {
    fc.assert(
      fc.property(documents, (text) => {
        const document = parse(text)
        const written = document.definitions.flatMap((each) =>
          each.kind === 'OperationDefinition' ? [fieldsWrittenOut(document, each.selectionSet)] : [],
        )
        const isTooMuch = exceededDocumentLimit(document) !== null
        const fields = written.reduce((sum, each) => sum + each.fields, 0)
        expect(isTooMuch).toBe(fields > limits.fields || written.some(({ depth }) => depth > limits.depth))
      }),
      { numRuns: 300 },
    )
  })
})

describe('selections that no operation uses', () => {
  const many = times(240, () => 'merchant {name}')

  test.each([
    ['an unused fragment', `{__typename} fragment f on Query {none ${many}}`, /^Fragment "f" is never used/],
    [
      'the first of two fragments with one name',
      `{...f} fragment f on Query {none ${many}} fragment f on Query {__typename}`,
      /only one fragment named "f"/,
    ],
    [
      'fragments that spread themselves',
      `{__typename} fragment f on Query {none ...g} fragment g on Query {none ...f ${many}}`,
      /within itself|never used/,
    ],
  ])('a document with %s is rejected before validation, which would take too long', async (_, query, message) => {
    const app = await startApp('sqlite')
    const { errors } = await app.graphql(query)
    expect(errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code)).toContain(
      'INVALID_DOCUMENT',
    )
    for (const error of errors) expect(error.message).toMatch(message)
  })
})

describe('fields that merge under one response name', () => {
  const pairs = (text: string) => exceededPairLimit(parse(text, { noLocation: true }))
  // 77 fields that all merge have 2,926 pairs; 78 have 3,003.
  const most = 77

  test.each<[name: string, (count: number) => string]>([
    ['fields', (count) => `{a {${times(count, () => 'b')}}}`],
    ['fields alongside another operation', (count) => `query q {c} query r {a {${times(count, () => 'b')}}}`],
    ['aliases and fields', (count) => `{a {a: b ${times(count - 1, () => 'a')}}}`],
    ['fields through inline fragments', (count) => `{${times(count, () => '... on A {... {b}}')}}`],
    ['fields below merging fields', (count) => `{a {b} a {${times(count - 1, () => 'b')}}}`],
    [
      'fragments',
      (count) => `{${times(count, (i) => `...f${i}`)}} ${times(count, (i) => `fragment f${i} on A {a${i}}`)}`,
    ],
    [
      'a chain of fragments',
      (count) => `{...f0} ${times(count, (i) => `fragment f${i} on A {a${i} ${i + 1 < count ? `...f${i + 1}` : ''}}`)}`,
    ],
  ])('the number of pairs of merging fields is limited in documents with %s', (_, document) => {
    expect(pairs(document(most))).toBeNull()
    expect(pairs(document(most + 1))).toContain(`${limits.pairs} pairs`)
  })

  test('exactly 3,000 pairs of merging fields are accepted, and one more is rejected', () => {
    // 2,926 + 66 + 6 + 1 + 1 pairs.
    const repeated = [77, 12, 4, 2, 2].map((count, i) => times(count, () => `a${i}`)).join(' ')
    expect(pairs(`{${repeated}}`)).toBeNull()
    expect(pairs(`{${repeated} a a}`)).toContain('at most 3000 pairs')
  })

  test.each([
    ['one field 248 times', `{${times(248, () => 'merchant {name}')}}`],
    ['a field about a thousand times', `{${times(990, () => 'a')}}`],
    ['nested levels of merging fields', `{${times(8, () => `a {${times(8, () => `b {${times(8, () => 'c')}}`)}}`)}}`],
  ])('the number of pairs of merging fields exceeds the limit in a document with %s', (_, text) => {
    expect(pairs(text)).not.toBeNull()
  })

  test('fields in different places or under different names do not count as merging fields', () => {
    expect(pairs(`{${times(300, (i) => `a${i} {b}`)}}`)).toBeNull()
    expect(pairs(`{${times(300, (i) => `a${i} {...f}`)}} fragment f on A {b c}`)).toBeNull()
    expect(pairs(`{${times(300, () => '...f')}} fragment f on A {b c}`)).toBeNull()
  })
})

describe('the size of variables', () => {
  test('variables are accepted up to the maximum number of values, which includes nested values', () => {
    const chain = (levels: number) => JSON.parse(`${'[{"a":'.repeat(levels)}1${'}]'.repeat(levels)}`)
    expect(exceededVariableLimit({ v: chain((limits.values - 2) / 2) })).toBeNull()
    const message = 'The variables may contain at most 5000 values, at any depth.'
    expect(exceededVariableLimit({ v: chain(limits.values / 2) })).toBe(message)
    expect(exceededVariableLimit({ v: Array(limits.values - 1).fill(null) })).toBeNull()
    expect(exceededVariableLimit({ v: Array(limits.values).fill(null) })).toBe(message)
  })
})

type Selections = Extract<DocumentNode['definitions'][number], { kind: 'OperationDefinition' }>['selectionSet']

/** A document that counts its selection sets and the visits to them. */
function watched(document: DocumentNode) {
  let count = 0
  let selectionSets = 0
  visit(document, {
    SelectionSet: (set) => {
      selectionSets++
      const { selections } = set
      Object.defineProperty(set, 'selections', {
        get: () => {
          count++
          return selections
        },
      })
    },
  })
  count = 0
  return { document, selectionSets, looks: () => count }
}

/** The selection sets of a document with every fragment inlined. */
function sets(document: DocumentNode): number {
  const within = (set: Selections): number =>
    set.selections.reduce((sum, selection) => {
      const inner =
        selection.kind === 'FragmentSpread'
          ? document.definitions.find(
              (each) => each.kind === 'FragmentDefinition' && each.name.value === selection.name.value,
            )
          : selection
      return sum + (inner && 'selectionSet' in inner && inner.selectionSet ? within(inner.selectionSet) : 0)
    }, 1)
  return document.definitions.reduce(
    (sum, each) => sum + (each.kind === 'OperationDefinition' ? within(each.selectionSet) : 0),
    0,
  )
}

/** Counts the fields and levels of a selection naively; cyclic fragments exceed every limit. */
function fieldsWrittenOut(
  document: DocumentNode,
  set: Selections,
  within: readonly string[] = [],
): { fields: number; depth: number } {
  const beyond = { fields: Number.POSITIVE_INFINITY, depth: Number.POSITIVE_INFINITY }
  return set.selections.reduce(
    (sum, selection) => {
      const name = selection.kind === 'FragmentSpread' ? selection.name.value : null
      const fragment = document.definitions.find(
        (each) => each.kind === 'FragmentDefinition' && each.name.value === name,
      )
      const inner =
        selection.kind === 'FragmentSpread'
          ? (fragment as { selectionSet: Selections } | undefined)?.selectionSet
          : selection.selectionSet
      const size =
        name !== null && within.includes(name)
          ? beyond
          : inner && sum.fields < 100_000
            ? fieldsWrittenOut(document, inner, name === null ? within : [...within, name])
            : { fields: 0, depth: 0 }
      const own = selection.kind === 'Field' ? 1 : 0
      return { fields: sum.fields + size.fields + own, depth: Math.max(sum.depth, size.depth + own) }
    },
    { fields: 0, depth: 0 },
  )
}

describe.each(everyEngine)('documents of tools and front ends on %s', (engine) => {
  const introspections = [
    ['stock', getIntrospectionQuery()],
    [
      'with every option',
      getIntrospectionQuery({
        descriptions: true,
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        inputValueDeprecation: true,
        experimentalDirectiveDeprecation: true,
        oneOf: true,
      }),
    ],
    ['as deep as types can be wrapped', getIntrospectionQuery({ typeDepth: 20 })],
  ] as const

  test.each(introspections)(
    'the introspection query (%s) succeeds with an API key and is rejected without one',
    async (_, query) => {
      const app = await startApp(engine)
      for (let i = 0; i < 3; i++) {
        const { errors, data } = await app.graphql(query)
        expect(errors).toEqual([])
        expect(data.__schema.types.length).toBeGreaterThan(100)
      }
      const anonymous = await app.graphql(query, {}, { key: null })
      expect([anonymous.status, anonymous.errors[0].extensions.code]).toEqual([401, 'MISSING_TOKEN'])
    },
  )

  test("Relay's generated aliases do not count towards the limit of aliases", async () => {
    const spread = (alias: string) =>
      parse(`{ node(id: "1") { ${times(limits.aliases + 1, (i) => `${alias}${i}: __typename`)} } }`)
    expect(exceededDocumentLimit(spread('__isNode'))).toBeNull()
    expect(exceededDocumentLimit(spread('a'))).toContain('aliases')
  })

  test('a Relay-style document of 700 fields, 25 aliases and 9 fragments is accepted', async () => {
    const app = await startApp(engine)
    const card = 'id uuid status amount fee balance exchangeRate amountFiat recipientName bankName createdAt __typename'
    const sections = times(
      25,
      (i) =>
        `section${i}: payouts(first: $count) {edges {cursor node {...Card${i % 8}_payout}} pageInfo {endCursor hasNextPage}}`,
    )
    const fragments = times(8, (i) => `fragment Card${i}_payout on Payout {${card} ...Owner_payout}`)
    const query = `query HomeScreenQuery($count: Int = 20) {${sections}} ${fragments}
      fragment Owner_payout on Payout {customer {id email status} wallet {id currency balance __typename}}`
    for (let i = 0; i < 3; i++) {
      const { errors, extensions } = await app.graphql(query, { count: 10 })
      expect(errors).toEqual([])
      expect(extensions.cost.requested).toBeGreaterThan(25 * 10 * 22)
    }
  })
})
