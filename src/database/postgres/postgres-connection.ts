import { LRUCache } from 'lru-cache'
import type { Client, FieldDef } from 'pg'
import type { QueryScope } from '../merchant-scope.ts'
import type { Query } from '../query.ts'
import type { StatementCache } from '../statement-cache.ts'
import type { PostgresStatement } from './compile-for-postgres.ts'
import { compileForPostgres } from './compile-for-postgres.ts'
import { replicate } from './failover.ts'
import type { PipelineStep, StepResult } from './pipeline.ts'
import { statementPipeline } from './pipeline.ts'
import type { RowField } from './values.ts'
import { createProjectionDecoder, createRowDecoder, encodeParameter } from './values.ts'

/** A query with the values that it is to run with. */
export type BoundQuery = { readonly query: Query; readonly params: Readonly<Record<string, unknown>> }

/** What this engine says itself, beside the queries. */
export type ControlStatement =
  | 'begin'
  | 'waitShortly'
  | 'beginSnapshot'
  | 'readAll'
  | 'replicate'
  | 'commit'
  | 'rollback'

/** Runs what is given in one round trip, in order. */
export type SendStatements = (
  items: readonly (BoundQuery | ControlStatement)[],
  options?: { readonly mayTakeLong?: boolean },
) => Promise<readonly StepResult[]>

/** One connection's statements: runs what is given in one round trip, in order. */
export type PostgresConnection = {
  readonly send: SendStatements
  /** The rows that the latest transaction may see are another's. */
  readonly resetScope: () => void
}

/** A query as it runs on every connection; what its parameters and columns are is learned from the server once. */
type DescribedStatement = PostgresStatement & {
  readonly name: string
  readonly parameterTypes: readonly number[]
  readonly toRow: PipelineStep['toRow']
}

/** What is known of each query, for all connections of a database. */
export type DescribedStatements = StatementCache<DescribedStatement>

/** Forms that a connection has the server keep prepared: each takes some of the server's memory, on each connection. */
export const maxPreparedProjections = 200

/**
 * Has the tables themselves be read, not what their indexes say of them: for whoever doubts what is stored. Each is read once, and
 * not for every row of another: the server would where it takes that other's rows for a few, as it takes all that row security
 * lets through until the table was analyzed.
 */
export const fullScanSettings = Object.entries({
  seqscan: 'on',
  indexscan: 'off',
  indexonlyscan: 'off',
  bitmapscan: 'off',
  nestloop: 'off',
})
  .map(([way, isOn]) => `set_config('enable_${way}', '${isOn}', true)`)
  .join(', ')

/** How long a transaction that writes waits for a lock at a time: others need its connection, or share the transaction and know nothing of the lock. */
const shortLockTimeoutMs = 500

const controlSql: Readonly<Record<ControlStatement, string>> = {
  begin: 'begin isolation level read committed read write',
  waitShortly: `set local lock_timeout = '${shortLockTimeoutMs}ms'`,
  beginSnapshot: 'begin isolation level repeatable read read only',
  readAll: `select set_config('statement_timeout', '0', true), ${fullScanSettings}`,
  replicate,
  commit: 'commit',
  rollback: 'rollback',
}

/**
 * Says which merchant's rows the transaction may touch, `app.merchant_id`, or everyone's; and `app.customer_id` of which customer
 * alone. Gone with the transaction.
 */
const setScopeSql = `select set_config('app.merchant_id', $1, true), set_config('app.every_merchant', $2, true),
  set_config('app.customer_id', $3, true)`

/**
 * Plans are kept, and made for tables as they were: of one with some hundred rows that nobody has analyzed the server takes an index
 * that finds all of a merchant's to be as good as the one that finds the row. So they are made anew, first soon and later seldom: a table grows, but not for ever by as much.
 */
const initialPlanLifetimeMs = 250
const maxPlanLifetimeMs = 60_000

/** No answer takes longer than the server lets a statement run; if it does, the network is gone and nobody said so. */
const responseTimeoutMs = 60_000

/** Whose rows a transaction may touch, as the settings have it. */
type ScopeSettings = { readonly merchantId: string; readonly everyMerchant: 'on' | 'off'; readonly customerId: string }

/**
 * Runs queries on a connection of pg's, each prepared once for it.
 *
 * Where rows of a merchant are touched the merchant is set first, in the same round trip, so that row-level security lets
 * through that merchant's rows alone. Whose they are is in the query's parameter `merchantId`. Each query that touches any says
 * so (see `Query.scope`), so none sees what it sees because of the one before it.
 */
export function postgresConnection(client: Client, statements: DescribedStatements): PostgresConnection {
  const prepared = new Set<string>()
  /** Prepared ones that the server has yet to be told to forget. */
  let unwanted: string[] = []
  const preparedForms = new LRUCache<string, true>({
    max: maxPreparedProjections,
    dispose: (_, name) => void unwanted.push(name),
  })
  let scoped: ScopeSettings | null = null
  let plansMs = initialPlanLifetimeMs
  let plansUntil = performance.now() + plansMs

  async function runPipeline(steps: readonly PipelineStep[], mayTakeLong = false): Promise<readonly StepResult[]> {
    const closed = unwanted
    unwanted = []
    const batch = statementPipeline(steps, closed)
    const timeout = mayTakeLong ? undefined : setTimeout(() => client.connection.stream.destroy(), responseTimeoutMs)
    client.query(batch)
    try {
      return await batch.results
    } finally {
      clearTimeout(timeout)
      // Only now: one that goes for another may have been in the same batch.
      for (const name of batch.preparedNames()) {
        if (isProjectionName(name)) preparedForms.set(name, true)
        else prepared.add(name)
      }
    }
  }

  const isPrepared = (name: string) => (isProjectionName(name) ? preparedForms.get(name) === true : prepared.has(name))

  /** A step; the first with a name that this connection does not know carries its text. */
  function stepMaker() {
    const named = new Set<string>()
    return (name: string, sql: string, values: PipelineStep['values'], toRow: PipelineStep['toRow']): PipelineStep => {
      const isKnown = isPrepared(name) || named.has(name)
      named.add(name)
      return { name, text: isKnown ? null : sql, values, toRow }
    }
  }

  /** What is known of the query of each call; the server is asked about those that no connection has run yet. */
  async function findOrDescribe(
    items: readonly (BoundQuery | ControlStatement)[],
  ): Promise<(DescribedStatement | undefined)[]> {
    const known = items.map((item) => (typeof item === 'object' ? statements.get(item.query) : undefined))
    const queries = new Set<Query>()
    for (const [i, item] of items.entries()) if (typeof item === 'object' && !known[i]) queries.add(item.query)
    if (queries.size === 0) return known
    const learned = await describeStatements([...queries])
    return items.map((item, i) => known[i] ?? (typeof item === 'object' ? learned.get(item.query) : undefined))
  }

  async function describeStatements(queries: readonly Query[]): Promise<ReadonlyMap<Query, DescribedStatement>> {
    const compiled = queries.map((query) => ({ query, name: statementName(query), ...compileForPostgres(query) }))
    const step = stepMaker()
    const answers = await runPipeline(compiled.map(({ name, sql }) => step(name, sql, null, null)))
    const learned = compiled.map(({ query, ...statement }, i) => {
      const { parameterTypes, fields } = answers[i] as StepResult
      const read = query.projection ? createProjectionDecoder : createRowDecoder
      const toRow = fields.length > 0 ? read(fields.map((field) => rowFieldOf(query, field))) : null
      return [query, { ...statement, parameterTypes, toRow }] as const
    })
    for (const [query, known] of learned) statements.set(query, known)
    return new Map(learned)
  }

  return {
    resetScope: () => {
      scoped = null
    },
    send: async (items, { mayTakeLong = false } = {}) => {
      const knownOfEach = await findOrDescribe(items)
      const step = stepMaker()
      const steps: PipelineStep[] = []
      const asked: number[] = []
      for (const [i, item] of items.entries()) {
        if (typeof item === 'string') {
          asked.push(steps.length)
          steps.push(step(item, controlSql[item], [], null))
          continue
        }
        const known = knownOfEach[i] as DescribedStatement
        const next = scopeSettingsFor(known.scope, item, scoped)
        if (next && !isSameScope(next, scoped)) {
          scoped = next
          steps.push(step('scope', setScopeSql, [next.merchantId, next.everyMerchant, next.customerId], null))
        }
        asked.push(steps.length)
        steps.push(step(known.name, known.sql, encodeParameters(known, item), known.toRow))
      }
      // At the end: before BEGIN it would be a transaction's first statement. And not behind COMMIT: what stops it would be taken
      // for what stopped that.
      if (performance.now() > plansUntil && items.at(-1) !== 'commit') {
        steps.push(step('discardPlans', 'discard plans', [], null))
        plansMs = Math.min(2 * plansMs, maxPlanLifetimeMs)
        plansUntil = performance.now() + plansMs
      }
      const answers = await runPipeline(steps, mayTakeLong)
      return asked.map((place) => answers[place] as StepResult)
    },
  }
}

function statementName({ number, projection: columns }: Query): string {
  return columns ? `${projectionPrefix}${number}` : `q${number}`
}

const projectionPrefix = 'form'

function isProjectionName(name: string): boolean {
  return name.startsWith(projectionPrefix)
}

/**
 * What must be set for a query; `null` where nothing must.
 *
 * What touches no merchant's table (`scope.ts` has seen to that) is let be after a merchant's: to set and unset it there would
 * be for nothing. After an operator's view the door is shut all the same.
 */
function scopeSettingsFor(
  scope: QueryScope,
  { params }: BoundQuery,
  scoped: ScopeSettings | null,
): ScopeSettings | null {
  if (scope === 'merchant') {
    const { merchantId, theCustomer = '' } = params as { merchantId: unknown; theCustomer?: string }
    return { merchantId: String(merchantId), everyMerchant: 'off', customerId: theCustomer }
  }
  if (scope === 'everyMerchant') return { merchantId: '', everyMerchant: 'on', customerId: '' }
  return scoped?.everyMerchant === 'on' ? { merchantId: '', everyMerchant: 'off', customerId: '' } : null
}

function isSameScope(next: ScopeSettings, scoped: ScopeSettings | null): boolean {
  return (
    next.merchantId === scoped?.merchantId &&
    next.everyMerchant === scoped.everyMerchant &&
    next.customerId === scoped.customerId
  )
}

function encodeParameters(
  { parameters, parameterTypes }: DescribedStatement,
  { params }: BoundQuery,
): (string | null)[] {
  return parameters.map((parameter, i) =>
    encodeParameter(
      parameter,
      parameterTypes[i] ?? 0,
      parameter.name === null ? parameter.value : params[parameter.name],
    ),
  )
}

/** The server does not say where a value comes from that several selects are merged into; ours merge columns only. */
function rowFieldOf({ node }: Query, { name, dataTypeID, tableID }: FieldDef): RowField {
  const isMerged = 'setOperations' in node && node.setOperations !== undefined
  return { name, dataTypeID, isColumn: isMerged || tableID !== 0 }
}
