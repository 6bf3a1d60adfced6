import type {
  DeleteQueryNode,
  FromNode,
  InsertQueryNode,
  JoinNode,
  MergeQueryNode,
  OperationNode,
  RawNode,
  SelectQueryNode,
  UpdateQueryNode,
  UsingNode,
} from 'kysely'
import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  OperationNodeTransformer,
  ReferenceNode,
  SqliteQueryCompiler,
  TableNode,
  ValueListNode,
  ValuesNode,
  WhereNode,
} from 'kysely'
import { DomainError } from '../core/errors.ts'
import type { CustomerTable, StatementVerb } from './customer-tables.ts'
import { customerTables, selectCustomerRows } from './customer-tables.ts'
import type { Database } from './database.ts'
import { equalOperands, merchantTables, merchantTablesIn } from './merchant-scope.ts'
import { isPlaceholder } from './placeholder.ts'
import type { DeferredUpdate, DeferredValues, Query, Reader, Tx } from './query.ts'
import { rewriteQuery } from './query.ts'
import type { TableName } from './tables.ts'
import { camelCase, snakeCase } from './tables.ts'

/** A query for one customer, and the parameters that must name it where the query inserts. */
type ScopedQuery = { readonly query: Query; readonly ownerParams: readonly string[] }

/** Where a query runs: only in a transaction the books of a table are open to it. */
type QueryAccess = 'reading' | 'writing'

const scopedQueries = { reading: new WeakMap<Query, ScopedQuery>(), writing: new WeakMap<Query, ScopedQuery>() }

/**
 * The database of a merchant as it is for one of its customers: rows of others are not there, wherever they are read or changed,
 * and none can be made. Each query is rewritten, once, so that every table in it is no more than the customer's part of it; so
 * there is nothing that an operation, a list or a resolver could forget. What a transaction may do beyond that is declared in
 * `customer-tables.ts`; a table that is not there is closed.
 */
export function customerScope(db: Database, customerId: string): Database {
  return {
    ...db,
    ...scopeReader(db, customerId, 'reading'),
    snapshot: (run, options) => db.snapshot((reader) => run(scopeReader(reader, customerId, 'reading')), options),
    write: (operation, options) => db.write((tx) => operation(scopeTx(tx, customerId)), options),
  }
}

/** What waits for COMMIT is narrowed as well: it is written by the handle of whichever operation has changed it last. */
function scopeTx(tx: Tx, customerId: string): Tx {
  const change: DeferredValues['update'] = <Value>(name: string, how: DeferredUpdate<Value>) =>
    tx.deferred.update<Value>(name, { ...how, store: (last, value) => how.store(scopeTx(last, customerId), value) })
  return { ...tx, ...scopeReader(tx, customerId, 'writing'), deferred: { ...tx.deferred, update: change } }
}

function scopeReader(reader: Reader, customerId: string, kind: QueryAccess): Reader {
  const execute: Reader['execute'] = (query, params) => {
    if (query.isAcrossCustomers || query.isShared) return reader.execute(query, params)
    const narrowed = scopedQueries[kind].get(query) ?? scopeQuery(query, kind)
    for (const owner of narrowed.ownerParams) {
      if ((params as Record<string, unknown>)[owner] !== customerId) throw customerMismatch()
    }
    if (query.scope === 'shared') return reader.execute(query, params)
    return reader.execute(narrowed.query, { ...params, theCustomer: customerId } satisfies object)
  }
  return { execute, customerId }
}

function scopeQuery(query: Query, kind: QueryAccess): ScopedQuery {
  const narrower = new CustomerScopeTransformer(kind)
  const node = narrower.transformNode(query.node)
  if (narrower.hasMerchantTable && query.scope !== 'merchant') {
    throw new Error('a query over all merchants is not for who acts as one customer')
  }
  const narrowed = { query: narrower.hasChanged ? rewriteQuery(query, node) : query, ownerParams: narrower.ownerParams }
  scopedQueries[kind].set(query, narrowed)
  return narrowed
}

const customerMismatch = () =>
  new DomainError('INSUFFICIENT_SCOPE', 'This token acts as one customer and can make nothing for others.')

/** A table that is not declared: no rows, in reads or in transactions. */
const undeclaredTable: CustomerTable = { rows: 'none' }

type ScopedTable = CustomerTable & { readonly customerRows: SelectQueryNode }

/** Every table of a merchant, by its name in the database. */
const scopedTables: ReadonlyMap<string, ScopedTable> = new Map(
  merchantTables.map((name) => {
    const table = camelCase(name) as TableName
    const declaration = customerTables[table] ?? undeclaredTable
    return [
      name,
      { ...declaration, customerRows: selectCustomerRows(table, declaration).toOperationNode() as SelectQueryNode },
    ]
  }),
)

/** Replaces each table by a customer's part of it. */
class CustomerScopeTransformer extends OperationNodeTransformer {
  hasChanged = false
  hasMerchantTable = false
  /** The parameters that say whose the new rows are. */
  readonly ownerParams: string[] = []
  readonly #kind: QueryAccess

  constructor(kind: QueryAccess) {
    super()
    this.#kind = kind
  }

  protected override transformFrom(node: FromNode): FromNode {
    const { froms, ...rest } = super.transformFrom(node)
    return { ...rest, froms: froms.map((source) => this.#narrowed(source)) }
  }

  protected override transformJoin(node: JoinNode): JoinNode {
    const { table, ...rest } = super.transformJoin(node)
    return { ...rest, table: isRestrictedByJoin(node) ? table : this.#narrowed(table) }
  }

  protected override transformUsing(_: UsingNode): never {
    throw new Error('a query for one customer has no USING')
  }

  protected override transformMergeQuery(_: MergeQueryNode): never {
    throw new Error('a query for one customer has no MERGE')
  }

  protected override transformUpdateQuery(node: UpdateQueryNode): UpdateQueryNode {
    return this.#changing('update', super.transformUpdateQuery(node), node.table)
  }

  protected override transformDeleteQuery(node: DeleteQueryNode): DeleteQueryNode {
    const { from: rows } = node
    const [target, ...others] = rows.froms
    return {
      ...this.#changing('delete', super.transformDeleteQuery(node), others.length === 0 ? target : undefined),
      from: rows,
    }
  }

  protected override transformInsertQuery(node: InsertQueryNode): InsertQueryNode {
    const name = node.into?.table.identifier.name ?? ''
    const table = this.#ofMerchant(name)
    if (table) {
      const replaces = node.replace || node.orAction || node.onDuplicateKey
      const needed: StatementVerb[] = replaces
        ? ['insert', 'update', 'delete']
        : node.onConflict?.updates
          ? ['insert', 'update']
          : ['insert']
      const { rows } = table
      if (rows !== 'none' && 'owner' in rows && needed.length === 1) {
        this.ownerParams.push(...paramsForColumn(node, snakeCase(rows.insertColumn)))
      } else if (!needed.every((verb) => this.#isOpen(table, verb))) {
        throw new DomainError('INSUFFICIENT_SCOPE', `This token acts as one customer and can not write ${name}.`)
      }
    }
    return super.transformInsertQuery(node)
  }

  protected override transformRaw(node: RawNode): RawNode {
    const { sql: text } = new SqliteQueryCompiler().compileQuery(node, { queryId: '' })
    const named = merchantTablesIn(text).filter((name) => {
      const table = this.#ofMerchant(name)
      return table && !this.#isOpen(table, 'select')
    })
    if (named.length > 0) throw new Error(`a query in text reads ${named.join(' and ')} for one customer`)
    return super.transformRaw(node)
  }

  #narrowed(source: OperationNode): OperationNode {
    const name = tableNameOf(source)
    const table = name === null ? undefined : this.#ofMerchant(name)
    if (!table || this.#isOpen(table, 'select')) return source
    this.hasChanged = true
    return AliasNode.create(
      table.customerRows,
      AliasNode.is(source) ? source.alias : IdentifierNode.create(name as string),
    )
  }

  #changing<Node extends UpdateQueryNode | DeleteQueryNode>(
    verb: StatementVerb,
    node: Node,
    target?: OperationNode,
  ): Node {
    if (!target || !TableNode.is(target)) throw new Error('a query for one customer changes one table, by its own name')
    const table = this.#ofMerchant(target.table.identifier.name)
    if (!table || this.#isOpen(table, verb)) return node
    this.hasChanged = true
    const condition = (table.customerRows.where as WhereNode).where
    const where = node.where ? WhereNode.cloneWithOperation(node.where, 'And', condition) : WhereNode.create(condition)
    return { ...node, where }
  }

  #ofMerchant(name: string): ScopedTable | undefined {
    const table = scopedTables.get(name)
    if (table) this.hasMerchantTable = true
    return table
  }

  #isOpen({ merchantWide: books }: CustomerTable, verb: StatementVerb): boolean {
    return this.#kind === 'writing' && books !== undefined && books.verbs.includes(verb)
  }
}

/** Joins of whose second table only those rows are found that the condition pairs with one of the first. */
const restrictingJoins: readonly JoinNode['joinType'][] = ['InnerJoin', 'LeftJoin']

/** Whether rows are joined to what they belong to, which is narrowed itself: then there is nothing to look up again. */
function isRestrictedByJoin({ joinType, table, on }: JoinNode): boolean {
  const name = TableNode.is(table) ? table.table.identifier.name : ''
  const rows = scopedTables.get(name)?.rows
  if (!rows || rows === 'none' || !('to' in rows) || !on || !restrictingJoins.includes(joinType)) return false
  const columns = [`${name}.${snakeCase(rows.foreignKey)}`, `${rows.to}.id`]
  return equalOperands(on.on).some((operands) =>
    columns.every((column) => operands.map(qualifiedColumnName).includes(column)),
  )
}

/** A column with the name of its table before it. */
function qualifiedColumnName(operand: OperationNode): string | null {
  if (!ReferenceNode.is(operand) || !operand.table || !ColumnNode.is(operand.column)) return null
  return `${operand.table.table.identifier.name}.${operand.column.column.name}`
}

function tableNameOf(source: OperationNode): string | null {
  const table = AliasNode.is(source) ? source.node : source
  return TableNode.is(table) ? table.table.identifier.name : null
}

/** The parameters that a column of the new rows takes its values from. */
function paramsForColumn({ columns = [], values }: InsertQueryNode, column: string): string[] {
  const place = columns.findIndex(({ column: each }) => each.name === column)
  const rows = values && ValuesNode.is(values) ? values.values : []
  const parameters = rows.map((row) => {
    const value = ValueListNode.is(row)
      ? (row.values[place] as { value?: unknown } | undefined)?.value
      : row.values[place]
    return isPlaceholder(value) && !value.isList ? value.placeholder : null
  })
  const given = parameters.filter((parameter) => parameter !== null)
  if (given.length === 0 || given.length < parameters.length) {
    throw new Error(`a new row does not say by a parameter what its ${column} is`)
  }
  return given
}
