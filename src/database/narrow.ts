import type { SelectionNode } from 'kysely'
import { SelectAllNode, SelectQueryNode } from 'kysely'
import type { Database } from './database.ts'
import type { Query, Reader } from './query.ts'
import { from, narrowerQuery } from './query.ts'
import type { TableName } from './tables.ts'
import { camelCase, tables } from './tables.ts'

/** Columns of a table; `key` is the same for the same ones. */
export type Columns = { readonly names: readonly string[]; readonly key: string }

/** The columns that are wanted of some tables. */
export type Narrowing = Readonly<Partial<Record<TableName, Columns>>>

/** These columns, in the order of their table. */
export function columnsAmong(table: TableName, wanted: ReadonlySet<string>): Columns {
  const names = Object.keys(tables[table]).filter((name) => wanted.has(name))
  return { names, key: names.join() }
}

/**
 * The same database, of which queries for whole rows of these tables read the wanted columns only: a value that is read
 * for nothing costs as much as one that is answered. On SQLite reading any other column of such a row throws.
 */
export function narrowedTo(db: Database, narrowing: Narrowing): Database {
  const narrow = (reader: Reader): Reader => ({
    execute: (query, params) => reader.execute(narrowedQuery(query, narrowing), params),
  })
  return { ...db, ...narrow(db), snapshot: (read, options) => db.snapshot((reader) => read(narrow(reader)), options) }
}

/** Forms of one query that are kept; whoever asks for one more gets the whole rows. */
const formsKept = 50

/** The table of which a query reads whole rows, and its forms by the columns that they read instead. */
type Whole = { readonly table: TableName | null; readonly forms: Map<string, Query> }

const wholes = new WeakMap<Query, Whole>()

function narrowedQuery(query: Query, narrowing: Narrowing): Query {
  const whole = wholes.get(query) ?? { table: wholeTableIn(query), forms: new Map() }
  wholes.set(query, whole)
  const { table, forms } = whole
  const columns = table && narrowing[table]
  if (!columns) return query
  const known = forms.get(columns.key)
  if (known) return known
  if (forms.size >= formsKept) return query
  const form = narrowerQuery(query, {
    node: narrowedNode(query.node as SelectQueryNode, table, columns),
    absent: Object.keys(tables[table]).filter((name) => !columns.names.includes(name)),
  })
  forms.set(columns.key, form)
  return form
}

function wholeTableIn({ node }: Query): TableName | null {
  if (!SelectQueryNode.is(node)) return null
  const whole = node.selections?.find(isWhole)?.selection
  if (whole === undefined) return null
  // `select *` is of the one table that rows come from, `select wallets.*` of that which it names.
  const named = 'table' in whole ? whole.table : node.from?.froms.length === 1 ? node.from.froms[0] : undefined
  const name = named?.kind === 'TableNode' ? (named as unknown as NamedTable).table.identifier.name : null
  const table = name === null ? '' : camelCase(name)
  return table in tables ? (table as TableName) : null
}

type NamedTable = { readonly table: { readonly identifier: { readonly name: string } } }

function isWhole({ selection }: SelectionNode): boolean {
  return SelectAllNode.is(selection) || ('column' in selection && SelectAllNode.is(selection.column))
}

function narrowedNode(node: SelectQueryNode, table: TableName, { names }: Columns): SelectQueryNode {
  const references = names.map((name) => `${table}.${name}`)
  const { selections: columns = [] } = from(table)
    .select(references as never)
    .toOperationNode() as SelectQueryNode
  const selections = node.selections?.flatMap((selection) => (isWhole(selection) ? columns : [selection])) ?? []
  return { ...node, selections }
}
