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
  /** The settings of row-level security end with a transaction, so the next statement must set them again. */
  readonly resetScope: () => void
}

type DescribedStatement = PostgresStatement & {
  readonly name: string
  readonly parameterTypes: readonly number[]
  readonly toRow: PipelineStep['toRow']
}

export type DescribedStatements = StatementCache<DescribedStatement>

/** `maxPreparedProjections` is a limit per connection, because each prepared statement uses memory of the server. */
export const maxPreparedProjections = 200

/**
 * The audit uses no indexes, because an index may be damaged. Nested loops are off, because without an index a nested
 * loop scans a table for each row of another table.
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

/** The lock timeout is short, because a waiting statement blocks the writes of other merchants. */
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
 * Generic plans are discarded at growing intervals. The planner can choose a wrong index while a table is small and not
 * analyzed. A plan with a wrong index becomes slow when the table grows.
 */
const initialPlanLifetimeMs = 250
const maxPlanLifetimeMs = 60_000

/**
 * The response timeout is longer than the server's statement timeout. If the server does not respond within
 * `responseTimeoutMs`, the network has failed silently.
 */
const responseTimeoutMs = 60_000

type ScopeSettings = { readonly merchantId: string; readonly everyMerchant: 'on' | 'off'; readonly customerId: string }

/**
 * Prepares each query once. If a query needs other settings of row-level security than the previous query, the settings
 * are sent in the same round trip. `Query.scope` and the parameter `merchantId` determine the settings.
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
      // Adding the name of a prepared statement can evict a statement that the pipeline still uses. Names are therefore
      // added after the pipeline has ended.
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
      // DISCARD PLANS before BEGIN would open an implicit transaction, so DISCARD PLANS is the last step. DISCARD PLANS
      // is not sent after COMMIT, because a failure would look like a failed COMMIT.
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
 * A query that reads no table of merchants (checked by `merchant-scope.ts`) keeps the current merchant, which saves a
 * statement. Access to all merchants is never kept for the next query.
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

/** For columns of a UNION, the server reports no table. All columns of the UNIONs in this program are table columns. */
function rowFieldOf({ node }: Query, { name, dataTypeID, tableID }: FieldDef): RowField {
  const isCompound = 'setOperations' in node && node.setOperations !== undefined
  return { name, dataTypeID, isColumn: isCompound || tableID !== 0 }
}
