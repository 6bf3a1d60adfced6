import { join } from 'node:path'
import type { Database } from '../../../src/database/database.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import type { CanaryRequest } from '../canaries.ts'
import { changeSource } from '../changed-source.ts'
import type { DemoService } from '../demo-service.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'

export const proof: Proof = {
  promise:
    'no value that a caller sends is logged or returned to another merchant: both APIs, both engines, also in failures',
  control: 'omitting request inputs from the log',
  seconds: { ci: 90, quick: 90, long: 1_200 },
  run,
}

const repeats = { ci: 1, quick: 1, long: 20 }

/** Without the protection, the log line of each request includes its input. */
const talkative = {
  file: 'src/server/http/request-lifecycle.ts',
  from: '      method: request.method,',
  to: '      method: request.method, url: request.url, headers: request.headers, body: request.body,',
}

/** The result; `leaks` describe where a canary appeared. */
type Seen = { requests: number; lines: number; failures: number; readonly leaks: string[] }

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const seen: Seen = { requests: 0, lines: 0, failures: 0, leaks: [] }
  const watching = { random: randomFrom(seed), seen }
  const sqlite = `sqlite:${join(folder, 'payouts.sqlite')}`
  if (isControl) {
    changeSource([talkative])
    await watchService(sqlite, { ...watching, failures: [null] })
  } else {
    const all = Array.from({ length: repeats[length] }, () => [null, ...failures]).flat()
    await watchService(sqlite, { ...watching, failures: all })
    const postgres = await startPostgresServer(nonDurableSettings)
    // The APIs don't see which engine runs, so one of its failures suffices for a short run.
    await watchService(postgres.url('postgres'), { ...watching, failures: length === 'long' ? all : all.slice(0, 2) })
    await postgres.remove()
    if (seen.lines < seen.requests || seen.failures < seen.requests / 20)
      throw new Error('too few log lines or failures were checked')
  }
  const { requests, lines, failures: failed, leaks } = seen
  const figure =
    `${requests.toLocaleString('en')} requests, ${failed.toLocaleString('en')} of them database failures: ` +
    `${leaks.length} leaks in ${lines.toLocaleString('en')} lines of log and responses` +
    `${leaks.length > 0 ? `; ${leaks.slice(0, 2).join('; ')}` : ''}`
  return { isHeld: leaks.length === 0, figure }
}

/** `failures` are the database failures to simulate in order; `null` is a database that works. */
type Watching = {
  readonly random: () => number
  readonly seen: Seen
  readonly failures: readonly (Failure | null)[]
}

/** Sends every request with canaries, while the database works and while it fails in several ways. */
async function watchService(url: string, { random, seen, failures }: Watching): Promise<void> {
  const { canaryRequests, holds, newCanaries } = await import('../canaries.ts')
  const { startDemo } = await import('../demo-service.ts')
  const { routes } = await import('../../../src/server/rest/routes.ts')
  const { schemaFor } = await import('../../../src/server/graphql/schema.ts')
  const { createMerchant } = await import('../../../src/modules/merchants/create-merchant.ts')
  const log: string[] = []
  let canaries = newCanaries(random)
  let failure: Failure | null = null
  const demo = await startDemo(url, {
    logLevel: 'trace',
    onLog: (line) => log.push(line),
    // Never fails on the API key alone, which is looked up first: the request's own values must reach the database.
    wrap: (db) => failing(db, (row) => (failure !== null && row.includes(canaries.digits) ? failure(row) : null)),
  })
  const other = await createMerchant(demo.service, { name: 'Other' })
  const reads = readsOfAll(routes.filter(({ method, path }) => method === 'GET' && !path.includes(':')))

  for (const kind of failures) {
    canaries = newCanaries(random)
    failure = kind
    for (const request of canaryRequests(routes, schemaFor('sandbox'), canaries)) {
      const { status, text } = await send(demo, request, demo.apiKey)
      seen.requests++
      if (status < 500 && !/"(INTERNAL|UNAVAILABLE)"/.test(text)) continue
      seen.failures++
      // A client error may quote the invalid input to its sender; a server error may not.
      if (holds(text, canaries)) seen.leaks.push(`${request.url} answered ${status} with it: ${text.slice(0, 300)}`)
    }
    failure = null
    for (const request of reads) {
      const { text } = await send(demo, request, other.apiKey)
      if (holds(text, canaries)) seen.leaks.push(`${request.url} returned it to another merchant`)
    }
    const lines = log.splice(0)
    seen.lines += lines.length
    // The log includes GraphQL operation names by design, so that callers can search for them. It excludes their long
    // numbers.
    const leaking = lines.filter((line) => {
      const rest = line.replace(/"operation":"(?:query|mutation|subscription) [A-Za-z_]\w*"/, (name) =>
        name.replace(canaries.word, ''),
      )
      return holds(rest, canaries) || line.includes(demo.apiKey)
    })
    seen.leaks.push(...leaking.map((line) => `logged: ${line.slice(0, 300)}`))
  }
  await demo.end()
}

/** Creates the error of a statement from its parameters. */
type Failure = (row: string) => Error

/** How engines, drivers and JavaScript fail: some quote values in the message, others in other properties. */
const failures: readonly Failure[] = [
  (row) => Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_WRITE', row }),
  (row) => Object.assign(new Error('not now', { cause: new Error(`could not write ${row}`) }), { code: 'SQLITE_FULL' }),
  (row) => Object.assign(new Error(`invalid input syntax for type uuid: "${row}"`), { code: '22P02', where: row }),
  (row) =>
    Object.assign(new Error('duplicate key value violates unique constraint "payouts_pkey"'), {
      code: '23505',
      detail: `Key (account_number)=(${row}) already exists.`,
      parameters: [row],
    }),
  (row) => new SyntaxError(`Cannot convert ${row} to a BigInt`),
]

/** A database whose statements fail when `failureOf` returns an error for their parameters. */
function failing(db: Database, failureOf: (row: string) => Error | null): Database {
  const guarded = <Reader extends Pick<Database, 'execute'>>(reader: Reader): Reader => ({
    ...reader,
    execute: async (query: never, params: object) => {
      const error = failureOf(textOf(params))
      if (error) throw error
      return reader.execute(query, params as never)
    },
  })
  return {
    ...guarded(db),
    write: (operation) => db.write((tx) => operation(guarded(tx as never) as never)),
    snapshot: (read, options) => db.snapshot((reader) => read(guarded(reader)), options),
  }
}

function textOf(params: object): string {
  return JSON.stringify(params, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

function readsOfAll(lists: readonly { path: string }[]): CanaryRequest[] {
  const query = '{customers {nodes {email firstName: personalInfo {firstName}}} payouts {nodes {accountNumber}}}'
  const body = JSON.stringify({ query })
  const asGraphql = { method: 'POST', url: '/graphql', headers: {}, body }
  return [...lists.map(({ path }) => ({ method: 'GET', url: path, headers: {}, body: undefined })), asGraphql]
}

async function send({ server }: DemoService, { method, url, headers, body }: CanaryRequest, apiKey: string) {
  const { statusCode, body: text } = await server.inject({
    method: method as 'GET',
    url,
    headers: { ...(!headers.authorization && { 'x-api-key': apiKey }), 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { payload: body }),
  })
  return { status: statusCode, text }
}
