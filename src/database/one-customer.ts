import type {
  DeleteQueryNode,
  FromNode,
  InsertQueryNode,
  JoinNode,
  OperationNode,
  RawNode,
  SelectQueryNode,
  UpdateQueryNode,
} from 'kysely'
import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  OperationNodeTransformer,
  ReferenceNode,
  SqliteQueryCompiler,
  sql,
  TableNode,
  ValueListNode,
  ValuesNode,
  WhereNode,
} from 'kysely'
import { Refusal } from '../errors.ts'
import type { Database } from './database.ts'
import { isPlaceholder } from './placeholder.ts'
import type { Params, Query, Reader, Tx } from './query.ts'
import { from, placeholders, rewritten } from './query.ts'
import { equalOperands, ownedTables, ownedTablesIn } from './scope.ts'
import type { TableName } from './tables.ts'
import { snakeCase } from './tables.ts'

/** What queries for one customer bind beside their own parameters; PostgreSQL holds rows against it as well. */
type Bound = { readonly merchantId: string; readonly theCustomer: string }

/** What of a table is a customer's. */
type Part = { readonly toOperationNode: () => OperationNode }

const p = placeholders<Params<Bound>>()

const customersDeposit = from('transfers')
  .innerJoin('wallets', (join) =>
    join.onRef('wallets.merchantId', '=', 'transfers.merchantId').onRef('wallets.id', '=', 'transfers.walletId'),
  )
  .select('transfers.id')
  .where('transfers.merchantId', '=', p.merchantId)
  .where('wallets.ownerId', '=', p.theCustomer)

/** The nouns of which each says itself whose it is. */
const nouns = {
  customers: from('customers').selectAll('customers').where('customers.id', '=', p.theCustomer),
  wallets: from('wallets').selectAll('wallets').where('wallets.ownerId', '=', p.theCustomer),
  payoutMethods: from('payoutMethods').selectAll('payoutMethods').where('payoutMethods.ownerId', '=', p.theCustomer),
  payouts: from('payouts').selectAll('payouts').where('payouts.customerId', '=', p.theCustomer),
} satisfies Record<string, Part>

/** The customer's row of a noun that another row names; of that row's merchant, so that nothing is bound for it. */
function ownRow(noun: 'wallets' | 'payouts', table: TableName, by: string) {
  // Kysely has types for one table.
  const one = noun as 'wallets'
  return nouns[one]
    .clearSelect()
    .select(`${one}.id`)
    .whereRef(`${one}.merchantId`, '=', `${table}.merchantId` as never)
    .whereRef(`${one}.id`, '=', `${table}.${by}` as never)
}

/** The column of a new row that says whose it is. */
const ownersOfNew: Readonly<Record<string, string>> = {
  customers: 'id',
  wallets: 'customer_id',
  payout_methods: 'customer_id',
  payouts: 'customer_id',
}

/** What belongs to a row of a noun, and the column that says to which. */
const belongings = {
  walletAddresses: { to: 'wallets', by: 'walletId' },
  accounts: { to: 'wallets', by: 'id' },
  transfers: { to: 'wallets', by: 'walletId' },
  deposits: { to: 'wallets', by: 'walletId' },
  chainDeposits: { to: 'wallets', by: 'walletId' },
  payoutEvents: { to: 'payouts', by: 'payoutId' },
  payoutTransfers: { to: 'payouts', by: 'payoutId' },
} as const
type Belonging = (typeof belongings)[keyof typeof belongings]
const belongingOf: ReadonlyMap<string, Belonging> = new Map(
  Object.entries(belongings).map(([table, belonging]) => [snakeCase(table), belonging]),
)

/**
 * What else is read for who acts as one customer: what belongs to such a noun. A merchant's table that is not here has no row
 * for it.
 */
const read = {
  ...nouns,
  ...Object.fromEntries(
    Object.entries(belongings).map(([table, belonging]) => [table, belongingTo(table as TableName, belonging)]),
  ),
  events: from('events')
    .selectAll('events')
    .where(({ eb, exists, or }) =>
      or([
        eb('events.objectId', '=', p.theCustomer),
        exists(ownRow('payouts', 'events', 'objectId')),
        exists(ownRow('wallets', 'events', 'objectId')),
        exists(customersDeposit.whereRef('transfers.id', '=', 'events.objectId' as never)),
        // A payout method may be deleted since; its events keep what it was.
        sql<boolean>`events.data ->> 'customerId' = cast(${p.theCustomer} as text)`,
      ]),
    ),
  // Their numbers are the merchant's, and a stream of one customer's begins where the merchant's is.
  sequences: from('sequences').selectAll('sequences').where('sequences.name', '=', sql.lit('events')),
  listCounts: from('listCounts')
    .selectAll('listCounts')
    .where('listCounts.list', 'like', sql<string>`'%/owner:' || cast(${p.theCustomer} as text) || '%'`),
} satisfies Record<string, Part>

function belongingTo(table: TableName, { to, by }: Belonging): Part {
  return from(table)
    .selectAll(table)
    .where(({ exists }) => exists(ownRow(to, table, by)))
}

/** A query for one customer, and the parameter that must name it where the query inserts. */
type Narrowed = { readonly query: Query; readonly owner: string | null }

/** For reading alone, every table of a merchant is narrowed; in a transaction the nouns are, and the books are the merchant's. */
const parts = { reading: partsOf(read), writing: partsOf(nouns) }
type Kind = keyof typeof parts

const known = { reading: new WeakMap<Query, Narrowed>(), writing: new WeakMap<Query, Narrowed>() }

/**
 * The database of a merchant as it is for one of its customers: rows of others are not there, wherever they are read or changed,
 * and none can be made. Each query is rewritten, once, so that every table in it is no more than the customer's part of it; so
 * there is nothing that an operation, a list or a resolver could forget.
 */
export function forCustomer(db: Database, customerId: string): Database {
  return {
    ...db,
    ...narrowedReader(db, customerId, 'reading'),
    snapshot: (run, options) => db.snapshot((reader) => run(narrowedReader(reader, customerId, 'reading')), options),
    write: (operation, options) =>
      db.write((tx) => operation({ ...tx, ...narrowedReader(tx, customerId, 'writing') } as Tx), options),
  }
}

function narrowedReader(reader: Reader, customerId: string, kind: Kind): Reader {
  const execute: Reader['execute'] = (query, params) => {
    if (query.isOfAnyCustomer || query.isShared) return reader.execute(query, params)
    const narrowed = known[kind].get(query) ?? narrow(query, kind)
    if (narrowed.query === query) return reader.execute(query, params)
    if (narrowed.owner !== null && (params as Record<string, unknown>)[narrowed.owner] !== customerId) {
      throw new Refusal('INSUFFICIENT_SCOPE', 'This token acts as one customer and can make nothing for others.')
    }
    return reader.execute(narrowed.query, { ...params, theCustomer: customerId } satisfies object)
  }
  return { execute, customerId }
}

function narrow(query: Query, kind: Kind): Narrowed {
  const narrower = new Narrower(parts[kind], kind === 'reading')
  const node = narrower.transformNode(query.node)
  if (narrower.isTouched && query.scope !== 'merchant') {
    throw new Error('a query over all merchants is not for who acts as one customer')
  }
  const narrowed = { query: narrower.isTouched ? rewritten(query, node) : query, owner: narrower.owner }
  known[kind].set(query, narrowed)
  return narrowed
}

type Parts = ReadonlyMap<string, SelectQueryNode>

function partsOf(parts: Readonly<Record<string, Part>>): Parts {
  return new Map(
    Object.entries(parts).map(([table, part]) => [snakeCase(table), part.toOperationNode() as SelectQueryNode]),
  )
}

/** Puts a customer's part of a table in the place of each table. */
class Narrower extends OperationNodeTransformer {
  isTouched = false
  /** The parameter that says whose a new row is. */
  owner: string | null = null
  readonly #parts: Parts
  readonly #isClosed: boolean

  /** @param isClosed whether a merchant's table of which no part is known has no rows, rather than all */
  constructor(parts: Parts, isClosed: boolean) {
    super()
    this.#parts = parts
    this.#isClosed = isClosed
  }

  protected override transformFrom(node: FromNode): FromNode {
    const { froms, ...rest } = super.transformFrom(node)
    return { ...rest, froms: froms.map((source) => this.#narrowed(source)) }
  }

  protected override transformJoin(node: JoinNode): JoinNode {
    const { table, ...rest } = super.transformJoin(node)
    return { ...rest, table: isNarrowedByJoin(node) ? table : this.#narrowed(table) }
  }

  protected override transformUpdateQuery(node: UpdateQueryNode): UpdateQueryNode {
    const changed = super.transformUpdateQuery(node)
    return node.table ? this.#changing(changed, node.table) : changed
  }

  protected override transformDeleteQuery(node: DeleteQueryNode): DeleteQueryNode {
    const { from: rows } = node
    return { ...this.#changing(super.transformDeleteQuery(node), rows.froms[0] as OperationNode), from: rows }
  }

  protected override transformInsertQuery(node: InsertQueryNode): InsertQueryNode {
    const table = node.into?.table.identifier.name ?? ''
    const owner = ownersOfNew[table]
    if (owner !== undefined) {
      this.isTouched = true
      this.owner = parameterFor(node, owner)
    }
    return super.transformInsertQuery(node)
  }

  protected override transformRaw(node: RawNode): RawNode {
    const { sql: text } = new SqliteQueryCompiler().compileQuery(node, { queryId: '' })
    const named = ownedTablesIn(text).filter((table) => this.#isClosed || this.#parts.has(table))
    if (named.length > 0) throw new Error(`a query in text reads ${named.join(' and ')} for one customer`)
    return super.transformRaw(node)
  }

  #narrowed(source: OperationNode): OperationNode {
    const table = tableOf(source)
    const part = table === null ? null : this.#partOf(table)
    if (part === null) return source
    this.isTouched = true
    const name = AliasNode.is(source) ? source.alias : IdentifierNode.create(table as string)
    return AliasNode.create(part, name)
  }

  #changing<Node extends UpdateQueryNode | DeleteQueryNode>(node: Node, changed: OperationNode): Node {
    const part = TableNode.is(changed) ? this.#partOf(changed.table.identifier.name) : null
    const condition = part?.where?.where
    if (!condition) return node
    this.isTouched = true
    const where = node.where ? WhereNode.cloneWithOperation(node.where, 'And', condition) : WhereNode.create(condition)
    return { ...node, where }
  }

  #partOf(table: string): SelectQueryNode | null {
    const part = this.#parts.get(table)
    if (part) return part
    return this.#isClosed && ownedTables.includes(table) ? nothingOf(table) : null
  }
}

/** Joins of whose second table only those rows are found that the condition pairs with one of the first. */
const narrowingJoins: readonly JoinNode['joinType'][] = ['InnerJoin', 'LeftJoin']

/** Whether rows are joined to what they belong to, which is narrowed itself: then there is nothing to look up again. */
function isNarrowedByJoin({ joinType, table, on }: JoinNode): boolean {
  const name = TableNode.is(table) ? table.table.identifier.name : ''
  const belonging = belongingOf.get(name)
  if (!belonging || !on || !narrowingJoins.includes(joinType)) return false
  const columns = [`${name}.${snakeCase(belonging.by)}`, `${belonging.to}.id`]
  return equalOperands(on.on).some((operands) => columns.every((column) => operands.map(columnOf).includes(column)))
}

/** A column with the name of its table before it. */
function columnOf(operand: OperationNode): string | null {
  if (!ReferenceNode.is(operand) || !operand.table || !ColumnNode.is(operand.column)) return null
  return `${operand.table.table.identifier.name}.${operand.column.column.name}`
}

function tableOf(source: OperationNode): string | null {
  const table = AliasNode.is(source) ? source.node : source
  return TableNode.is(table) ? table.table.identifier.name : null
}

function nothingOf(table: string): SelectQueryNode {
  const rows = from(table as 'wallets').selectAll(table as 'wallets')
  return rows.where(sql<boolean>`1 = 0`).toOperationNode()
}

/** The parameter that a new row's column takes its value from. */
function parameterFor({ columns = [], values }: InsertQueryNode, column: string): string {
  const place = columns.findIndex(({ column: each }) => each.name === column)
  const [row] = values && ValuesNode.is(values) ? values.values : []
  const value =
    row && (ValueListNode.is(row) ? (row.values[place] as { value?: unknown } | undefined)?.value : row.values[place])
  if (!isPlaceholder(value)) throw new Error(`a new row does not say by a parameter what its ${column} is`)
  return value.placeholder
}
