import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import { changeSource } from '../changed-source.ts'
import type { DemoService } from '../demo-service.ts'
import type { GraphqlInput, Things } from '../graphql-inputs.ts'
import { hostileBytes } from '../hostile-bytes.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { exchange } from '../raw-http.ts'
import { readBeginning } from '../read-beginning.ts'
import type { Ids, RestInput } from '../rest-inputs.ts'

export const proof: Proof = {
  promise: 'no malformed input leads to a 5xx, and each validation error names a field: both APIs, both engines',
  control: 'schema validation, and field names in errors',
  seconds: { ci: 120, quick: 240, long: 3_600 },
  run,
}

const inputs: Record<Length, number> = { ci: 4_000, quick: 20_000, long: 400_000 }

/**
 * The control removes input validation from operations, and the field name from errors. A page keeps a valid limit, because with a
 * negative one the event list reads forever and the process stops responding, which shows nothing more.
 */
const unprotected = [
  {
    file: 'src/core/input.ts',
    from: 'if (!parsed.success || errors.length > 0) throw invalidInput(errors)',
    to: "if (!parsed.success) return { ...input, ...('limit' in input && { limit: 20 }) } as z.output<Schema>",
  },
  {
    file: 'src/core/errors.ts',
    from: 'fields?.map((field) => renameFieldError(field, names)) ?? null',
    to: 'fields?.slice(fields.length).map((field) => renameFieldError(field, names)) ?? null',
  },
]

type Kind = 'failure' | 'nameless'

/** Thrown for a response that breaks the promise, so that fast-check shrinks the input. */
class Broken extends Error {
  readonly kind: Kind

  constructor(kind: Kind, message: string) {
    super(message)
    this.kind = kind
  }
}

/** The outcome of all inputs: responses by status and code, and the number of wrong ones. */
type Tally = { readonly responses: Map<string, number>; readonly broken: Record<Kind, number>; smallest: string | null }

/** Inputs per API, and their seed. */
type Trial = { readonly count: number; readonly seed: number; readonly isControl: boolean; readonly tally: Tally }

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  if (isControl) changeSource(unprotected)
  // Thousands of errors are created, and their stack traces are unused.
  Error.stackTraceLimit = 0
  const { startDemo } = await import('../demo-service.ts')
  const tally: Tally = { responses: new Map(), broken: { failure: 0, nameless: 0 }, smallest: null }
  // A few inputs suffice to break an unprotected service.
  const trial = { count: inputs[length] / (isControl ? 40 : 4), seed: seed | 0, isControl, tally }
  const postgres = await startPostgresServer(nonDurableSettings)
  const urls = [`sqlite:${join(folder, 'payouts.sqlite')}`, postgres.url('postgres')]
  const demos = await Promise.all(urls.map((url) => startDemo(url)))
  try {
    await Promise.all(demos.map(registerEndpoints))
    await Promise.all(demos.flatMap((demo) => [tryRest(demo, trial), tryGraphql(demo, trial)]))
    await Promise.all(demos.map((demo) => tryBytes(demo, tally)))
  } finally {
    for (const { end } of demos) await end()
    await postgres.remove()
  }
  return outcomeOf(tally, isControl)
}

function outcomeOf({ responses, broken, smallest }: Tally, isControl: boolean): Outcome {
  const count = [...responses.values()].reduce((sum, each) => sum + each, 0)
  const share = (what: RegExp) =>
    [...responses].reduce((sum, [response, each]) => sum + (what.test(response) ? each : 0), 0).toLocaleString('en')
  const figure =
    `${count.toLocaleString('en')} inputs: ${share(/^2.. done/)} done, ${share(/INVALID_INPUT/)} rejected as invalid, ` +
    `${broken.failure} failures, ${broken.nameless} validation errors without a field${smallest === null ? '' : `; ${smallest}`}`
  // Without the protections both kinds of faults must appear: one alone would leave the other check unproven.
  const isHeld = isControl
    ? broken.failure === 0 || broken.nameless === 0
    : broken.failure + broken.nameless === 0 && smallest === null
  return { isHeld, figure }
}

async function tryRest(demo: DemoService, trial: Trial): Promise<void> {
  const { restInputs } = await import('../rest-inputs.ts')
  const { routes } = await import('../../../src/server/rest/routes.ts')
  const ids = await idsOf(demo)
  // Requests that write can fail in more ways.
  const input = fc.oneof(
    ...routes.map((route) => {
      // Another method of the same path may be another endpoint, which knows its own fields.
      const known = routes.filter(({ path }) => path === route.path).flatMap(({ names }) => Object.values(names))
      const arbitrary = restInputs(route, ids).map((given) => ({ ...given, names: [...given.names, ...known] }))
      return { weight: route.method === 'GET' ? 1 : 3, arbitrary }
    }),
  )
  await tryEach(trial, input, async (given) => {
    const { status, body } = await send(demo, given.url, given)
    const code = String(body?.error?.code ?? body?.title ?? 'done')
    count(trial.tally, `${status} ${code}`)
    requireNoFailure(status, code)
    if (code === 'INVALID_INPUT') {
      const fields = fieldsOf(body?.error?.details?.fields ?? body?.fields)
      if (isRepetition(given, body)) requireNames({ ...given, spoilt: null }, fields.map(memberAt(given)))
      else requireNames(given, fields.map(withoutPlace))
    } else if (status === 400 && given.method !== 'HEAD' && !codesOfNoField.includes(code)) {
      throw new Broken('nameless', `400 with ${code}`)
    }
  })
}

/** A 400 without an invalid field: the body is no JSON, or the request is no HTTP. */
const codesOfNoField = ['MALFORMED_JSON', 'MALFORMED_REQUEST']

/** A duplicate name in one object of a body is rejected by its path, before any other validation. */
function isRepetition({ body: sent }: Pick<Sent, 'body'>, answered: unknown): boolean {
  return sent !== undefined && JSON.stringify(answered).includes('must be given once')
}

/** The member of a body that a path begins with: names may contain dots, and long paths are truncated. */
function memberAt({ names }: RestInput): (path: string) => string {
  return (path) => {
    const prefix = path.replace(/…$/, '')
    return (
      names.find((name) => `${path}.`.startsWith(`${name}.`) || (prefix !== path && name.startsWith(prefix))) ?? path
    )
  }
}

/** The list or object that contains an invalid entry, for `types.0` or `address.line_1`. */
function withoutPlace(path: string): string {
  return path.replace(/^(address|registered_address)\..+$|\.\d+$/, '$1')
}

function requireNames({ names, spoilt }: RestInput, named: readonly string[]): void {
  if (named.length === 0) throw new Broken('nameless', 'a validation error without a field')
  const unknown = named.find((name) => !names.includes(name))
  if (unknown !== undefined) throw new Broken('nameless', `an error names ${unknown}, which is no field`)
  if (spoilt !== null && !named.includes(spoilt))
    throw new Broken('nameless', `${spoilt} is invalid, and the error does not name it`)
}

async function tryGraphql(demo: DemoService, trial: Trial): Promise<void> {
  const { graphqlInputs } = await import('../graphql-inputs.ts')
  const { schemaFor } = await import('../../../src/server/graphql/schema.ts')
  const input = graphqlInputs(schemaFor('sandbox'), await thingsOf(demo))
  await tryEach(trial, input, async (given) => {
    const { status, body } = await send(demo, '/graphql', given)
    const errors = (body?.errors ?? []) as { message: string; extensions?: { code?: string; fields?: unknown } }[]
    const codes = errors.map(({ extensions }) => extensions?.code ?? 'INTERNAL')
    const refused = refusalIn(body?.data)
    count(trial.tally, `${status} ${[...new Set(codes), ...(refused ? [refused.code] : [])].join() || 'done'}`)
    requireNoFailure(status, ...codes)
    const isRefused = codes.includes('INVALID_INPUT') && !isRepetition(given, body)
    const isNamed = errors.some(
      ({ message, extensions }) => fieldsOf(extensions?.fields).every(isKnown(given)) || saysWhich(given, message),
    )
    if (isRefused && !isNamed) throw new Broken('nameless', errors.map(({ message }) => message).join(' '))
    if (refused?.code !== 'INVALID_INPUT' || !given.asksForFields) return
    const named = fieldsOf(refused.fields)
    if (named.length === 0 || !named.every(isKnown(given))) throw new Broken('nameless', `an error names ${named}`)
  })
}

/** The typed error of a mutation at any depth, if there is one. */
function refusalIn(data: unknown): { code: string; fields?: unknown } | null {
  const [result] = Object.values((data as Record<string, unknown> | null) ?? {})
  return typeof result === 'object' && result !== null && 'code' in result ? (result as { code: string }) : null
}

/** Whether a path such as `recipient.bankAccount.accountNumber` consists of names in the schema. */
function isKnown({ names }: GraphqlInput): (path: string) => boolean {
  return (path) => path.split('.').every((part) => names.has(part) || /^\d+$/.test(part))
}

/** Whether a protocol error says where the value is: `at .input.amount`, `"amount"`, `$first`. */
function saysWhich({ names }: GraphqlInput, message: string): boolean {
  return [...message.matchAll(/["$.[](\w+)/g)].some(([, word]) => names.has(String(word)) || word === 'thing')
}

/** Tries inputs one by one; without protection it counts faults, with protection the first one ends the trial. */
async function tryEach<Input>(
  { count, seed, isControl, tally }: Trial,
  input: fc.Arbitrary<Input>,
  check: (input: Input) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(input, async (given) => {
    try {
      await check(given)
    } catch (error) {
      if (error instanceof Broken) tally.broken[error.kind]++
      if (!isControl || !(error instanceof Broken)) throw error
    }
  })
  const { failed, counterexample, errorInstance } = await fc.check(property, { seed, numRuns: count })
  if (failed) tally.smallest ??= `${String(errorInstance)} for ${JSON.stringify(counterexample).slice(0, 600)}`
}

/** Sends bytes that no HTTP library would send to the listening service. */
async function tryBytes({ server, apiKey }: DemoService, tally: Tally): Promise<void> {
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const responses = await Promise.all(hostileBytes(apiKey).map((bytes) => exchange(port, bytes, 1_000)))
  for (const response of responses) {
    const [, status = 'none'] = /^HTTP\/1\.1 (\d+)/.exec(response) ?? []
    count(tally, `${status} bytes`)
    if (status.startsWith('5')) tally.broken.failure++
  }
}

type Sent = Pick<RestInput, 'method' | 'contentType' | 'headers' | 'body'>

// biome-ignore lint/suspicious/noExplicitAny: it reads whatever the service returns.
type Answered = { readonly status: number; readonly body: any }

async function send({ server, apiKey }: DemoService, url: string, sent: Sent): Promise<Answered> {
  const answered = await server.inject({
    payloadAsStream: true,
    method: sent.method as 'GET',
    url,
    headers: { 'x-api-key': apiKey, 'content-type': sent.contentType, ...sent.headers },
    ...(sent.body !== undefined && { payload: sent.body }),
  })
  const { statusCode } = answered
  const body = await readBeginning(answered.stream())
  // An export is a file of another media type, without a typed error.
  if (statusCode === 200 && /csv|ndjson|xml/.test(String(answered.headers['content-type']))) {
    return { status: statusCode, body: null }
  }
  try {
    // The first event of a stream contains the result.
    const json = /^data: (.+)$/m.exec(body)?.[1] ?? body
    return { status: statusCode, body: json === '' ? null : JSON.parse(json) }
  } catch {
    throw new Broken('failure', `${statusCode} with a body that is no JSON: ${body.slice(0, 200)}`)
  }
}

function requireNoFailure(status: number, ...codes: readonly string[]): void {
  const code = codes.find((each) => each === 'INTERNAL' || each === 'UNAVAILABLE')
  if (status >= 500 || code) throw new Broken('failure', `answered ${status} ${code}`)
}

function fieldsOf(fields: unknown): string[] {
  return ((fields ?? []) as { field: string }[]).map(({ field }) => field)
}

function count({ responses }: Tally, response: string): void {
  responses.set(response, (responses.get(response) ?? 0) + 1)
}

/** The demo has one webhook endpoint, and some inputs delete endpoints. */
async function registerEndpoints(demo: DemoService): Promise<void> {
  const body = JSON.stringify({ url: 'https://example.com/webhooks', asymmetric: true })
  for (let each = 0; each < 3; each++) {
    await send(demo, '/api/webhooks', { method: 'POST', contentType: 'application/json', headers: {}, body })
  }
}

/** The objects of the demo merchant. */
async function thingsOf(demo: DemoService): Promise<Things> {
  const lists = ['assetCodes', 'customers', 'payoutMethods', 'wallets', 'payouts', 'webhookEndpoints']
  const selections = lists.map((list) => `${list}(first: 30) {nodes {... on Node {__typename id}}}`)
  const body = JSON.stringify({ query: `{${selections.join(' ')} merchant {__typename id}}` })
  const response = await send(demo, '/graphql', { method: 'POST', contentType: 'application/json', headers: {}, body })
  const { merchant, ...connections } = response.body.data as Found
  const nodes = [merchant, ...Object.values(connections).flatMap((connection) => connection.nodes)]
  return nodes.map(({ __typename, id }) => ({ type: __typename, uuid: atob(id).replace(/^\w+:/, '') }))
}

type Node = { readonly __typename: string; readonly id: string }
type Found = { merchant: Node } & Record<string, { nodes: Node[] }>

async function idsOf(demo: DemoService): Promise<Ids> {
  const things = await thingsOf(demo)
  const idsOfType = (type: string) => things.filter((thing) => thing.type.endsWith(type)).map(({ uuid }) => uuid)
  return {
    customer: idsOfType('Customer'),
    payout_method: idsOfType('PayoutMethod'),
    wallet: idsOfType('Wallet'),
    webhook: idsOfType('WebhookEndpoint'),
  }
}
