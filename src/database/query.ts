import type { Compilable, Expression, RawBuilder, RootOperationNode, SelectQueryBuilder } from 'kysely'
import { CamelCasePlugin, ExpressionWrapper, Kysely, SqliteDialect, sql, ValueNode } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { QueryScope } from './merchant-scope.ts'
import { inferQueryScope } from './merchant-scope.ts'
import type { ProjectedRow, Projection } from './projection.ts'
import { projectNode } from './projection.ts'
import type { Placeholder } from './query-nodes.ts'
import { noIndexMarker, placeholder } from './query-nodes.ts'
import type { NewRowOf, TableName, Tables } from './tables.ts'
import { snakeCase, tables } from './tables.ts'

/** Parameters are placeholders. Each engine prepares a query once, and binds the values for each run. */
export type Query = {
  /** Identifies the prepared statement. Queries with and without a projection can have equal numbers. */
  readonly number: number
  readonly node: RootOperationNode
  /** On PostgreSQL, row-level security enforces the scope of the query. */
  readonly scope: QueryScope
  /**
   * With a projection, a row is an array of the selected values. Without a projection (`null`), all columns are
   * selected.
   */
  readonly projection: Projection | null
  readonly isShared: boolean
  readonly isAcrossCustomers: boolean
}

export type Reader = {
  readonly execute: <Result>(query: Query, params: object) => MaybePromise<Result[]>
  readonly customerId?: string
}

declare const txBrand: unique symbol

/** Only `Database.write` creates a `Tx`. */
export type Tx = Reader & { readonly deferred: DeferredValues; readonly [txBrand]: true }

/**
 * A deferred value is changed by many operations of a batch, for example the latest number of a list. Within a batch, a
 * deferred value is read once, kept in memory, and stored once before COMMIT. A failed operation leaves the deferred
 * values unchanged.
 */
export type DeferredValues = {
  /** Reads and locks a deferred value, before the operation knows whether it will change the value. */
  readonly lock: <Value>(name: string, read: DeferredUpdate<Value>['read']) => void
  readonly update: <Value>(name: string, how: DeferredUpdate<Value>) => MaybePromise<Value>
}

export type DeferredUpdate<Value> = {
  /** `read` is called when the value is first changed in a batch. */
  readonly read: () => MaybePromise<Value>
  readonly next: (value: Value) => Value
  readonly store: (tx: Tx, value: Value) => MaybePromise<unknown>
}

export type RowsQuery<Table extends TableName> = SelectQueryBuilder<Tables, Table, object>

export type Params<Values extends object> = Values

// Kysely only builds query trees here, because each engine compiles queries itself.
const queryBuilder = new Kysely<Tables>({
  dialect: new SqliteDialect({ database: failToConnect }),
  plugins: [new CamelCasePlugin()],
})

export async function failToConnect(): Promise<never> {
  throw new Error('this dialect only builds queries: an engine runs them')
}

export const selectFrom = queryBuilder.selectFrom.bind(queryBuilder)
export const insertInto = queryBuilder.insertInto.bind(queryBuilder)
export const updateTable = queryBuilder.updateTable.bind(queryBuilder)
export const deleteFrom = queryBuilder.deleteFrom.bind(queryBuilder)
export const withCte = queryBuilder.with.bind(queryBuilder)

type ProjectableQuery<P, Result> = {
  (db: Reader, params: P, columns: Projection): MaybePromise<ProjectedRow[]>
  (db: Reader, params: P): MaybePromise<Result[]>
}

export function query<P extends object, Result>(build: (params: P) => Compilable<Result>): ProjectableQuery<P, Result> {
  const built = buildQuery(build(placeholders<P>()))
  return (db: Reader, params: P, columns?: Projection) =>
    db.execute<never>(columns ? projectQuery(built, columns) : built, params)
}

export function queryOne<P extends object, Result>(
  build: (params: P) => Compilable<Result>,
): (db: Reader, params: P) => MaybePromise<Result | null> {
  const built = buildQuery(build(placeholders<P>()))
  return (db, params) => mapMaybe(db.execute<Result>(built, params), firstRow)
}

function firstRow<Row>(rows: readonly Row[]): Row | null {
  return rows[0] ?? null
}

/**
 * Builds a query for data that all merchants share and operators rarely change, such as rates. In transactions, results
 * are cached: on SQLite until the data may have changed, on PostgreSQL until the transaction ends. Callers must not
 * mutate the rows.
 */
export function sharedQuery<P extends object, Result>(
  build: (params: P) => Compilable<Result>,
): (db: Reader, params: P) => MaybePromise<readonly Result[]> {
  const built = { ...buildQuery(build(placeholders<P>())), isShared: true }
  if (built.scope !== 'shared') throw new Error('a shared query must not read a table of merchants')
  return (db, params) => db.execute<Result>(built, params)
}

/** Builds a separate statement for each combination of filters. */
export function queryWithFilters<const Filter extends string, P extends { [Name in Filter]: unknown }, Result>(
  filters: readonly Filter[],
  build: (params: P, has: (filter: Filter) => boolean) => Compilable<Result>,
): ProjectableQuery<Omit<P, Filter> & { [Name in Filter]?: P[Name] | undefined }, Result> {
  // Fails at startup if the query is not restricted to a merchant. Each combination of filters is built when it is
  // first used.
  nodeAndScope(build(placeholders<P>(), () => false))
  const variants: Query[] = []
  return (db: Reader, params: object, columns?: Projection) => {
    let variant = 0
    for (const [bit, filter] of filters.entries())
      if ((params as Record<string, unknown>)[filter] !== undefined) variant |= 1 << bit
    const has = (filter: Filter) => (variant & (1 << filters.indexOf(filter))) !== 0
    const built = variants[variant] ?? buildQuery(build(placeholders<P>(), has))
    variants[variant] = built
    return db.execute<never>(columns ? projectQuery(built, columns) : built, params)
  }
}

export function statement<P extends object, Result>(
  build: (params: P) => Compilable<Result>,
): (tx: Tx, params: P) => MaybePromise<Result[]> {
  return query(build)
}

export function statementOne<P extends object, Result>(
  build: (params: P) => Compilable<Result>,
): (tx: Tx, params: P) => MaybePromise<Result | null> {
  return queryOne(build)
}

export function insertRow<Table extends TableName>(
  table: Table,
): (tx: Tx, row: NewRowOf<Table>) => MaybePromise<unknown> {
  const columns = Object.entries(tables[table]).filter(([, column]) => !column.isGenerated)
  const values = Object.fromEntries(columns.map(([name]) => [name, placeholder(name)]))
  const built = buildQuery(insertInto(table).values(values as never))
  return (tx, row) => tx.execute(built, row)
}

/**
 * Marks a query that reads rows of all merchants, for operators. Any other query of a merchants' table must be
 * restricted to the parameter `merchantId` (`merchant-scope.ts`).
 */
export function acrossMerchants<Result>(built: Compilable<Result>): Compilable<Result> {
  queriesAcrossMerchants.add(built)
  return built
}

/**
 * Marks a query that reads rows of all customers of a merchant, even in customer scope. The result must reveal no more
 * than that a value exists or that an event has happened.
 */
export function acrossCustomers<Result>(built: Compilable<Result>): Compilable<Result> {
  queriesAcrossCustomers.add(built)
  return built
}

const queriesAcrossCustomers = new WeakSet<Compilable<unknown>>()

const queriesAcrossMerchants = new WeakSet<Compilable<unknown>>()

/** Finds the merchant of a row by the row's id, for operators. */
export function merchantIdQuery(table: 'customers' | 'payouts' | 'wallets' | 'webhookEndpoints') {
  // Kysely's types accept one table name, not a union.
  const one = table as 'customers'
  return queryOne((p: Params<{ id: string }>) =>
    acrossMerchants(
      selectFrom('merchants')
        .crossJoin(one)
        .whereRef(`${one}.merchantId`, '=', 'merchants.id')
        .where(`${one}.id`, '=', p.id)
        .select('merchants.id'),
    ),
  )
}

export function pickParams<P extends object, const Name extends keyof P>(
  params: P,
  names: readonly Name[],
): Pick<P, Name> {
  return Object.fromEntries(names.map((name) => [name, params[name]])) as Pick<P, Name>
}

export function listParam<Item>(values: readonly Item[]): Expression<Item> {
  const { placeholder } = values as unknown as Placeholder
  return new ExpressionWrapper(ValueNode.create({ placeholder, isList: true } satisfies Placeholder))
}

/** The audit reads tables without indexes, because an index may be damaged. */
export function scanTable(table: TableName): RawBuilder<unknown> {
  return sql`${sql.table(snakeCase(table))} ${new ExpressionWrapper(ValueNode.create(noIndexMarker))}`
}

let queryCount = 0

function buildQuery(built: Compilable<unknown>): Query {
  return {
    number: queryCount++,
    ...nodeAndScope(built),
    projection: null,
    isShared: false,
    isAcrossCustomers: queriesAcrossCustomers.has(built),
  }
}

/** The new query must select the same columns, and must have at least the same parameters. */
export function rewriteQuery(query: Query, node: RootOperationNode): Query {
  return { ...query, number: query.projection ? projectedQueryCount++ : queryCount++, node }
}

const projectedQueries = new LRUCache<string, Query, () => Query>({
  max: 1_000,
  memoMethod: (_key, _stale, { context: create }) => create(),
})

/** Looking up a query in a small cache per projection is faster than computing a key for `projectedQueries`. */
const maxQueriesPerProjection = 4

let projectedQueryCount = 0

function projectQuery(query: Query, columns: Projection): Query {
  const recent = columns.projectedQueries.get(query) as Query | undefined
  if (recent) return recent
  const key = `${query.number} ${columns.key}`
  const projected = projectedQueries.memo(key, {
    context: () => ({
      ...query,
      number: projectedQueryCount++,
      node: projectNode(columns, query.node),
      projection: columns,
    }),
  })
  if (columns.projectedQueries.size === maxQueriesPerProjection) columns.projectedQueries.clear()
  columns.projectedQueries.set(query, projected)
  return projected
}

function nodeAndScope(built: Compilable<unknown>): Pick<Query, 'node' | 'scope'> {
  const node = (built as unknown as { toOperationNode(): RootOperationNode }).toOperationNode()
  return { node, scope: inferQueryScope(node, { isAcrossMerchants: queriesAcrossMerchants.has(built) }) }
}

export function returnsRows({ node }: Query): boolean {
  return 'returning' in node && node.returning !== undefined
}

export function isRead({ node }: Query): boolean {
  return node.kind === 'SelectQueryNode'
}

export function placeholders<P extends object>(): P {
  return new Proxy({} as P, { get: (_, name) => placeholder(String(name)) })
}
