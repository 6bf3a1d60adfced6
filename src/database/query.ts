import type { Compilable, Expression, RawBuilder, RootOperationNode, SelectQueryBuilder, TableNode } from 'kysely'
import { CamelCasePlugin, Kysely, SqliteDialect, sql, ValueNode } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { QueryScope } from './merchant-scope.ts'
import { inferQueryScope } from './merchant-scope.ts'
import type { Placeholder } from './placeholder.ts'
import { placeholder } from './placeholder.ts'
import type { ProjectedRow, Projection } from './projection.ts'
import { projectNode } from './projection.ts'
import type { NewRowOf, TableName, Tables } from './tables.ts'
import { camelCase, snakeCase, tables } from './tables.ts'

/**
 * Queries are written with Kysely, once for every engine, and built once: the value of a parameter is not in the query
 * but bound when it runs. What remains of a query at run time is a statement that the engine has already prepared,
 * which costs a third of building and preparing it for each request.
 */
export type Query = {
  /** Its place in an engine's array of prepared statements; forms, of which there may be any number, have numbers of their own. */
  readonly number: number
  readonly node: RootOperationNode
  /** Whose rows it touches; every engine that keeps merchants apart goes by it. */
  readonly scope: QueryScope
  /** Where it is a form of another, the columns that were chosen: its rows are their values. */
  readonly projection: Projection | null
  /** Whether transactions ask for it once, as `sharedQuery` says. */
  readonly isShared: boolean
  /** Whether it finds rows of any customer for who acts as one; see `acrossCustomers`. */
  readonly isAcrossCustomers: boolean
}

/** What answers queries. Rows are fresh objects with camelCase names. */
export type Reader = {
  readonly execute: <Result>(query: Query, params: object) => MaybePromise<Result[]>
  /** Whose rows alone there are for it; see `one-customer.ts`. */
  readonly customerId?: string
}

declare const txBrand: unique symbol

/** A transaction that may write; only `Database.write` hands one out. */
export type Tx = Reader & { readonly deferred: DeferredValues; readonly [txBrand]: true }

/**
 * What the operations of one transaction change one after another, such as the latest number of a list: read once, kept in
 * memory, and written once, before COMMIT, however many have changed it. It counts as written by each: one that fails leaves
 * nothing.
 */
export type DeferredValues = {
  /** Reads the value of `name` now, so that it stays what it is for all others before it is known what becomes of it. */
  readonly lock: <Value>(name: string, read: DeferredUpdate<Value>['read']) => void
  /** Changes the value of `name`; answers what it is now. */
  readonly update: <Value>(name: string, how: DeferredUpdate<Value>) => MaybePromise<Value>
}

export type DeferredUpdate<Value> = {
  /** Reads it for the first to change it, so that it stays what it is for all others until the transaction ends. */
  readonly read: () => MaybePromise<Value>
  readonly next: (value: Value) => Value
  readonly store: (tx: Tx, value: Value) => MaybePromise<unknown>
}

/** A query for rows of some tables, of which nothing is selected yet. */
export type RowsQuery<Table extends TableName> = SelectQueryBuilder<Tables, Table, object>

/** The parameters of a query: inside `build` each is a placeholder that stands where its value will be bound. */
export type Params<Values extends object> = Values

// The dialect here only builds trees; each engine compiles them with its own compiler.
const queryBuilder = new Kysely<Tables>({
  dialect: new SqliteDialect({ database: failToConnect }),
  plugins: [new CamelCasePlugin()],
})

/** Stands for the database of a dialect that only builds or compiles. */
export async function failToConnect(): Promise<never> {
  throw new Error('queries run by the connections of an engine')
}

export const selectFrom = queryBuilder.selectFrom.bind(queryBuilder)
export const insertInto = queryBuilder.insertInto.bind(queryBuilder)
export const updateTable = queryBuilder.updateTable.bind(queryBuilder)
export const deleteFrom = queryBuilder.deleteFrom.bind(queryBuilder)
export const withCte = queryBuilder.with.bind(queryBuilder)

/** What asks for rows: as the values of the columns that a caller chooses, or whole. */
type ProjectableQuery<P, Result> = {
  (db: Reader, params: P, columns: Projection): MaybePromise<ProjectedRow[]>
  // The last is what TypeScript infers from.
  (db: Reader, params: P): MaybePromise<Result[]>
}

/** A query for any number of rows. */
export function query<P extends object, Result>(build: (params: P) => Compilable<Result>): ProjectableQuery<P, Result> {
  const built = buildQuery(build(placeholders<P>()))
  return (db: Reader, params: P, columns?: Projection) =>
    db.execute<never>(columns ? projectQuery(built, columns) : built, params)
}

/** A query for at most one row: `null` when there is none. */
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
 * A query for what all merchants share and operators seldom change, such as rates. What is written asks for it once for each
 * set of parameters: an engine keeps the answer while it can be sure of it, at least as long as a transaction lasts. So the rows
 * are everybody's, to be read only.
 */
export function sharedQuery<P extends object, Result>(
  build: (params: P) => Compilable<Result>,
): (db: Reader, params: P) => MaybePromise<readonly Result[]> {
  const built = { ...buildQuery(build(placeholders<P>())), isShared: true }
  if (built.scope !== 'shared') throw new Error('what belongs to a merchant is not shared')
  return (db, params) => db.execute<Result>(built, params)
}

/** A query whose `filters` may each be absent: one statement for every set of filters that is asked for. */
export function queryWithFilters<const Filter extends string, P extends { [Name in Filter]: unknown }, Result>(
  filters: readonly Filter[],
  build: (params: P, has: (filter: Filter) => boolean) => Compilable<Result>,
): ProjectableQuery<Omit<P, Filter> & { [Name in Filter]?: P[Name] | undefined }, Result> {
  // Each set is built when it is asked for; whose rows it is for is looked at now.
  nodeAndScope(build(placeholders<P>(), () => false))
  const variants: Query[] = []
  return (db: Reader, params: object, columns?: Projection) => {
    const given = params as Record<string, unknown>
    let variant = 0
    for (const [bit, filter] of filters.entries()) if (given[filter] !== undefined) variant |= 1 << bit
    const has = (filter: Filter) => (variant & (1 << filters.indexOf(filter))) !== 0
    const built = variants[variant] ?? buildQuery(build(placeholders<P>(), has))
    variants[variant] = built
    return db.execute<never>(columns ? projectQuery(built, columns) : built, params)
  }
}

/** A statement that writes; it answers the rows that it returns. */
export function statement<P extends object, Result>(
  build: (params: P) => Compilable<Result>,
): (tx: Tx, params: P) => MaybePromise<Result[]> {
  return query(build)
}

/** A statement that writes at most one row and returns it; `null` when its condition did not hold. */
export function statementOne<P extends object, Result>(
  build: (params: P) => Compilable<Result>,
): (tx: Tx, params: P) => MaybePromise<Result | null> {
  return queryOne(build)
}

/** The statement that inserts one row, every column named. */
export function insertRow<Table extends TableName>(
  table: Table,
): (tx: Tx, row: NewRowOf<Table>) => MaybePromise<unknown> {
  const columns = Object.entries(tables[table]).filter(([, column]) => !column.isGenerated)
  const values = Object.fromEntries(columns.map(([name]) => [name, placeholder(name)]))
  const built = buildQuery(insertInto(table).values(values as never))
  return (tx, row) => tx.execute(built, row)
}

/**
 * Declares that a query is an operator's view over all merchants. Any other on a merchant's table holds it to its parameter
 * `merchantId`, or it does not build; see `scope.ts`. Where the engine itself keeps merchants apart, it sees no other rows.
 */
export function acrossMerchants<Result>(built: Compilable<Result>): Compilable<Result> {
  queriesAcrossMerchants.add(built)
  return built
}

/**
 * Declares that a query finds a merchant's rows of any customer, also for who acts as one of them: only for what tells that
 * caller nothing but that something is taken, or that something has happened.
 */
export function acrossCustomers<Result>(built: Compilable<Result>): Compilable<Result> {
  queriesAcrossCustomers.add(built)
  return built
}

const queriesAcrossCustomers = new WeakSet<Compilable<unknown>>()

const queriesAcrossMerchants = new WeakSet<Compilable<unknown>>()

/** Finds whose a row is, for an operator who has nothing but its id: one look per merchant. */
export function merchantIdQuery(table: 'customers' | 'payouts' | 'wallets' | 'webhookEndpoints') {
  // Kysely has types for one table.
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

/** The parameters that columns of the same names are set to. */
export function pickParams<P extends object, const Name extends keyof P>(
  params: P,
  names: readonly Name[],
): Pick<P, Name> {
  return Object.fromEntries(names.map((name) => [name, params[name]])) as Pick<P, Name>
}

/** The right side of `in` for a parameter that is an array; it may be empty. */
export function listParam<Item>(values: readonly Item[]): Expression<Item> {
  const { placeholder } = values as unknown as Placeholder
  return {
    get expressionType() {
      return undefined
    },
    toOperationNode: () => ValueNode.create({ placeholder, isList: true } satisfies Placeholder),
  }
}

/** A table in a FROM that is read row by row, whatever its indexes say: for whoever doubts what is stored. */
export function scanTable(table: TableName): RawBuilder<unknown> {
  const marker: Expression<unknown> = {
    get expressionType() {
      return undefined
    },
    toOperationNode: () => ValueNode.create(noIndexMarker),
  }
  return sql`${sql.table(snakeCase(table))} ${marker}`
}

/** Stands after a table, where an engine says that no index may be used. */
export const noIndexMarker = Symbol('row by row')

let queryCount = 0

function buildQuery(built: Compilable<unknown>): Query {
  const isOfAnyCustomer = queriesAcrossCustomers.has(built)
  return {
    number: queryCount++,
    ...nodeAndScope(built),
    projection: null,
    isShared: false,
    isAcrossCustomers: isOfAnyCustomer,
  }
}

/** Another query that takes the same parameters, with one more perhaps, and gives the same columns. */
export function rewriteQuery(query: Query, node: RootOperationNode): Query {
  return { ...query, number: query.projection ? projectedQueryCount++ : queryCount++, node }
}

/** Forms that are shared by all who choose the same columns of the same query. */
const projectedQueries = new LRUCache<string, Query, () => Query>({
  max: 1_000,
  memoMethod: (_key, _stale, { context: make }) => make(),
})

/** Forms that stay with the columns that they were asked for with, so that whoever reads the same again makes no key for it. */
const maxQueriesPerProjection = 4

let projectedQueryCount = 0

/** The same query for the same rows, of which it reads the chosen columns only. */
function projectQuery(query: Query, columns: Projection): Query {
  const latest = columns.projectedQueries.get(query) as Query | undefined
  if (latest) return latest
  const key = `${query.number} ${columns.key}`
  const form = projectedQueries.memo(key, {
    context: () => ({
      ...query,
      number: projectedQueryCount++,
      node: projectNode(columns, query.node),
      projection: columns,
    }),
  })
  if (columns.projectedQueries.size === maxQueriesPerProjection) columns.projectedQueries.clear()
  columns.projectedQueries.set(query, form)
  return form
}

function nodeAndScope(built: Compilable<unknown>): Pick<Query, 'node' | 'scope'> {
  const node = (built as unknown as { toOperationNode(): RootOperationNode }).toOperationNode()
  return { node, scope: inferQueryScope(node, { isAcrossMerchants: queriesAcrossMerchants.has(built) }) }
}

/** Whether a query that writes answers the rows that it changes. */
export function returnsRows({ node }: Query): boolean {
  return 'returning' in node && node.returning !== undefined
}

/** The table whose rows a query changes; `null` for none, and for what is no table of ours. */
export function changedTable({ node }: Query): TableName | null {
  const { into, table, from } = node as { into?: TableNode; table?: TableNode; from?: { froms: readonly TableNode[] } }
  const changed = node.kind === 'InsertQueryNode' ? into : node.kind === 'UpdateQueryNode' ? table : from?.froms[0]
  if (isRead({ node } as Query) || !changed || changed.kind !== 'TableNode') return null
  return camelCase(changed.table.identifier.name) as TableName
}

/** Whether a query leaves every row as it is. */
export function isRead({ node }: Query): boolean {
  return node.kind === 'SelectQueryNode'
}

/** Stands for the parameters while a query is built: reading any of them yields its placeholder. */
export function placeholders<P extends object>(): P {
  return new Proxy({} as P, { get: (_, name) => placeholder(String(name)) })
}
