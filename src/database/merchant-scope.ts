import type { InsertQueryNode, OperationNode, RootOperationNode, SelectQueryNode, TableNode } from 'kysely'
import {
  AliasNode,
  ColumnNode,
  IdentifierNode,
  type RawNode,
  ReferenceNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from 'kysely'
import { compileRaw, equalOperands, isPlaceholder, tableNameOf } from './query-nodes.ts'
import { camelCase, columnKindsByTable } from './tables.ts'

export type QueryScope = 'merchant' | 'everyMerchant' | 'shared'

export const merchantTables: readonly string[] = Object.keys(columnKindsByTable).filter(
  (table) => 'merchant_id' in (columnKindsByTable[table] ?? {}),
)

const rowSecurityTables = merchantTables.filter(
  (table) => Object.keys(columnKindsByTable[table] ?? {})[0] === 'merchant_id',
)

/**
 * Determines the scope of a query when the query is built. The query must restrict every table of merchants to the
 * parameter `merchantId`, by a condition or an inserted value.
 *
 * @throws Error with the unrestricted tables
 */
export function inferQueryScope(
  query: RootOperationNode,
  { isAcrossMerchants }: { isAcrossMerchants: boolean },
): QueryScope {
  const findings: ScopeFindings = { tables: new Set(), unscoped: new Set() }
  analyzeQuery(query, new Set([merchantParam]), findings)
  const { tables, unscoped } = findings
  if (isAcrossMerchants) return rowSecurityTables.some((table) => tables.has(table)) ? 'everyMerchant' : 'shared'
  if (unscoped.size > 0) throw new Error(missingMerchantMessage([...unscoped].map(camelCase)))
  return tables.size > 0 ? 'merchant' : 'shared'
}

function missingMerchantMessage(tables: readonly string[]): string {
  return `A query does not restrict ${tables.join(' and ')} to one merchant. Compare the merchantId of each with the parameter merchantId (or with the merchantId of a restricted table; an insert takes it as the value), or build the query with acrossMerchants(…).`
}

type ScopeFindings = { readonly tables: Set<string>; readonly unscoped: Set<string> }

type QueryParts = {
  readonly names: Map<string, string>
  readonly subqueries: OperationNode[]
  readonly rawFragments: RawNode[]
}

const merchantParam = ':merchantId'

/** @param outerNames restricted tables of the enclosing queries */
function analyzeQuery(query: OperationNode, outerNames: ReadonlySet<string>, findings: ScopeFindings): void {
  const parts: QueryParts = { names: new Map(), subqueries: [], rawFragments: [] }
  collectParts(query, parts, query)
  const scopedNames = scopedNamesIn(query, parts, outerNames)
  for (const [name, table] of parts.names) recordTable(table, scopedNames.has(name), findings)
  for (const fragment of parts.rawFragments) analyzeRawSql(fragment, findings)
  for (const subquery of parts.subqueries) analyzeQuery(subquery, scopedNames, findings)
}

function recordTable(table: string, isScoped: boolean, { tables, unscoped }: ScopeFindings): void {
  if (!merchantTables.includes(table)) return
  tables.add(table)
  if (!isScoped) unscoped.add(table)
}

function collectParts(value: unknown, parts: QueryParts, query: OperationNode): void {
  if (typeof value !== 'object' || value === null || ReferenceNode.is(value as OperationNode)) return
  const node = value as OperationNode
  if (node !== query && String(node.kind).endsWith('QueryNode')) parts.subqueries.push(node)
  else if (node.kind === 'RawNode') parts.rawFragments.push(node as RawNode)
  else if (node.kind === 'TableNode') parts.names.set(tableName(node as TableNode), tableName(node as TableNode))
  else if (AliasNode.is(node) && IdentifierNode.is(node.alias) && tableNameOf(node) !== null) {
    parts.names.set(node.alias.name, tableNameOf(node) as string)
  } else for (const part of Object.values(node)) collectParts(part, parts, query)
}

/**
 * Raw SQL is not parsed. A fragment of raw SQL must bind the parameter `merchantId`, and must compare `merchant_id` at
 * least once for each table of merchants.
 */
function analyzeRawSql(fragment: RawNode, findings: ScopeFindings): void {
  const { sql, parameters } = compileRaw(fragment)
  const tables = merchantTablesIn(sql)
  const comparisons = sql.match(/\bmerchant_id"? *=/gi) ?? []
  const isScoped = parameters.some(isMerchantParam) && comparisons.length >= tables.length
  for (const table of tables) recordTable(table, isScoped, findings)
}

export function merchantTablesIn(sql: string): string[] {
  return [...sql.matchAll(merchantTablePattern)].map(([table]) => table.toLowerCase())
}

/** The pattern ignores a table name before a dot, because the name qualifies a column. */
const merchantTablePattern = new RegExp(`\\b(?:${merchantTables.join('|')})\\b(?!"?\\.)`, 'gi')

/**
 * Returns the tables that are restricted to the merchant. A restricted table's `merchant_id` is compared with the
 * parameter, or with the `merchant_id` of another restricted table.
 */
function scopedNamesIn(query: OperationNode, parts: QueryParts, outerNames: ReadonlySet<string>): ReadonlySet<string> {
  const scoped = new Set([...outerNames].filter((name) => !parts.names.has(name)))
  if (isMerchantInsert(query)) for (const name of parts.names.keys()) scoped.add(name)
  const implications = scopeImplicationsIn(query as SelectQueryNode, parts)
  for (let size = -1; size < scoped.size; ) {
    size = scoped.size
    for (const [from, to] of implications) if (scoped.has(from)) scoped.add(to)
  }
  return scoped
}

/** If the table `from` is restricted to the merchant, the table `to` is also restricted. */
type ScopeImplication = readonly [from: string, to: string]

function scopeImplicationsIn(
  { where, joins = [] }: Pick<SelectQueryNode, 'where' | 'joins'>,
  parts: QueryParts,
): ScopeImplication[] {
  const implications = where ? equalityImplications(where.where, parts) : []
  for (const { joinType, table, on } of joins) {
    const inJoin = on ? equalityImplications(on.on, parts) : []
    if (joinType.endsWith('InnerJoin')) implications.push(...inJoin)
    // A left join keeps all rows of the left table, so the join condition restricts only the joined table.
    if (joinType.endsWith('LeftJoin')) implications.push(...inJoin.filter(([, to]) => to === sourceName(table)))
  }
  return implications
}

function equalityImplications(condition: OperationNode, parts: QueryParts): ScopeImplication[] {
  return equalOperands(condition).flatMap(([left, right]) =>
    scopeNamesOf(left, parts).flatMap((one) =>
      scopeNamesOf(right, parts).flatMap((other): ScopeImplication[] => [
        [one, other],
        [other, one],
      ]),
    ),
  )
}

/** An unqualified `merchant_id` belongs to the only table with this column, because SQL rejects ambiguous columns. */
function scopeNamesOf(operand: OperationNode, { names }: QueryParts): string[] {
  if (ValueNode.is(operand) && isMerchantParam(operand.value)) return [merchantParam]
  if (!ReferenceNode.is(operand) || !ColumnNode.is(operand.column)) return []
  if (operand.column.column.name !== 'merchant_id') return []
  return operand.table ? [tableName(operand.table)] : [...names.keys()]
}

function isMerchantInsert(query: OperationNode): boolean {
  const { columns = [], values, onConflict } = query as InsertQueryNode
  if (query.kind !== 'InsertQueryNode' || !values || !ValuesNode.is(values)) return false
  // A conflict key without `merchant_id` could find, and then update, another merchant's row.
  if (onConflict?.updates && !onConflict.columns?.some(({ column }) => column.name === 'merchant_id')) return false
  const index = columns.findIndex(({ column }) => column.name === 'merchant_id')
  return values.values.every((row) => {
    const value = row.values[index]
    return isMerchantParam(ValueListNode.is(row) ? (value as ValueNode | undefined)?.value : value)
  })
}

function isMerchantParam(value: unknown): boolean {
  return isPlaceholder(value) && value.placeholder === 'merchantId' && !value.isList
}

function sourceName(source: OperationNode): string | null {
  if (AliasNode.is(source)) return IdentifierNode.is(source.alias) ? source.alias.name : null
  return tableNameOf(source)
}

function tableName({ table }: TableNode): string {
  return table.identifier.name
}
