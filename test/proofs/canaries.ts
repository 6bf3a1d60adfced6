import { randomUUID } from 'node:crypto'
import type { GraphQLInputType, GraphQLSchema } from 'graphql'
import { isEnumType, isInputObjectType, isListType, isNonNullType } from 'graphql'
import { formatApiKey, newApiKey } from '../../src/modules/merchants/api-key.ts'
import type { Route } from '../../src/rest/route.ts'
import type { FieldTarget } from './graphql-inputs.ts'
import { documentFor, fieldsWithArguments } from './graphql-inputs.ts'
import { validBodies } from './rest-inputs.ts'

/** A request with canaries: values that occur nowhere else, and so can be recognized wherever they appear. */
export type CanaryRequest = {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

/** Creates canaries: strings that contain this word, and numbers that begin with these digits. */
export type Canaries = {
  readonly word: string
  readonly digits: string
}

/** Whether a text contains a canary, in any spelling. */
export function holds(text: string, { word, digits }: Canaries): boolean {
  return text.includes(digits) || text.toLowerCase().includes(word)
}

/** Creates distinct canaries from random numbers in [0, 1). */
export function newCanaries(random: () => number): Canaries {
  const number = Math.floor(random() * 9_000_000) + 1_000_000
  return { word: `kanari${number.toString(36)}vogel`, digits: `77${number}` }
}

/**
 * Requests to every endpoint and every schema field: one all of canaries, and others with one in an unexpected place.
 */
export function canaryRequests(routes: readonly Route[], schema: GraphQLSchema, canaries: Canaries): CanaryRequest[] {
  return [
    ...routes.flatMap((route) => restRequests(route, canaries)),
    ...fieldsWithArguments(schema).flatMap((asked) => graphqlRequests(asked, canaries)),
    ...oddRequests(canaries),
  ]
}

function restRequests(route: Route, canaries: Canaries): CanaryRequest[] {
  const wires = Object.values(route.names)
  const fixed = Object.entries(validBodies[route.path] ?? {}).filter(([wire]) => fromLists.includes(wire))
  const own = wires.map((wire) => [wire, fittingValue(wire, canaries)])
  const fitting: Record<string, string> = { ...Object.fromEntries(own), ...Object.fromEntries(fixed) }
  const changed = wires.flatMap((wire) => [
    { ...fitting, [wire]: `${canaries.word} ${canaries.digits}` },
    { ...fitting, [wire]: { [canaries.word]: [canaries.digits] } },
  ])
  return [fitting, ...changed, { ...fitting, [canaries.word]: 1, accountNumber: canaries.digits }].map((fields) =>
    restRequest(route, fields, canaries),
  )
}

function restRequest({ method, path }: Route, fields: Record<string, unknown>, canaries: Canaries): CanaryRequest {
  const textOf = (value: unknown) => encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))
  const url = path.replace(/:(\w+)/g, (_, wire) => textOf(fields[wire]))
  const query = Object.entries(fields).map(([wire, value]) => `${wire}=${textOf(value)}`)
  const isQuery = method === 'GET'
  return {
    method,
    url: isQuery ? `${url}?${query.join('&')}` : url,
    headers: oddHeaders(canaries),
    body: isQuery ? undefined : JSON.stringify(fields),
  }
}

function graphqlRequests(asked: FieldTarget, canaries: Canaries): CanaryRequest[] {
  const isOfWallet = /Wallet/.test(asked.field.name)
  const fitting = (name: string) => (name === 'currency' && isOfWallet ? 'USDC' : fittingValue(name, canaries))
  const wrong = () => `${canaries.word} ${canaries.digits}`
  const wrongType = () => ({ [canaries.word]: canaries.digits })
  return [fitting, wrong, wrongType].map((value) => {
    const args = asked.field.args.map(({ name, type }) => [name, valueFor(name, type, value)])
    const variables = { ...Object.fromEntries(args), thing: randomUUID(), [canaries.word]: canaries.digits }
    return graphqlRequest({ query: documentFor(asked), variables }, canaries)
  })
}

/** A value for an argument or an input field, with `scalar` for its leaves. */
function valueFor(name: string, type: GraphQLInputType, scalar: (name: string) => unknown): unknown {
  if (isNonNullType(type)) return valueFor(name, type.ofType, scalar)
  if (isListType(type)) return [valueFor(name, type.ofType, scalar)]
  if (isEnumType(type)) return type.getValues()[0]?.name
  if (!isInputObjectType(type)) return String(type) === 'Int' ? 5 : String(type) === 'Boolean' ? true : scalar(name)
  const fields = Object.values(type.getFields())
  const given = type.isOneOf ? fields.slice(0, 1) : fields
  return Object.fromEntries(given.map((field) => [field.name, valueFor(field.name, field.type, scalar)]))
}

function graphqlRequest(body: object, canaries: Canaries): CanaryRequest {
  return { method: 'POST', url: '/graphql', headers: oddHeaders(canaries), body: JSON.stringify(body) }
}

/** A valid value for a field of this name in either API, and a canary wherever that is possible. */
function fittingValue(name: string, { word, digits }: Canaries): string | null {
  const fixed = fixedValues[name]
  if (fixed !== undefined) return fixed
  if (/email/i.test(name)) return `${word}@example.com`
  if (/phone/i.test(name)) return `+${digits}`
  if (/website/i.test(name)) return `https://${word}.example.com/${digits}`
  if (/address/i.test(name)) return `0x${digits.padEnd(40, '7')}`
  if (/number|code|iban/i.test(name)) return digits
  if (/_?id$/i.test(name)) return randomUUID()
  return `${word} ${digits}`
}

/** Fields with separate values for each endpoint. */
const fromLists = ['type', 'currency', 'network']

/** Fields that need a certain format, or else the rest is not processed. */
const fixedValues: Readonly<Record<string, string | null>> = {
  amount: '0.01',
  currency: 'NGN',
  recipient_currency: 'NGN',
  recipient_country: 'Nigeria',
  payment_purpose: 'GIFTS',
  transfer_type: 'nip',
  customer_id: null,
  customerId: null,
  walletId: null,
  birthDate: '1991-04-17',
  expectedMonthlyIncome: '1000.00',
  page: '1',
  limit: '5',
}

/** Headers that may carry a caller's secrets; the caller's request id is logged by design. */
function oddHeaders({ word, digits }: Canaries): Record<string, string> {
  return {
    'idempotency-key': `${word}-${randomUUID()}`,
    'user-agent': word,
    referer: `https://${word}/${digits}`,
    cookie: word,
  }
}

/** Requests for no field: invalid keys, unknown paths, bodies that are no JSON. */
function oddRequests(canaries: Canaries): CanaryRequest[] {
  const { word, digits } = canaries
  const key = formatApiKey({ ...newApiKey('sandbox'), secret: digits.padEnd(48, '7') })
  const json = { 'content-type': 'application/json' }
  const list = (headers: Record<string, string>) => ({ method: 'GET', url: '/api/customers', headers, body: undefined })
  const pay = (body: string, headers: Record<string, string> = json) => ({
    method: 'POST',
    url: '/api/payouts/banks',
    headers,
    body,
  })
  const documents = [
    `{customer(id: "${digits}") {id ${word}}}`,
    `{${word}: customer(id: "${digits}") {id}}`,
    `# ${word}\n{merchant {id}}`,
    `query ${word}($a: ID = "${digits}") {customer(id: $a) {id}}`,
    `mutation {createWallet(input: {currency: "${word}", description: "${digits}"}) {__typename}}`,
    `{customer(id: "${word}`,
  ]
  return [
    ...[key, key.slice(0, -3), `pgw_live_${word}`, word, digits, `${word}é`].map((each) => list({ 'x-api-key': each })),
    ...[`Bearer ${key}`, `Basic ${btoa(word)}`, `Bearer ${word}`, word].map((authorization) => list({ authorization })),
    ...[`/api/${word}`, `/${digits}`, `/api/customers/${word}/${digits}`, `/%zz${word}`].map((url) => ({
      ...list({}),
      url,
    })),
    ...[`{"account_number":"${digits}"`, word, `[${digits}]`, `"${word}"`, `{"${word}":}`].map((body) => pay(body)),
    pay(`account_number=${digits}&recipient_name=${word}`, { 'content-type': 'application/x-www-form-urlencoded' }),
    pay('{}', { 'content-type': `application/${word}` }),
    pay(JSON.stringify({ narration: word.repeat(30_000) })),
    ...documents.map((query) =>
      graphqlRequest({ query, operationName: query.includes(`query ${word}`) ? word : null }, canaries),
    ),
    graphqlRequest({ query: '{merchant {id}}', operationName: word, extensions: { [word]: digits } }, canaries),
    {
      method: 'GET',
      url: `/graphql?query=${encodeURIComponent(`{customer(id: "${word}") {id}}`)}&${word}=${digits}`,
      headers: {},
      body: undefined,
    },
  ]
}
