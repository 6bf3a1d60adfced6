import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, inject, onTestFinished } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { connectToWriter } from '../../src/app/workers/remote-writer.ts'
import { listenForCalls } from '../../src/app/workers/writer.ts'
import type { Secrets } from '../../src/core/secrets/secrets.ts'
import { createSecrets } from '../../src/core/secrets/secrets.ts'
import type { Database } from '../../src/database/database.ts'
import type { Executor } from '../../src/graphql/execution/engine.ts'
import { auditBooks } from '../../src/modules/audit/audit.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import type { FeeSource } from '../../src/modules/pricing/fees.ts'
import { setFee } from '../../src/modules/pricing/fees.ts'
import { setRate } from '../../src/modules/pricing/rates.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import type { Instrumentation } from '../../src/observability/metrics/instrumentation.ts'
import { noInstrumentation } from '../../src/observability/metrics/instrumentation.ts'
import type { Context, Mode, Service } from '../../src/operations/context.ts'
import { createContext, createService, performLocally } from '../../src/operations/context.ts'
import type { ServerOptions } from '../../src/server/host.ts'
import { createServer } from '../../src/server/host.ts'
import { sampleCustomer } from './bodies.ts'
import { requireDeclaredErrors } from './declared-errors.ts'
import { perform } from './perform.ts'
import { newPostgresDatabase } from './postgres-database.ts'

export { bankMethodBody, payoutBody, sampleCustomer, walletMethodBody } from './bodies.ts'

/** Every engine that this machine can run; each suite runs on all of them. */
export type Engine = 'sqlite' | 'postgres'
export const everyEngine: readonly Engine[] = inject('postgresUrl') === null ? ['sqlite'] : ['sqlite', 'postgres']

/** `workers` is SQLite as WORKERS use it: the doors only read, and all that is to be written goes over a socket. */
export type Setup = Engine | 'workers'
/** For suites about what the doors answer to whoever writes. */
export const everyEngineAndWorkers: readonly Setup[] = [...everyEngine, 'workers']

/** The ways of a GraphQL request: the short one, and Yoga's for all, on which one engine is enough. */
export const everyExecutionPath: readonly (readonly [engine: Engine, hasFastPath: boolean])[] = [
  ...everyEngine.map((engine) => [engine, true] as const),
  ['sqlite', false],
]

/** What runs GraphQL operations unless a test chooses: `npm run test:reference` sets `GRAPHQL_EXECUTOR`. */
export const { executor: defaultExecutor } = readConfig({ GRAPHQL_EXECUTOR: process.env.GRAPHQL_EXECUTOR })
/** For tests that compare the two executors. */
export const everyExecutor: readonly Executor[] = ['planned', 'reference']

/** What a test may choose; the rest is the dullest that works. */
export type AppOptions = {
  readonly mode?: Mode
  readonly rateLimit?: number
  /** Origins whose pages may read answers; none unless they are named. */
  readonly corsOrigins?: readonly string[]
  /** Proxies whose `X-Forwarded-For` is believed; none unless they are given. */
  readonly trustedProxies?: ServerOptions['trustedProxies']
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** What is in force from the start. */
  readonly rates?: readonly { fromCode: string; toCode: string; rate: string }[]
  /** A database of the test's own making, in place of a new one. */
  readonly place?: Place
  /** By default that of `GRAPHQL_EXECUTOR`. */
  readonly executor?: Executor
  /** `false` where Yoga is to answer every GraphQL request. */
  readonly hasFastPath?: boolean
  /** Receives the log lines, as they are written. */
  readonly onLog?: (line: string) => void
  /** Which GraphQL documents are run. */
  readonly documents?: 'any' | 'trusted'
  /** Rails that may send something to the service. */
  readonly rails?: ServerOptions['rails']
  /** By what the service is measured. */
  readonly measuring?: Instrumentation
  /** What keeps secrets, such as `noSecrets` for a service that was given no key. */
  readonly secrets?: Secrets
}

/** What tests keep secrets with. */
export const testSecrets = createSecrets([Buffer.alloc(32, 7)])

/** A whole service on an empty database of its own, closed and removed when the test ends. */
export type App = Awaited<ReturnType<typeof startApp>>

/** Fails the test whose documents graphql-js answers where a plan could not: nothing else would tell of it. */
export function loggerOfPlanFaults() {
  const faults: string[] = []
  onTestFinished(() => expect(faults).toEqual([]))
  return createLogger('warn', {
    write: (line) => {
      if (line.includes('GraphQL plan failed')) faults.push(line)
    },
  })
}

/** The contract's methods, and others to be refused. */
export type RestMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'PATCH' | 'OPTIONS' | 'TRACE'

type RestRequest = { body?: unknown; payload?: string | Buffer; headers?: Record<string, string>; key?: string | null }

/** What an answer holds: JSON, but for a file. */
function bodyOf({
  headers: { 'content-type': type = '' },
  body,
}: {
  headers: Record<string, unknown>
  body: string
}): unknown {
  if (body === '') return null
  return /^application\/([\w-]+\+)?json/.test(String(type)) ? JSON.parse(body) : body
}

/** Starts the service with one merchant, the shipped assets, a rate for each corridor and no fees. */
export async function startApp(
  setup: Setup,
  {
    mode = 'sandbox',
    rateLimit,
    corsOrigins = [],
    trustedProxies = 0,
    clock,
    onLog,
    executor = defaultExecutor,
    hasFastPath = true,
    place,
    rates = dullRates,
    secrets = testSecrets,
    rails = [],
    documents = 'any',
    measuring = noInstrumentation,
  }: AppOptions = {},
) {
  const { url, remove, open = openAt } = place ?? (await newDatabase(setup))
  const db = await open(url)
  const service = createService({
    db: measuring.wrapDatabase(db),
    mode,
    secrets,
    perform: requireDeclaredErrors(measuring.wrapPerform(performLocally)),
    ...(clock && { clock }),
  })
  const logger = onLog ? createLogger('info', { write: onLog }) : loggerOfPlanFaults()
  const doors = setup === 'workers' ? await openDoors(service, url) : { service, close: async () => {} }
  const server = createServer({
    service: doors.service,
    logger: measuring.wrapAccessLog(logger),
    spans: measuring.requestSpans,
    rateLimit: rateLimit ?? null,
    corsOrigins,
    trustedProxies,
    executor,
    hasFastPath,
    rails,
    documents,
    ...(clock && { elapsed: clock }),
  })
  onTestFinished(async () => {
    await server.close()
    await doors.close()
    await db.close()
    await remove()
  })

  const merchant = await createMerchant(service, { name: 'Test merchant' })
  for (const rate of rates) await setRate(service, rate)
  const context = (): Context => createContext(service, merchant.id)

  return {
    url,
    db,
    service,
    server,
    merchant,
    /** A request of the merchant, for calling operations directly. */
    context,

    /** One REST call; `key` is the merchant's unless another, or `null` for none, is given. */
    async rest(method: RestMethod, path: string, request: RestRequest = {}) {
      const key = request.key === undefined ? merchant.apiKey : request.key
      const answer = await server.inject({
        method: method as 'GET',
        url: path,
        headers: { ...(key !== null && { 'x-api-key': key }), ...request.headers },
        ...(request.body !== undefined && { payload: request.body as object }),
        ...(request.payload !== undefined && { payload: request.payload }),
      })
      return {
        status: answer.statusCode,
        headers: answer.headers,
        text: answer.body,
        // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service answers.
        body: bodyOf(answer) as any,
      }
    },

    /** One GraphQL request. */
    async graphql(query: string, variables: Record<string, unknown> = {}, request: RestRequest = {}) {
      const answer = await this.rest('POST', '/graphql', { ...request, body: { query, variables } })
      const { data = null, errors = [], extensions } = answer.body
      return { ...answer, data, errors, extensions }
    },

    /** Another merchant of the same service, with its key. */
    otherMerchant: () => createMerchant(service, { name: 'Other merchant' }),

    /** A customer of the merchant; its id. */
    async customer(changes: Partial<Parameters<typeof createCustomer>[1]> = {}): Promise<string> {
      const { id } = await perform(createCustomer, context(), { ...sampleCustomer, ...changes })
      return id
    },

    /** A wallet with money in it; its id. */
    async wallet({
      assetCode = 'USDC',
      balance = '0',
      customerId,
      // Its addresses in the sandbox take no point of a curve.
      network = assetCode.startsWith('USD') ? 'solana' : null,
    }: {
      assetCode?: string
      balance?: string
      customerId?: string
      network?: string | null
    } = {}): Promise<string> {
      const { id } = await perform(createWallet, context(), {
        currency: assetCode,
        description: 'Test',
        network,
        customerId,
      })
      if (Number(balance) > 0) {
        await depositToWallet(context(), { walletId: id, amount: balance, reference: `opening ${id}` })
      }
      return id
    },

    /** Sets the fee of USDC payouts to NGN. */
    async fee(flat: string, percent = '0', deductedFrom: FeeSource = 'BALANCE'): Promise<void> {
      await setFee(service, { assetCode: 'USDC', recipientCurrency: 'NGN', flat, percent, deductedFrom })
    },

    /** Recomputes the books: no contradiction anywhere. */
    async expectBooksToBalance(): Promise<void> {
      const { findings } = await auditBooks(service)
      expect(findings.filter(({ contradictions }) => contradictions > 0)).toEqual([])
    },
  }
}

/** Where a database is, how to remove it, and how it is opened where that is not the way of the service. */
type Place = {
  readonly url: string
  readonly remove: () => Promise<void>
  readonly open?: (url: string) => Promise<Database>
}

/** A place for a database of the test's own. */
export async function newDatabase(setup: Setup): Promise<Place> {
  if (setup === 'postgres') return newPostgresDatabase()
  const template = inject('sqliteTemplate')
  const folder = await mkdtemp(join(dirname(template), 'payout-gateway-'))
  const path = join(folder, 'test.sqlite')
  await copyFile(template, path)
  return { url: `sqlite:${path}`, remove: () => rm(folder, { recursive: true }) }
}

/** A commit of unknown outcome fails the test. */
function openAt(url: string): Promise<Database> {
  return openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
}

const dullRates = ['USDC', 'USDT'].flatMap((fromCode) => [
  { fromCode, toCode: 'NGN', rate: '1500' },
  { fromCode, toCode: 'ZAR', rate: '18' },
])

/** A service that only reads and hands over what is to be written to `writing`. */
async function openDoors(writing: Service, url: string): Promise<{ service: Service; close: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  const path = join(folder, 'writer')
  const listener = await listenForCalls(writing, path)
  const db = await openDatabase({ url, isReadOnly: true, onFatal: () => {} })
  const line = connectToWriter(path, db.refresh)
  return {
    service: { ...writing, db, perform: line.perform },
    close: async () => {
      line.close()
      await new Promise((resolve) => listener.close(resolve))
      await db.close()
      await rm(folder, { recursive: true })
    },
  }
}
