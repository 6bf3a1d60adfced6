import { LRUCache } from 'lru-cache'
import type { Client, FieldDef } from 'pg'
import type { QueryScope } from '../merchant-scope.ts'
import type { Query } from '../query.ts'
import type { StatementCache } from '../query-caches.ts'
import type { PostgresStatement } from './compile-for-postgres.ts'
import { compileForPostgres } from './compile-for-postgres.ts'
import { replicate } from './failover.ts'
import type { PipelineStep, StepResult } from './pipeline.ts'
import { statementPipeline } from './pipeline.ts'
import type { RowField } from './values.ts'
import { createProjectionDecoder, createRowDecoder, encodeParameter } from './values.ts'

export type BoundQuery = { readonly query: Query; readonly params: Readonly<Record<string, unknown>> }

export type ControlStatement =
  | 'begin'
  | 'lockTimeout'
  | 'beginSnapshot'
  | 'fullScan'
  | 'replicate'
  | 'commit'
  | 'rollback'

export type SendStatements = (
  items: readonly (BoundQuery | ControlStatement)[],
  options?: { readonly mayTakeLong?: boolean },
) => Promise<readonly StepResult[]>

export type PostgresConnection = {
  readonly send: SendStatements
  /** Forgets the settings of row-level security, which ended with the previous transaction. */
  readonly resetScope: () => void
}

type DescribedStatement = PostgresStatement & {
  readonly name: string
  readonly parameterTypes: readonly number[]
  readonly toRow: PipelineStep['toRow']
}

export type DescribedStatements = StatementCache<DescribedStatement>

/** Each prepared statement uses memory of the server, so the limit applies to each connection. */
export const maxPreparedProjections = 200

/**
 * The audit uses no indexes, because an index may be damaged. Nested loops are off, because they would scan a table for
 * each row: until a table is analyzed, the server underestimates how many rows pass row-level security.
 */
export const fullScanSettings = Object.entries({
  seqscan: 'on',
  indexscan: 'off',
  indexonlyscan: 'off',
  bitmapscan: 'off',
  nestloop: 'off',
})
  .map(([method, value]) => `set_config('enable_${method}', '${value}', true)`)
  .join(', ')

/**
 * The lock timeout is short, because other merchants need the connection of a waiting transaction, or share its batch.
 */
const writeLockTimeoutMs = 500

const controlSql: Readonly<Record<ControlStatement, string>> = {
  begin: 'begin isolation level read committed read write',
  lockTimeout: `set local lock_timeout = '${writeLockTimeoutMs}ms'`,
  beginSnapshot: 'begin isolation level repeatable read read only',
  fullScan: `select set_config('statement_timeout', '0', true), ${fullScanSettings}`,
  replicate,
  commit: 'commit',
  rollback: 'rollback',
}

const setScopeSql = `select set_config('app.merchant_id', $1, true), set_config('app.every_merchant', $2, true),
  set_config('app.customer_id', $3, true)`

/**
 * Generic plans are discarded at growing intervals. While a table is small and not analyzed, the planner may prefer an
 * index on the merchant to the index that finds the row. A plan with that index is slow once the table has grown.
 */
const initialPlanLifetimeMs = 250
const maxPlanLifetimeMs = 60_000

/**
 * The server's statement timeout is shorter than this response timeout. If there is no response after this time, the
 * network has failed silently.
 */
const responseTimeoutMs = 60_000

type ScopeSettings = { readonly merchantId: string; readonly everyMerchant: 'on' | 'off'; readonly customerId: string }

/**
 * Prepares each query once. Before a query on merchants' tables, in the same round trip, sets the merchant for
 * row-level security from the query's parameter `merchantId`. `Query.scope` determines the settings, so no query
 * depends on the settings of an earlier query.
 */
export function postgresConnection(client: Client, statements: DescribedStatements): PostgresConnection {
  const prepared = new Set<string>()
  let evicted: string[] = []
  const preparedProjections = new LRUCache<string, true>({
    max: maxPreparedProjections,
    dispose: (_, name) => void evicted.push(name),
  })
  let scope: ScopeSettings | null = null
  let planLifetimeMs = initialPlanLifetimeMs
  let plansExpireAt = performance.now() + planLifetimeMs

  async function runPipeline(steps: readonly PipelineStep[], mayTakeLong = false): Promise<readonly StepResult[]> {
    const closed = evicted
    evicted = []
    const pipeline = statementPipeline(steps, closed)
    const timeout = mayTakeLong ? undefined : setTimeout(() => client.connection.stream.destroy(), responseTimeoutMs)
    client.query(pipeline)
    try {
      return await pipeline.results
    } finally {
      clearTimeout(timeout)
      // Names of prepared statements are added after the pipeline has ended, because adding a name may evict a
      // statement of the pipeline.
      for (const name of pipeline.preparedNames()) {
        if (isProjectionName(name)) preparedProjections.set(name, true)
        else prepared.add(name)
      }
    }
  }

  const isPrepared = (name: string) =>
    isProjectionName(name) ? preparedProjections.get(name) === true : prepared.has(name)

  function stepFactory() {
    const parsed = new Set<string>()
    return (name: string, sql: string, values: PipelineStep['values'], toRow: PipelineStep['toRow']): PipelineStep => {
      const text = isPrepared(name) || parsed.has(name) ? null : sql
      parsed.add(name)
      return { name, text, values, toRow }
    }
  }

  async function findOrDescribe(
    items: readonly (BoundQuery | ControlStatement)[],
  ): Promise<(DescribedStatement | undefined)[]> {
    const cached = items.map((item) => (typeof item === 'object' ? statements.get(item.query) : undefined))
    const queries = new Set<Query>()
    for (const [i, item] of items.entries()) if (typeof item === 'object' && !cached[i]) queries.add(item.query)
    if (queries.size === 0) return cached
    const described = await describeStatements([...queries])
    return items.map((item, i) => cached[i] ?? (typeof item === 'object' ? described.get(item.query) : undefined))
  }

  async function describeStatements(queries: readonly Query[]): Promise<ReadonlyMap<Query, DescribedStatement>> {
    const compiled = queries.map((query) => ({ query, name: statementName(query), ...compileForPostgres(query) }))
    const step = stepFactory()
    const results = await runPipeline(compiled.map(({ name, sql }) => step(name, sql, null, null)))
    const described = compiled.map(({ query, ...statement }, i) => {
      const { parameterTypes, fields } = results[i] as StepResult
      const createDecoder = query.projection ? createProjectionDecoder : createRowDecoder
      const toRow = fields.length > 0 ? createDecoder(fields.map((field) => rowFieldOf(query, field))) : null
      return [query, { ...statement, parameterTypes, toRow }] as const
    })
    for (const [query, statement] of described) statements.set(query, statement)
    return new Map(described)
  }

  return {
    resetScope: () => {
      scope = null
    },
    send: async (items, { mayTakeLong = false } = {}) => {
      const described = await findOrDescribe(items)
      const step = stepFactory()
      const steps: PipelineStep[] = []
      const itemSteps: number[] = []
      for (const [i, item] of items.entries()) {
        if (typeof item === 'string') {
          itemSteps.push(steps.length)
          steps.push(step(item, controlSql[item], [], null))
          continue
        }
        const statement = described[i] as DescribedStatement
        const next = scopeSettingsFor(statement.scope, item, scope)
        if (next && !isSameScope(next, scope)) {
          scope = next
          steps.push(step('scope', setScopeSql, [next.merchantId, next.everyMerchant, next.customerId], null))
        }
        itemSteps.push(steps.length)
        steps.push(step(statement.name, statement.sql, encodeParameters(statement, item), statement.toRow))
      }
      // DISCARD PLANS is last, because before BEGIN it would open an implicit transaction. DISCARD PLANS is not sent
      // after COMMIT, because its failure would look like a failed COMMIT.
      if (performance.now() > plansExpireAt && items.at(-1) !== 'commit') {
        steps.push(step('discardPlans', 'discard plans', [], null))
        planLifetimeMs = Math.min(2 * planLifetimeMs, maxPlanLifetimeMs)
        plansExpireAt = performance.now() + planLifetimeMs
      }
      const results = await runPipeline(steps, mayTakeLong)
      return itemSteps.map((index) => results[index] as StepResult)
    },
  }
}

function statementName({ number, projection }: Query): string {
  return projection ? `${projectionPrefix}${number}` : `q${number}`
}

const projectionPrefix = 'form'

function isProjectionName(name: string): boolean {
  return name.startsWith(projectionPrefix)
}

/**
 * Returns `null` if the settings need no change.
 *
 * A query without merchants' tables (`merchant-scope.ts` verifies this) keeps the previous query's merchant, to save
 * statements. If the previous query was across merchants, its access to all merchants is revoked.
 */
function scopeSettingsFor(
  scope: QueryScope,
  { params }: BoundQuery,
  current: ScopeSettings | null,
): ScopeSettings | null {
  if (scope === 'merchant') {
    const { merchantId, theCustomer = '' } = params as { merchantId: unknown; theCustomer?: string }
    return { merchantId: String(merchantId), everyMerchant: 'off', customerId: theCustomer }
  }
  if (scope === 'everyMerchant') return { merchantId: '', everyMerchant: 'on', customerId: '' }
  return current?.everyMerchant === 'on' ? { merchantId: '', everyMerchant: 'off', customerId: '' } : null
}

function isSameScope(next: ScopeSettings, current: ScopeSettings | null): boolean {
  return (
    next.merchantId === current?.merchantId &&
    next.everyMerchant === current.everyMerchant &&
    next.customerId === current.customerId
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

/** The server reports no table for the columns of a UNION. Our UNIONs combine only table columns. */
function rowFieldOf({ node }: Query, { name, dataTypeID, tableID }: FieldDef): RowField {
  const isCompound = 'setOperations' in node && node.setOperations !== undefined
  return { name, dataTypeID, isColumn: isCompound || tableID !== 0 }
}
