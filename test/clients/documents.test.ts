import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, print } from 'graphql'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { hasInputVariable, operationTypeOf, textOf } from '../../clients/typescript/src/documents.ts'
import { keyed } from '../../clients/typescript/src/graphql.ts'
import { createClient, type TypedDocument } from '../../clients/typescript/src/index.ts'
import { clientTypes, clientTypesPath } from '../../codegen.ts'

const root = join(import.meta.dirname, '../..')

test('the types of the REST API in the client are up to date', () => {
  expect(readFileSync(join(root, clientTypesPath), 'utf8')).toBe(clientTypes())
})

describe('textOf', () => {
  const texts = globSync('test/graphql/documents/*.graphql', { cwd: root }).map((path) =>
    readFileSync(join(root, path), 'utf8'),
  )
  const allSyntax = `query A($a: [ID!]! = ["x"], $b: I = {c: 1.5, d: null} @dep) @live { x: y(e: ENUM, f: "q\\"\\n\\u00e9", g: $a, h: true) @skip(if: $b) { ...F ... on T { z } ... @include(if: true) { z } } }
    fragment F on T @d { z(list: [1, {deep: [$a]}]) }
    mutation { z } subscription S { z }`

  test('prints a syntax tree as a text that graphql-js parses to the same document', () => {
    expect(texts.length).toBeGreaterThan(0)
    for (const text of [...texts, allSyntax]) expect(print(parse(textOf(parse(text))))).toBe(print(parse(text)))
  })

  test('returns a string and a typed document string unchanged', () => {
    expect(textOf('{ a }')).toBe('{ a }')
    expect(textOf(new String('{ a }'))).toBe('{ a }')
    expect(() => textOf({})).toThrow('Not a GraphQL document')
  })
})

test.each([
  ['{ mutation }', undefined, 'query'],
  ['query Q { a } mutation M { b }', 'M', 'mutation'],
  ['query Q { a } mutation M { b }', 'Q', 'query'],
  ['# mutation\nquery Q { a(text: "mutation {") { subscription } }', undefined, 'query'],
  ['fragment F on T { a }\nmutation($input: I!) { b }', undefined, 'mutation'],
  ['subscription { a }', undefined, 'subscription'],
  ['query Q($a: String = """mutation { """) { a }', undefined, 'query'],
])('in the document %j, the operation selected by the name %s is a %3$s', (text, name, expected) => {
  expect(operationTypeOf(text, name)).toBe(expected)
})

describe('a mutation', () => {
  test.each([
    ['is repeatable if its input is a variable', 'mutation($input: I!) { a(input: $input) { b } }', true],
    ['is not repeatable if its input is in the document', 'mutation($id: ID!) { a(input: {id: $id}) { b } }', false],
    [
      'is not repeatable if it has two inputs',
      'mutation($input: I!, $other: J!) { a(input: $input) { b } c(input: $other) { b } }',
      false,
    ],
  ])('%s', (_, query, expected) => {
    expect(hasInputVariable(query)).toBe(expected)
    expect(keyed({ query, variables: { input: {} } })).toMatchObject({
      isRepeatable: expected,
      idempotencyKey: expected ? expect.any(String) : null,
    })
  })
})

type Result = { readonly createPayout: { readonly __typename: 'CreatePayoutPayload' } | null }
type Variables = { readonly input: { readonly amount: string; readonly idempotencyKey: string } }

test('the compiler checks the variables and the result of a typed document, and the idempotency key is optional', () => {
  const client = createClient({ url: 'http://127.0.0.1:1', apiKey: 'key' })
  const pay = 'mutation' as unknown as TypedDocument<Result, Variables>
  const list = '{ a }' as unknown as TypedDocument<{ readonly a: string }, { [key: string]: never }>
  const paid = () => client.graphql(pay, { input: { amount: '1' } })
  // Never called.
  const calls = () => [
    client.graphql(pay, { input: { amount: '1', idempotencyKey: 'key' } }),
    // @ts-expect-error an amount is a string
    client.graphql(pay, { input: { amount: 1 } }),
    // @ts-expect-error the input is required
    client.graphql(pay),
    client.graphql(list),
    // @ts-expect-error an unknown path
    client.get('/api/nothing'),
    // @ts-expect-error the path needs its id
    client.get('/api/payouts/{payout_id}'),
    // @ts-expect-error an unknown currency
    client.post('/api/payouts/banks', { body: { currency: 'EUR' } }),
  ]
  expectTypeOf<ReturnType<typeof paid>>().resolves.toExtend<{
    readonly data: Result
    readonly idempotencyKey: string | null
  }>()
  expectTypeOf(calls).toBeFunction()
})
