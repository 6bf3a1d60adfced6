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
  TableNode,
  ValueListNode,
  ValuesNode,
  WhereNode,
} from 'kysely'
import { DomainError } from '../core/errors.ts'
import type { CustomerTable, StatementVerb } from './customer-tables.ts'
import { customerTables, operatorTables, selectCustomerRows } from './customer-tables.ts'
import type { Database } from './database.ts'
import { merchantTables, merchantTablesIn } from './merchant-scope.ts'
import type { DeferredUpdate, DeferredValues, Query, Reader, Tx } from './query.ts'
import { rewriteQuery } from './query.ts'
import { compileRaw, equalOperands, isPlaceholder, tableNameOf } from './query-nodes.ts'
import type { TableName } from './tables.ts'
import { camelCase, snakeCase } from './tables.ts'

/** `ownerParams` are parameters of an insert that must equal the customer's id. */
type ScopedQuery = { readonly query: Query; readonly ownerParams: readonly string[] }

/** A query has merchant-wide access (see `customer-tables.ts`) only in a write transaction. */
type QueryAccess = 'reading' | 'writing'

const scopedQueries = { reading: new WeakMap<Query, ScopedQuery>(), writing: new WeakMap<Query, ScopedQuery>() }

/**
 * Restricts a database to the rows of one customer. Every table in a query is replaced by a subquery that selects the
 * customer's rows (see `customer-tables.ts`).
 */
export function customerScope(db: Database, customerId: string): Database {
  return {
    ...db,
    ...scopeReader(db, customerId, 'reading'),
    snapshot: (run, options) => db.snapshot((reader) => run(scopeReader(reader, customerId, 'reading')), options),
    write: (operation, options) => db.write((tx) => operation(scopeTx(tx, customerId)), options),
  }
}

/** A deferred value is stored in the scope of the operation that last changed the value. */
function scopeTx(tx: Tx, customerId: string): Tx {
  const update: DeferredValues['update'] = <Value>(name: string, how: DeferredUpdate<Value>) =>
    tx.deferred.update<Value>(name, { ...how, store: (lastTx, value) => how.store(scopeTx(lastTx, customerId), value) })
  return { ...tx, ...scopeReader(tx, customerId, 'writing'), deferred: { ...tx.deferred, update } }
}

function scopeReader(reader: Reader, customerId: string, access: QueryAccess): Reader {
  const execute: Reader['execute'] = (query, params) => {
    if (query.isAcrossCustomers || query.isShared) return reader.execute(query, params)
    const scoped = scopedQueries[access].get(query) ?? scopeQuery(query, access)
    for (const ownerParam of scoped.ownerParams) {
      if ((params as Record<string, unknown>)[ownerParam] !== customerId) throw customerMismatch()
    }
    if (query.scope === 'shared') return reader.execute(scoped.query, params)
    return reader.execute(scoped.query, { ...params, theCustomer: customerId } satisfies object)
  }
  return { execute, customerId }
}

function scopeQuery(query: Query, access: QueryAccess): ScopedQuery {
  const transformer = new CustomerScopeTransformer(access)
  const node = transformer.transformNode(query.node)
  const { hasMerchantTable, hasChanged, ownerParams } = transformer
  if (hasMerchantTable && query.scope !== 'merchant') {
    throw new Error('a query across merchants cannot run in customer scope')
  }
  const scoped = { query: hasChanged ? rewriteQuery(query, node) : query, ownerParams }
  scopedQueries[access].set(query, scoped)
  return scoped
}

const customerMismatch = () =>
  new DomainError('INSUFFICIENT_SCOPE', 'This token acts as one customer and cannot create objects for others.')

const undeclaredTable: CustomerTable = { rows: 'none' }

type ScopedTable = CustomerTable & { readonly customerRows: SelectQueryNode }

const scopedTables: ReadonlyMap<string, ScopedTable> = new Map(
  [...merchantTables, ...operatorTables.map(snakeCase)].map((name) => {
    const table = camelCase(name) as TableName
    const declaration = customerTables[table] ?? undeclaredTable
    return [
      name,
      { ...declaration, customerRows: selectCustomerRows(table, declaration).toOperationNode() as SelectQueryNode },
    ]
  }),
)

class CustomerScopeTransformer extends OperationNodeTransformer {
  hasChanged = false
  hasMerchantTable = false
  readonly ownerParams: string[] = []
  readonly #access: QueryAccess

  constructor(access: QueryAccess) {
    super()
    this.#access = access
  }

  protected override transformFrom(node: FromNode): FromNode {
    const { froms, ...rest } = super.transformFrom(node)
    return { ...rest, froms: froms.map((source) => this.#restrict(source)) }
  }

  protected override transformJoin(node: JoinNode): JoinNode {
    const { table, ...rest } = super.transformJoin(node)
    return { ...rest, table: isRestrictedByJoin(node) ? table : this.#restrict(table) }
  }

  protected override transformUsing(_: UsingNode): never {
    throw new Error('USING is not supported in customer scope')
  }

  protected override transformMergeQuery(_: MergeQueryNode): never {
    throw new Error('MERGE is not supported in customer scope')
  }

  protected override transformUpdateQuery(node: UpdateQueryNode): UpdateQueryNode {
    return this.#restrictChange('update', super.transformUpdateQuery(node), node.table)
  }

  protected override transformDeleteQuery(node: DeleteQueryNode): DeleteQueryNode {
    const { from } = node
    const [target, ...others] = from.froms
    return {
      ...this.#restrictChange('delete', super.transformDeleteQuery(node), others.length === 0 ? target : undefined),
      from,
    }
  }

  protected override transformInsertQuery(node: InsertQueryNode): InsertQueryNode {
    const name = node.into?.table.identifier.name ?? ''
    const table = this.#scopedTable(name)
    if (table) {
      const replaces = node.replace || node.orAction || node.onDuplicateKey
      const verbs: StatementVerb[] = replaces
        ? ['insert', 'update', 'delete']
        : node.onConflict?.updates
          ? ['insert', 'update']
          : ['insert']
      const { rows } = table
      if (rows !== 'none' && 'owner' in rows && verbs.length === 1) {
        this.ownerParams.push(...paramsForColumn(node, snakeCase(rows.insertColumn)))
      } else if (!verbs.every((verb) => this.#isMerchantWide(table, verb))) {
        throw new DomainError('INSUFFICIENT_SCOPE', `This token acts as one customer and cannot write ${name}.`)
      }
    }
    return super.transformInsertQuery(node)
  }

  protected override transformRaw(node: RawNode): RawNode {
    const closedTables = merchantTablesIn(compileRaw(node).sql).filter((name) => {
      const table = this.#scopedTable(name)
      return table && !this.#isMerchantWide(table, 'select')
    })
    if (closedTables.length > 0) throw new Error(`raw SQL reads ${closedTables.join(' and ')} in customer scope`)
    return super.transformRaw(node)
  }

  #restrict(source: OperationNode): OperationNode {
    const name = tableNameOf(source)
    const table = name === null ? undefined : this.#scopedTable(name)
    if (!table || this.#isMerchantWide(table, 'select')) return source
    this.hasChanged = true
    return AliasNode.create(
      table.customerRows,
      AliasNode.is(source) ? source.alias : IdentifierNode.create(name as string),
    )
  }

  #restrictChange<Node extends UpdateQueryNode | DeleteQueryNode>(
    verb: StatementVerb,
    node: Node,
    target?: OperationNode,
  ): Node {
    if (!target || !TableNode.is(target)) {
      throw new Error('in customer scope a statement changes one table, without an alias')
    }
    const table = this.#scopedTable(target.table.identifier.name)
    if (!table || this.#isMerchantWide(table, verb)) return node
    this.hasChanged = true
    const condition = (table.customerRows.where as WhereNode).where
    const where = node.where ? WhereNode.cloneWithOperation(node.where, 'And', condition) : WhereNode.create(condition)
    return { ...node, where }
  }

  #scopedTable(name: string): ScopedTable | undefined {
    const table = scopedTables.get(name)
    if (table && merchantTables.includes(name)) this.hasMerchantTable = true
    return table
  }

  #isMerchantWide({ merchantWide }: CustomerTable, verb: StatementVerb): boolean {
    return this.#access === 'writing' && merchantWide !== undefined && merchantWide.verbs.includes(verb)
  }
}

/** An inner or left join returns a row of the joined table only if the row matches a row of the first table. */
const restrictingJoins: readonly JoinNode['joinType'][] = ['InnerJoin', 'LeftJoin']

/** A table needs no subquery if a foreign key joins the table to a table that is already restricted. */
function isRestrictedByJoin({ joinType, table, on }: JoinNode): boolean {
  const name = TableNode.is(table) ? table.table.identifier.name : ''
  const rows = scopedTables.get(name)?.rows
  if (!rows || rows === 'none' || !('to' in rows) || !on || !restrictingJoins.includes(joinType)) return false
  const columns = [`${name}.${snakeCase(rows.foreignKey)}`, `${rows.to}.id`]
  return equalOperands(on.on).some((operands) =>
    columns.every((column) => operands.map(qualifiedColumnName).includes(column)),
  )
}

function qualifiedColumnName(operand: OperationNode): string | null {
  if (!ReferenceNode.is(operand) || !operand.table || !ColumnNode.is(operand.column)) return null
  return `${operand.table.table.identifier.name}.${operand.column.column.name}`
}

function paramsForColumn({ columns = [], values }: InsertQueryNode, column: string): string[] {
  const index = columns.findIndex(({ column: { name } }) => name === column)
  const rows = values && ValuesNode.is(values) ? values.values : []
  const params = rows.map((row) => {
    const value = ValueListNode.is(row)
      ? (row.values[index] as { value?: unknown } | undefined)?.value
      : row.values[index]
    return isPlaceholder(value) && !value.isList ? value.placeholder : null
  })
  const named = params.filter((param) => param !== null)
  if (named.length === 0 || named.length < params.length) {
    throw new Error(`an insert in customer scope must take ${column} from a parameter`)
  }
  return named
}
