import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { App } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { cpuMs } from '../support/cpu.ts'

// These requests are rejected before they reach an engine.
const anyEngine = everyEngine.slice(0, 1)

const times = (count: number, part: (i: number) => string, between = ' ') =>
  Array.from({ length: count }, (_, i) => part(i)).join(between)
const nested = (levels: number, open: string, inner: string, close: string) =>
  `${open.repeat(levels)}${inner}${close.repeat(levels)}`

/** Fragments that each spread the next one twice; the last contains `leaf`. */
const bomb = (levels: number, leaf: string, spread = (next: string) => `${next} ${next}`) =>
  `${times(levels, (i) => `fragment f${i} on Query {${spread(`...f${i + 1}`)}}`)} fragment f${levels} on Query {${leaf}}`

const payoutsWith = (given: string) => `{payouts(${given}) {__typename}}`
const threeLists = (given: string) =>
  `{customers(${given}) {nodes {wallets(${given}) {nodes {payouts(${given}) {nodes {id}}}}}}}`
const newPayout = (key: string) =>
  `createPayout(input: {assetCode: USDC, amount: "1", recipient: {payoutMethodId: "x"}, paymentPurpose: GIFTS, idempotencyKey: "${key}"}) {__typename}`
const newWallet = 'createWallet(input: {currency: "NGN", description: "x"}) {__typename}'

/** Documents over a limit, with the error code and message that each must produce. */
const documents: readonly (readonly [name: string, query: string, code: string, says: RegExp])[] = [
  ['200 kB of spaces', `{merchant {id}}${' '.repeat(200_000)}`, 'QUERY_TOO_COMPLEX', /10000 characters/],
  ['100 kB of commas', `{merchant {id}}${','.repeat(100_000)}`, 'QUERY_TOO_COMPLEX', /10000 characters/],
  ['a block string of 100 kB', `{node(id: """${'\\"""\n'.repeat(20_000)}""") {id}}`, 'QUERY_TOO_COMPLEX', /characters/],
  ['comments only', '# comment\n'.repeat(900), 'INVALID_DOCUMENT', /Unexpected <EOF>/],
  ['20 levels', nested(20, '{merchant', '{id}', '}'), 'QUERY_TOO_COMPLEX', /12 levels deep/],
  ['330 levels', nested(330, '{merchant', '{id}', '}'), 'QUERY_TOO_COMPLEX', /12 levels deep/],
  ['1,000 levels', nested(1_000, '{a', '', '}'), 'QUERY_TOO_COMPLEX', /1000 tokens/],
  ['5,000 levels', nested(5_000, '{', 'a', '}'), 'QUERY_TOO_COMPLEX', /10000 characters/],
  ['2,000 levels of fragments', nested(1_500, '{...', '{id}', '}'), 'QUERY_TOO_COMPLEX', /1000 tokens/],
  ['lists 450 levels deep', `{node(id: ${nested(450, '[', '', ']')}) {id}}`, 'INVALID_DOCUMENT', /^ID cannot repr/],
  [
    'objects 150 levels deep',
    payoutsWith(`filter: ${nested(150, '{a:', '1', '}')}`),
    'INVALID_DOCUMENT',
    /unknown field/,
  ],
  ['31 aliases', `{${times(31, (i) => `a${i}: __typename`)}}`, 'QUERY_TOO_COMPLEX', /30 aliases/],
  ['300 aliases', `{${times(300, (i) => `a${i}: a`)}}`, 'QUERY_TOO_COMPLEX', /30 aliases/],
  ['10,000 aliases', `{${times(10_000, (i) => `a${i}: a`)}}`, 'QUERY_TOO_COMPLEX', /10000 characters/],
  [
    '40 aliases through a fragment',
    `{...f ...f ...f ...f ...f} fragment f on Query {${times(8, (i) => `a${i}: __typename`)}}`,
    'QUERY_TOO_COMPLEX',
    /30 aliases/,
  ],
  [
    'an alias of 9,000 characters',
    `{${'x'.repeat(9_000)}: __typename}`,
    'QUERY_TOO_COMPLEX',
    /alias .* 100 characters/,
  ],
  ['a name of 9,000 characters', `{${'x'.repeat(9_000)}}`, 'INVALID_DOCUMENT', /^Cannot query field "x{100}/],
  ['a fragment bomb', `{...f0} ${bomb(30, 'merchant {id}')}`, 'QUERY_TOO_COMPLEX', /1000 fields/],
  [
    'a fragment bomb with fields between',
    `{...f0} ${bomb(30, 'merchant {id}', (next) => `merchant {id} ${next} merchant {id} ${next}`)}`,
    'QUERY_TOO_COMPLEX',
    /1000 fields/,
  ],
  [
    'a fragment bomb of inline fragments',
    `{...f0} ${bomb(30, 'merchant {id}', (next) => `... {${next}} ... on Query {${next}}`)}`,
    'QUERY_TOO_COMPLEX',
    /1000 fields/,
  ],
  ['a fragment bomb without fields', `{...f0} ${bomb(30, '...none')}`, 'INVALID_DOCUMENT', /Unknown fragment/],
  ['an unused fragment bomb', `{merchant {id}} ${bomb(30, 'merchant {id}')}`, 'INVALID_DOCUMENT', /never used/],
  [
    'a fragment that spreads itself',
    '{...f} fragment f on Query {merchant {id} ...f}',
    'QUERY_TOO_COMPLEX',
    /form a cycle/,
  ],
  [
    'a cycle of fragments',
    '{...a} fragment a on Query {...b} fragment b on Query {... {...c}} fragment c on Query {merchant {id} ...a}',
    'QUERY_TOO_COMPLEX',
    /form a cycle/,
  ],
  [
    'an unused fragment that spreads itself',
    '{merchant {id}} fragment f on Query {...f}',
    'INVALID_DOCUMENT',
    /within itself/,
  ],
  [
    'unused fragments, each spread in all',
    `{merchant {id}} ${times(18, (i) => `fragment f${i} on Query {${times(18, (j) => `...f${j}`)}}`)}`,
    'INVALID_DOCUMENT',
    /within itself/,
  ],
  ['one field 900 times', `{merchant {${'id '.repeat(900)}}}`, 'QUERY_TOO_COMPLEX', /same fields too often/],
  [
    '248 times the same',
    `{${'merchant {name} '.repeat(248)}}`,
    'QUERY_TOO_COMPLEX',
    /same fields too often.* 3000 pairs/,
  ],
  [
    '240 times the same where no operation comes to',
    `{__typename} fragment f on Query {${'merchant {name} '.repeat(240)}}`,
    'INVALID_DOCUMENT',
    /never used/,
  ],
  [
    '240 times the same in the first of two fragments of one name',
    `{...f} fragment f on Query {${'merchant {name} '.repeat(240)}} fragment f on Query {__typename}`,
    'INVALID_DOCUMENT',
    /only one fragment/,
  ],
  [
    'one query for each of 50 names',
    `${times(50, (i) => `query q${i} {...f}`)} fragment f on Query {${'merchant {id} '.repeat(70)}}`,
    'QUERY_TOO_COMPLEX',
    /1000 fields/,
  ],
  [
    'one field with 80 differing arguments',
    `{${times(80, (i) => `payouts(first: ${i}) {nodes {id}}`)}}`,
    'QUERY_TOO_COMPLEX',
    /same fields too often/,
  ],
  [
    'one field with 40 differing arguments',
    `{${times(40, (i) => `payouts(first: ${i}) {nodes {id}}`)}}`,
    'INVALID_DOCUMENT',
    /differing arguments/,
  ],
  ['10,000 directives', `{merchant ${'@include(if: true) '.repeat(10_000)} {id}}`, 'QUERY_TOO_COMPLEX', /10000 char/],
  ['51 directives', `{merchant {${'id @include(if: true) '.repeat(51)}}}`, 'QUERY_TOO_COMPLEX', /50 directives/],
  ['unknown directives', `{merchant ${'@x'.repeat(400)} {id}}`, 'QUERY_TOO_COMPLEX', /50 directives/],
  ['directives on an operation', `query ${'@x'.repeat(400)} {merchant {id}}`, 'QUERY_TOO_COMPLEX', /50 directives/],
  ['directives on a variable', `query ($v: ID! ${'@x'.repeat(400)}) {node(id: $v) {id}}`, 'INVALID_DOCUMENT', /"@x"/],
  [
    'directives of a fragment',
    `{...f} fragment f on Query ${'@x'.repeat(400)} {merchant {id}}`,
    'INVALID_DOCUMENT',
    /@x/,
  ],
  ['a repeated directive', '{merchant @skip(if: true) @skip(if: true) {id}}', 'INVALID_DOCUMENT', /only be used once/],
  ['51 operations', times(51, (i) => `query q${i} {merchant {id}}`), 'QUERY_TOO_COMPLEX', /50 operations/],
  ['10,000 operations', times(10_000, (i) => `query q${i} {a}`), 'QUERY_TOO_COMPLEX', /10000 characters/],
  ['150 variables', `query (${times(150, (i) => `$v${i}: Int`)}) {merchant {id}}`, 'INVALID_DOCUMENT', /never used/],
  ['10,000 variables', `query (${times(10_000, (i) => `$v${i}: Int`)}) {a}`, 'QUERY_TOO_COMPLEX', /10000 characters/],
  ['300 arguments', `{node(${times(300, (i) => `a${i}: 1`)}) {id}}`, 'INVALID_DOCUMENT', /Unknown argument/],
  [
    '300 near misses',
    `{${times(300, (i) => `payoutMethodRequirement${i}`)}}`,
    'INVALID_DOCUMENT',
    /Cannot query field/,
  ],
  ['type definitions', `type A {${times(300, (i) => `a${i}: A`)}}`, 'INVALID_DOCUMENT', /not executable/],
  ['NUL', '{merchant {id}}\0', 'INVALID_DOCUMENT', /U\+0000/],
  ['a lone surrogate', '{node(id: "\ud800") {id}}', 'INVALID_DOCUMENT', /U\+D800/],
  ['an escaped lone surrogate', '{node(id: "\\ud800") {id}}', 'INVALID_DOCUMENT', /Invalid Unicode escape/],

  ['100 of 100 of 100', threeLists('first: 100'), 'QUERY_TOO_COMPLEX', /costs \d{7,}/],
  ['100 of 100 of 100 from the end', threeLists('last: 100'), 'QUERY_TOO_COMPLEX', /costs \d{7,}/],
  ['100 of 100 of 100 from both ends', threeLists('first: 1, last: 100'), 'QUERY_TOO_COMPLEX', /costs \d{7,}/],
  [
    '100 of 100 of 100 by default',
    `query ($n: Int = 100) ${threeLists('first: $n')}`,
    'QUERY_TOO_COMPLEX',
    /costs \d{7,}/,
  ],
  [
    '100 of 100 of 100 through fragments',
    `{customers(first: 100) {...a}} fragment a on CustomerConnection {edges {node {... on Node {...b}}}}
     fragment b on Customer {wallets(first: 100) {... {nodes {payouts(first: 100) {...c}}}}} fragment c on PayoutConnection {nodes {id}}`,
    'QUERY_TOO_COMPLEX',
    /costs \d{7,}/,
  ],
  [
    '20 of 20 of 20 of 20, unsaid',
    '{customers {nodes {wallets {nodes {payouts {nodes {wallet {payouts {nodes {id}}}}}}}}}}',
    'QUERY_TOO_COMPLEX',
    /costs/,
  ],
  [
    'lists of __typename alone',
    `{customers(first: 100) {nodes {${times(25, (i) => `a${i}: payouts(first: 100) {nodes {__typename}}`)}}}}`,
    'QUERY_TOO_COMPLEX',
    /costs/,
  ],
  [
    '3,000 empty lists',
    `{customers(first: 100) {nodes {${times(30, (i) => `a${i}: payouts(first: 0) {__typename}`)}}}}`,
    'QUERY_TOO_COMPLEX',
    /costs/,
  ],
  [
    '3,000 faulty lists',
    `{customers(first: 100) {nodes {${times(30, (i) => `a${i}: payouts(first: -1) {__typename}`)}}}}`,
    'QUERY_TOO_COMPLEX',
    /costs/,
  ],
  [
    '500 totals',
    '{customers(first: 100) {nodes {payouts {totalCount} wallets {totalCount}}}}',
    'QUERY_TOO_COMPLEX',
    /costs/,
  ],
  ['2,147,483,647 items', '{payouts(first: 2147483647) {nodes {id}}}', 'QUERY_TOO_COMPLEX', /costs/],
  ['2,147,483,648 items', payoutsWith('first: 2147483648'), 'INVALID_DOCUMENT', /32-bit/],
  ['1e400 items', payoutsWith('first: 1e400'), 'INVALID_DOCUMENT', /Int cannot represent/],
  ['1.5 items', payoutsWith('first: 1.5'), 'INVALID_DOCUMENT', /Int cannot represent/],
  ['"9" items', payoutsWith('first: "9"'), 'INVALID_DOCUMENT', /Int cannot represent/],
  ['-1 items', payoutsWith('first: -1'), 'INVALID_INPUT', /from 0 to 100/],
  ['101 items', payoutsWith('first: 101'), 'INVALID_INPUT', /from 0 to 100/],
  ['900 nodes', `{nodes(ids: [${'1 '.repeat(950)}]) {id}}`, 'QUERY_TOO_COMPLEX', /costs 1\d{4}/],
  ['10 mutations', `mutation {${times(10, (i) => `a${i}: ${newWallet}`)}}`, 'QUERY_TOO_COMPLEX', /costs 10\d{3}/],

  ['two payouts', `mutation {a: ${newPayout('a')} b: ${newPayout('b')}}`, 'QUERY_TOO_COMPLEX', /money at most once/],
  [
    'two payouts through fragments',
    `mutation {...f ... {...f}} fragment f on Mutation {a: ${newPayout('a')}}`,
    'QUERY_TOO_COMPLEX',
    /money at most once/,
  ],
  [
    'a payout and a simulation of one',
    `mutation {${newPayout('a')} ... on Mutation {simulatePayout(input: {payoutId: "x", status: FAILED}) {__typename}}}`,
    'QUERY_TOO_COMPLEX',
    /money at most once/,
  ],
  [
    'one of two payouts, selected by a variable',
    `mutation ($v: Boolean = true) {... @include(if: $v) {a: ${newPayout('a')}} ... @skip(if: $v) {b: ${newPayout('b')}}}`,
    'QUERY_TOO_COMPLEX',
    /money at most once/,
  ],
  ['a payout in a query', `{${newPayout('a')}}`, 'INVALID_DOCUMENT', /Cannot query field/],
  ['a payout in a subscription', `subscription {${newPayout('a')}}`, 'INVALID_DOCUMENT', /Cannot query field/],
  [
    'two subscriptions',
    'subscription {a: payoutChanged(id: "x") {id} b: payoutChanged(id: "y") {id}}',
    'INVALID_DOCUMENT',
    /only one top level field/,
  ],

  [
    'introspection with aliases',
    `{__schema {types {${times(25, (i) => `a${i}: fields {args {type {name description}}}`)}}}}`,
    'QUERY_TOO_COMPLEX',
    /not use aliases/,
  ],
  [
    'several introspections',
    '{a: __schema {types {name}} b: __schema {types {name}}}',
    'QUERY_TOO_COMPLEX',
    /not use alias/,
  ],
  [
    'introspection within introspection',
    '{__type(name: "Query") {fields {type {fields {type {fields {name}}}}}}}',
    'INVALID_DOCUMENT',
    /introspection depth/,
  ],
  [
    'four nested lists of introspection',
    '{__schema {types {possibleTypes {fields {args {name}}}}}}',
    'QUERY_TOO_COMPLEX',
    /3 lists/,
  ],
  [
    'introspection without end',
    `{__type(name: "Query") {fields {type {${nested(300, 'ofType {', 'name fields {type {fields {type {fields {name}}}}}', '}')}}}}}`,
    'QUERY_TOO_COMPLEX',
    /3 lists/,
  ],

  ...['__proto__', 'constructor', 'toString', 'hasOwnProperty'].flatMap(
    (name) =>
      [
        [`the field ${name}`, `{${name}}`, 'INVALID_DOCUMENT', /Cannot query field/],
        [`the fragment ${name}`, `{...${name}}`, 'INVALID_DOCUMENT', /Unknown fragment/],
        [`the argument ${name}`, `{node(id: "x", ${name}: 1) {id}}`, 'INVALID_DOCUMENT', /Unknown argument/],
        [`the directive ${name}`, `{merchant @${name} {id}}`, 'INVALID_DOCUMENT', /Unknown directive/],
        [`the type ${name}`, `{... on ${name} {id}}`, 'INVALID_DOCUMENT', /Unknown type/],
        [`the enum value ${name}`, payoutsWith(`filter: {status: ${name}}`), 'INVALID_DOCUMENT', /not exist in/],
        [`the input field ${name}`, payoutsWith(`filter: {${name}: 1}`), 'INVALID_DOCUMENT', /unknown field/],
      ] as const,
  ),
]

/** Variables that are too large or have wrong types. */
const variables: readonly (readonly [name: string, query: string, json: string, code: string, says: RegExp])[] = [
  ...['first', 'last'].map(
    (end) =>
      [
        `100 of 100 of 100 by a variable, ${end}`,
        `query ($n: Int) ${threeLists(`${end}: $n`)}`,
        '{"n": 100}',
        'QUERY_TOO_COMPLEX',
        /costs \d{7,}/,
      ] as const,
  ),
  [
    'no number for 20 of 20 of 20 of 20',
    `query ($n: Int) ${threeLists('first: $n').replace('id', 'wallet {payouts(first: $n) {nodes {id}}}')}`,
    '{"n": null}',
    'QUERY_TOO_COMPLEX',
    /costs/,
  ],
  ...['1e400', '1.5', '"9"', 'true', '[]', '{}', '2147483648', '[9]'].map(
    (json) =>
      [
        `${json} items`,
        `query ($n: Int) ${payoutsWith('first: $n')}`,
        `{"n": ${json}}`,
        'INVALID_INPUT',
        /Int cannot/,
      ] as const,
  ),
  [
    '2,000 ids',
    'query ($v: [ID!]!) {nodes(ids: $v) {id}}',
    `{"v": [${times(2_000, () => '"x"', ',')}]}`,
    'QUERY_TOO_COMPLEX',
    /costs/,
  ],
  [
    '10,000 ids',
    'query ($v: [ID!]!) {nodes(ids: $v) {id}}',
    `{"v": [${times(10_000, () => '"x"', ',')}]}`,
    'QUERY_TOO_COMPLEX',
    /5000 values/,
  ],
  [
    '101 ids',
    'query ($v: [ID!]!) {nodes(ids: $v) {id}}',
    `{"v": [${times(101, () => '"x"', ',')}]}`,
    'INVALID_INPUT',
    /at most 100/,
  ],
  [
    '20,000 unknown fields',
    `query ($v: PayoutFilter) ${payoutsWith('filter: $v')}`,
    `{"v": {${times(20_000, (i) => `"a${i}":1`, ',')}}}`,
    'QUERY_TOO_COMPLEX',
    /5000 values/,
  ],
  [
    '4,900 unknown fields',
    `query ($v: PayoutFilter) ${payoutsWith('filter: $v')}`,
    `{"v": {${times(4_900, (i) => `"a${i}":1`, ',')}}}`,
    'INVALID_INPUT',
    /unknown field/,
  ],
  [
    '100,000 levels',
    `query ($v: PayoutFilter) ${payoutsWith('filter: $v')}`,
    `{"v": ${nested(100_000, '[', '1', ']')}}`,
    'QUERY_TOO_COMPLEX',
    /5000 values/,
  ],
  [
    '100,000 levels in an undeclared variable',
    '{merchant {id}}',
    `{"v": ${nested(100_000, '[', '1', ']')}}`,
    'QUERY_TOO_COMPLEX',
    /5000 values/,
  ],
  [
    '4,000 levels',
    'query ($v: [ID!]!) {nodes(ids: $v) {id}}',
    `{"v": ${nested(4_000, '[', '1', ']')}}`,
    'INVALID_INPUT',
    /ID cannot represent/,
  ],
  [
    'a string of 250 kB for a number',
    `query ($v: Int) ${payoutsWith('first: $v')}`,
    `{"v": "${'x'.repeat(250_000)}"}`,
    'INVALID_INPUT',
    /"x{100}/,
  ],
  [
    'a string of 250 kB for an enum',
    `query ($v: PayoutStatus) ${payoutsWith('filter: {status: $v}')}`,
    `{"v": "${'x'.repeat(250_000)}"}`,
    'INVALID_INPUT',
    /"x{100}/,
  ],
  [
    'a field name of 250 kB',
    `query ($v: PayoutFilter) ${payoutsWith('filter: $v')}`,
    `{"v": {"${'x'.repeat(250_000)}": 1}}`,
    'INVALID_INPUT',
    /unknown field/,
  ],
  [
    'a cursor of 250 kB',
    `query ($v: String) ${payoutsWith('after: $v')}`,
    `{"v": "${'x'.repeat(250_000)}"}`,
    'INVALID_INPUT',
    /cursor/,
  ],
  [
    'a text of 250 kB',
    `query ($v: String) ${payoutsWith('filter: {assetCode: $v}')}`,
    `{"v": "${'x '.repeat(125_000)}"}`,
    'INVALID_INPUT',
    /255/,
  ],
  ...['__proto__', 'constructor', 'toString'].flatMap(
    (name) =>
      [
        [
          `the field ${name}`,
          `query ($v: PayoutFilter) ${payoutsWith('filter: $v')}`,
          `{"v": {"${name}": {}}}`,
          'INVALID_INPUT',
          /unknown field/,
        ],
        [
          `the enum value ${name}`,
          `query ($v: PayoutStatus) ${payoutsWith('filter: {status: $v}')}`,
          `{"v": "${name}"}`,
          'INVALID_INPUT',
          /not exist in/,
        ],
        [
          `the variable ${name}, which is not given`,
          `query ($${name}: ID!) {node(id: $${name}) {id}}`,
          '{}',
          'INVALID_INPUT',
          /to be provided/,
        ],
      ] as const,
  ),
  [
    'null instead of a default',
    'query ($v: ID = "x") {node(id: $v) {id}}',
    '{"v": null}',
    'INVALID_INPUT',
    /not to be null/,
  ],
  ['null in a list', 'query ($v: ID = "x") {nodes(ids: [$v]) {id}}', '{"v": null}', 'INVALID_INPUT', /not to be null/],
]

const tooLarge = [413, 'PAYLOAD_TOO_LARGE', /262144 bytes/] as const
const noBatch = [400, 'INVALID_INPUT', /no batches/] as const
const noJson = [415, 'UNSUPPORTED_MEDIA_TYPE', /application\/json/] as const
const small = '{"query": "{merchant {id}}"}'
const form = 'application/x-www-form-urlencoded'
const parts = '--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query": "{a}"}\r\n--x--\r\n'

/** Bodies that are not a single JSON request. */
const bodies: readonly (readonly [
  name: string,
  body: string,
  refusal: readonly [number, string, RegExp],
  type?: string,
])[] = [
  ['1 MB', JSON.stringify({ query: `{merchant {id}}${' '.repeat(1_000_000)}` }), tooLarge],
  ['a batch', `[${small}, ${small}]`, noBatch],
  ['a batch of one', `[${small}]`, noBatch],
  ['a batch of 9,000', `[${times(9_000, () => small, ',')}]`, noBatch],
  ['a body 100,000 levels deep', nested(100_000, '[', '1', ']'), noBatch],
  ['a form', 'query=%7Bmerchant%7Bid%7D%7D', noJson, form],
  ['a form of 250 kB', `query=${'a&query='.repeat(30_000)}`, noJson, form],
  ['a multipart form', parts, noJson, 'multipart/form-data; boundary=x'],
  ['a bare document', '{merchant {id}}', noJson, 'application/graphql'],
  ['no query text', '{"query": 7}', [400, 'INVALID_INPUT', /^query must be/]],
  ['an object as query text', '{"query": {"toString": 1}}', [400, 'INVALID_INPUT', /^query must be/]],
  ['a list as variables', '{"query": "{a}", "variables": []}', [400, 'INVALID_INPUT', /^variables must be/]],
  ['a string as variables', '{"query": "{a}", "variables": "{}"}', [400, 'INVALID_INPUT', /^variables must be/]],
  [
    'a number as operation name',
    '{"query": "{a}", "operationName": 7}',
    [400, 'INVALID_INPUT', /^operationName must be/],
  ],
  ['a list as extensions', '{"query": "{a}", "extensions": []}', [400, 'INVALID_INPUT', /^extensions must be/]],
  [
    'an unknown operation name',
    '{"query": "query q {merchant {id}}", "operationName": "__proto__"}',
    [200, 'INVALID_DOCUMENT', /"__proto__"/],
  ],
  [
    'an operation name that is too long',
    JSON.stringify({ query: '{merchant {id}}', operationName: 'x'.repeat(100_000) }),
    [200, 'INVALID_DOCUMENT', /There is no operation named/],
  ],
  [
    'the later of two variables',
    JSON.stringify({ query: `query ($n: Int) ${payoutsWith('first: $n')}` }).replace(
      /}$/,
      ', "variables": {"n": 1, "n": 101}}',
    ),
    [400, 'INVALID_INPUT', /variables.n must be given once/],
  ],
  [
    'the later of two texts',
    '{"query": "{merchant {id}}", "query": "{a}"}',
    [400, 'INVALID_INPUT', /query must be given once/],
  ],
]

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Makes documents of equal text distinct, so that no document cache recognizes them. */
let turn = 0

async function post(
  app: App,
  payload: string,
  { type = 'application/json', key = app.merchant.apiKey as string | null } = {},
) {
  const headers = { 'content-type': type, ...(key !== null && { 'x-api-key': key }) }
  return app.server.inject({ method: 'POST', url: '/graphql', headers, payload })
}

/**
 * The time limit for a rejection: 100 ms, or twenty times the time of a new document of maximum size. Half of
 * that was exceeded on machines with other load. The minimum of several runs excludes compilation and garbage
 * collection.
 */
async function boundMs(app: App): Promise<number> {
  const large = (i: number) =>
    JSON.stringify({ query: `{${times(60, () => 'payouts(first: 1) {nodes {id uuid}}')}}#yard ${i}` })
  const turns: number[] = []
  for (let i = 0; i < 12; i++) turns.push(await cpuMs(() => post(app, large(turn++))))
  return Math.max(100, 20 * Math.min(...turns))
}

describe.each(anyEngine)('malicious requests on %s', (engine) => {
  test('every malicious request is rejected with the expected code, in little time and with a short response', async () => {
    const app = await startApp(engine)
    const bound = await boundMs(app)
    const attacks = [
      ...documents.map(([name, query, code, says]) => ({
        name,
        body: () => JSON.stringify({ query: `${query}#${turn++}` }),
        refusal: [200, code, says] as const,
        type: undefined,
      })),
      ...variables.map(([name, query, json, code, says]) => ({
        name: `variables: ${name}`,
        body: () => `{"query": ${JSON.stringify(`${query}#${turn++}`)}, "variables": ${json}}`,
        refusal: [200, code, says] as const,
        type: undefined,
      })),
      ...bodies.map(([name, body, refusal, type]) => ({ name, body: () => body, refusal, type })),
    ]
    const slow: string[] = []
    for (const { name, body, refusal, type } of attacks) {
      const [status, code, says] = refusal
      let least = Number.POSITIVE_INFINITY
      for (let i = 0; i < 5 && least > bound; i++) {
        const payload = body()
        let answered: Awaited<ReturnType<typeof post>> | undefined
        least = Math.min(
          least,
          await cpuMs(async () => {
            answered = await post(app, payload, type ? { type } : {})
          }),
        )
        const { errors, data = null } = answered?.json() ?? {}
        const [{ message, extensions }] = errors
        expect.soft([name, answered?.statusCode, extensions.code]).toEqual([name, status, code])
        expect.soft(message, name).toMatch(says)
        if (data !== null) expect.soft(Object.values(data), name).toEqual([null])
        // Twenty-one errors, each with its location and request id.
        expect.soft(answered?.body.length, name).toBeLessThan(16_384)
      }
      if (least > bound) slow.push(`${name}: ${least} ms of ${bound} ms`)
    }
    expect(slow).toEqual([])
    expect((await app.graphql('{wallets {totalCount}}')).data).toEqual({ wallets: { totalCount: 0 } })
  })
})

describe.each(anyEngine)('the document cache on %s', (engine) => {
  test('the cost limit of a cached document is checked for each operation and the variables of each request', async () => {
    const app = await startApp(engine)
    const text =
      'query Few($n: Int) {payouts(first: $n) {nodes {id}}} query Many($n: Int) {payouts {nodes {wallet {payouts(first: $n) {nodes {id reason}}}}}}'
    const ask = async (operationName: string, n: number) => {
      const { errors = [], extensions } = (
        await post(app, JSON.stringify({ query: text, operationName, variables: { n } }))
      ).json()
      return [errors[0]?.extensions.code, extensions.cost.requested]
    }
    for (let i = 0; i < 3; i++) {
      expect(await ask('Few', 100)).toEqual([undefined, 111])
      expect(await ask('Few', 10_000)).toEqual(['QUERY_TOO_COMPLEX', 10_011])
      expect(await ask('Many', 100)).toEqual([undefined, 4_251])
      expect(await ask('Many', 300)).toEqual(['QUERY_TOO_COMPLEX', 12_251])
    }
  })

  test('the document cache stays under 12 MB, because new documents evict older ones', async () => {
    const app = await startApp(engine)
    const words = 'id uuid status balance currency description '
    const send = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const text = `{a${turn++}: payouts(first: 1) {nodes {wallet {${words.repeat(140)}}}}}`
        expect((await post(app, JSON.stringify({ query: text.padEnd(9_990, '#') }))).statusCode).toBe(200)
      }
    }
    await send(50)
    const before = heapMegabytes()
    await send(100)
    // All documents together would need three times as much.
    expect(heapMegabytes() - before).toBeLessThan(12)
  })

  test('the document cache does not store rejected documents', async () => {
    const app = await startApp(engine)
    await post(app, JSON.stringify({ query: '{a' }))
    const growths: number[] = []
    for (let round = 0; round < 3; round++) {
      const before = heapMegabytes()
      for (let i = 0; i < 80; i++) await post(app, JSON.stringify({ query: `{x${turn++}${' '.repeat(250_000)}}` }))
      growths.push(heapMegabytes() - before)
    }
    // The texts alone would take 20 MB each time; other memory of the process may grow once.
    expect(Math.min(...growths)).toBeLessThan(8)
  })
})

describe.each(anyEngine)('the limit of streams on %s', (engine) => {
  test('a merchant can open 100 streams over any transport, and a further stream after one of them has ended', async () => {
    const app = await startApp(engine)
    const url = await app.server.listen({ port: 0, host: '127.0.0.1' })
    const payoutOf = async (key: string): Promise<string> => {
      const wallet = { currency: 'USDC', description: 'Test', network: 'erc20' }
      const { body: opened } = await app.rest('POST', '/api/wallets', { key, body: wallet })
      const deposit = `mutation {simulateDeposit(input: {walletId: "${opened.data.id}", amount: "100"}) {__typename}}`
      await app.graphql(deposit, {}, { key })
      return (await app.rest('POST', '/api/payouts/banks', { key, body: payoutBody })).body.data.id
    }
    const mine = await payoutOf(app.merchant.apiKey)
    const open = async (accept: string, key = app.merchant.apiKey, payoutId = mine) => {
      const end = new AbortController()
      const query = `subscription {payoutChanged(id: "${payoutId}") {status}}`
      const answered = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'x-api-key': key, 'content-type': 'application/json', accept },
        body: JSON.stringify({ query }),
        signal: end.signal,
      })
      return { answered, end: () => end.abort() }
    }
    const forms = [
      'text/event-stream',
      'Text/Event-Stream;q=0.9',
      'text/*',
      'multipart/mixed',
      'application/json, multipart/*',
    ]
    const streams = await Promise.all(Array.from({ length: 250 }, (_, i) => open(forms[i % forms.length] ?? '')))
    const statuses = Map.groupBy(streams, ({ answered }) => answered.status)
    expect([...statuses].map(([status, { length }]) => [status, length]).sort()).toEqual([
      [200, 100],
      [429, 150],
    ])
    const [refused] = statuses.get(429) ?? []
    expect(await refused?.answered.json()).toMatchObject({
      errors: [{ message: expect.stringContaining('At most 100 streams'), extensions: { code: 'RATE_LIMITED' } }],
    })
    expect(refused?.answered.headers.get('retry-after')).toBe('5')
    const { apiKey } = await app.otherMerchant()
    const others = await open('text/event-stream', apiKey, await payoutOf(apiKey))
    expect(others.answered.status).toBe(200)
    // A request that is answered immediately is not a stream, so it succeeds although the limit is reached.
    expect(
      (await app.graphql('{merchant {name}}', {}, { headers: { accept: 'text/event-stream, application/json' } }))
        .status,
    ).toBe(200)

    statuses.get(200)?.[0]?.end()
    await expect.poll(async () => (await open('text/event-stream')).answered.status).toBe(200)
    for (const { end } of [...streams, others]) end()
  })
})

/** Heap in use after two collections: the second accounts for buffers that the first released. */
function heapMegabytes(): number {
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1_000_000
}
