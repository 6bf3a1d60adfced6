import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { FastifyInstance } from 'fastify'
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

/** `workers` is SQLite with WORKERS: the API process only reads, and sends writes over a socket. */
export type Setup = Engine | 'workers'
/** For suites about the API responses to writes. */
export const everyEngineAndWorkers: readonly Setup[] = [...everyEngine, 'workers']

/** The paths of a GraphQL request: directly, and through Yoga on one engine. */
export const everyExecutionPath: readonly (readonly [engine: Engine, hasFastPath: boolean])[] = [
  ...everyEngine.map((engine) => [engine, true] as const),
  ['sqlite', false],
]

/** The default GraphQL executor: `npm run test:reference` sets `GRAPHQL_EXECUTOR`. */
export const { executor: defaultExecutor } = readConfig({ GRAPHQL_EXECUTOR: process.env.GRAPHQL_EXECUTOR })
/** For tests that compare the two executors. */
export const everyExecutor: readonly Executor[] = ['planned', 'reference']

/** The options of a test; the rest has minimal defaults. */
export type AppOptions = {
  readonly mode?: Mode
  readonly rateLimit?: number
  /** The allowed CORS origins; none by default. */
  readonly corsOrigins?: readonly string[]
  /** The proxies whose `X-Forwarded-For` is trusted; none by default. */
  readonly trustedProxies?: ServerOptions['trustedProxies']
  /** Milliseconds since 1970. */
  readonly clock?: () => number
  /** The initial rates. */
  readonly rates?: readonly { fromCode: string; toCode: string; rate: string }[]
  /** An existing database to use instead of a new one. */
  readonly place?: Place
  /** By default that of `GRAPHQL_EXECUTOR`. */
  readonly executor?: Executor
  /** `false` routes every GraphQL request through Yoga. */
  readonly hasFastPath?: boolean
  /** Receives the log lines, as they are written. */
  readonly onLog?: (line: string) => void
  /** The accepted GraphQL documents. */
  readonly documents?: 'any' | 'trusted'
  /** The rails that may send reports to the service. */
  readonly rails?: ServerOptions['rails']
  /** The metrics of the service. */
  readonly measuring?: Instrumentation
  /** The encryption of secrets, such as `noSecrets` for a service without a key. */
  readonly secrets?: Secrets
}

/** The encryption of secrets in tests. */
export const testSecrets = createSecrets([Buffer.alloc(32, 7)])

/** A complete service on its own empty database, closed and removed when the test ends. */
export type App = Awaited<ReturnType<typeof startApp>>

/** Fails the test if graphql-js executes a document whose plan failed, which is otherwise invisible. */
export function loggerOfPlanFaults() {
  const faults: string[] = []
  onTestFinished(() => expect(faults).toEqual([]))
  return createLogger('warn', {
    write: (line) => {
      if (line.includes('GraphQL plan failed')) faults.push(line)
    },
  })
}

/** The HTTP methods of the contract, and others that are rejected. */
export type RestMethod = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'PATCH' | 'OPTIONS' | 'TRACE'

type RestRequest = { body?: unknown; payload?: string | Buffer; headers?: Record<string, string>; key?: string | null }

/** Returns the body of a response: JSON, or the text of a file. */
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
  // The registration of all routes takes most of the CPU time of a start, and many tests send no request.
  let server: FastifyInstance | undefined
  const serverOnce = () => {
    server ??= createServer({
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
    return server
  }
  onTestFinished(async () => {
    await server?.close()
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
    get server(): FastifyInstance {
      return serverOnce()
    },
    merchant,
    /** Creates a context of the merchant, for direct calls of operations. */
    context,

    /** Sends one REST request; `key` defaults to the merchant's, and `null` sends none. */
    async rest(method: RestMethod, path: string, request: RestRequest = {}) {
      const key = request.key === undefined ? merchant.apiKey : request.key
      const response = await serverOnce().inject({
        method: method as 'GET',
        url: path,
        headers: { ...(key !== null && { 'x-api-key': key }), ...request.headers },
        ...(request.body !== undefined && { payload: request.body as object }),
        ...(request.payload !== undefined && { payload: request.payload }),
      })
      return {
        status: response.statusCode,
        headers: response.headers,
        text: response.body,
        // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
        body: bodyOf(response) as any,
      }
    },

    /** Sends one GraphQL request. */
    async graphql(query: string, variables: Record<string, unknown> = {}, request: RestRequest = {}) {
      const response = await this.rest('POST', '/graphql', { ...request, body: { query, variables } })
      const { data = null, errors = [], extensions } = response.body
      return { ...response, data, errors, extensions }
    },

    /** Creates another merchant with a key. */
    otherMerchant: () => createMerchant(service, { name: 'Other merchant' }),

    /** Creates a customer of the merchant and returns its id. */
    async customer(changes: Partial<Parameters<typeof createCustomer>[1]> = {}): Promise<string> {
      const { id } = await perform(createCustomer, context(), { ...sampleCustomer, ...changes })
      return id
    },

    /** Creates a funded wallet and returns its id. */
    async wallet({
      assetCode = 'USDC',
      balance = '0',
      customerId,
      // Sandbox addresses need no elliptic curve computation.
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

    /** Asserts that the recomputed books agree. */
    async expectBooksToBalance(): Promise<void> {
      const { findings } = await auditBooks(service)
      expect(findings.filter(({ contradictions }) => contradictions > 0)).toEqual([])
    },
  }
}

/** The location of a database, its removal, and how to open it if not as the service does. */
type Place = {
  readonly url: string
  readonly remove: () => Promise<void>
  readonly open?: (url: string) => Promise<Database>
}

/** Creates a location for the test's database. */
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

/** Creates a service that only reads and sends its writes to `writing`. */
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
