import type { InsertQueryNode, OperationNode, RootOperationNode, SelectQueryNode } from 'kysely'
import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  IdentifierNode,
  OperatorNode,
  OrNode,
  ParensNode,
  RawNode,
  ReferenceNode,
  SqliteQueryCompiler,
  TableNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
} from 'kysely'
import { isPlaceholder } from './placeholder.ts'
import { camelCase, columnKindsByTable } from './tables.ts'

/** Whose rows a query touches: one merchant's (its parameter names which), everybody's, or only those that all share. */
export type QueryScope = 'merchant' | 'everyMerchant' | 'shared'

/** Tables that say of each row whose it is. */
export const merchantTables: readonly string[] = Object.keys(columnKindsByTable).filter(
  (table) => 'merchant_id' in (columnKindsByTable[table] ?? {}),
)

/** Those among them whose rows an engine itself keeps apart, where it can: the merchant comes first in them. */
const rowSecurityTables = merchantTables.filter(
  (table) => Object.keys(columnKindsByTable[table] ?? {})[0] === 'merchant_id',
)

/**
 * The scope of a query, which it must say itself: it is across merchants, or each table of a merchant that it touches is held
 * to the parameter `merchantId`, by a condition or by what it inserts. So no query sees more or less because of another that
 * ran before it, and one that forgets its merchant is found when it is built, on whichever engine.
 *
 * @throws Error that names the tables whose merchant it leaves open
 */
export function inferQueryScope(
  query: RootOperationNode,
  { isAcrossMerchants }: { isAcrossMerchants: boolean },
): QueryScope {
  const found: ScopeFindings = { tables: new Set(), unscoped: new Set() }
  analyzeQuery(query, new Set([merchantParam]), found)
  if (isAcrossMerchants) return rowSecurityTables.some((table) => found.tables.has(table)) ? 'everyMerchant' : 'shared'
  if (found.unscoped.size > 0) throw new Error(missingMerchantMessage([...found.unscoped].map(camelCase)))
  return found.tables.size > 0 ? 'merchant' : 'shared'
}

function missingMerchantMessage(tables: readonly string[]): string {
  return `A query does not say whose rows of ${tables.join(' and ')} it is for: compare the merchantId of each with the parameter merchantId (or with that of a table where this is done; an insert gives it as the value), or build it with acrossMerchants(…).`
}

/** Tables that belong to merchants, and those of them that are not held to one. */
type ScopeFindings = { readonly tables: Set<string>; readonly unscoped: Set<string> }

/** Names by which a query calls its tables, and what else there is in it: the queries within, and SQL that nothing parsed. */
type QueryParts = {
  readonly names: Map<string, string>
  readonly subqueries: OperationNode[]
  readonly rawFragments: RawNode[]
}

/** Stands among the names of tables for the parameter: whatever is equal to it is held to the merchant. */
const merchantParam = ':merchantId'

/** @param outer names of the queries around it that are held to the merchant */
function analyzeQuery(query: OperationNode, outer: ReadonlySet<string>, found: ScopeFindings): void {
  const parts: QueryParts = { names: new Map(), subqueries: [], rawFragments: [] }
  collectParts(query, parts, query)
  const held = scopedNamesIn(query, parts, outer)
  for (const [name, table] of parts.names) recordTable(table, held.has(name), found)
  for (const fragment of parts.rawFragments) analyzeRawSql(fragment, found)
  for (const each of parts.subqueries) analyzeQuery(each, held, found)
}

function recordTable(table: string, isHeld: boolean, { tables, unscoped: open }: ScopeFindings): void {
  if (!merchantTables.includes(table)) return
  tables.add(table)
  if (!isHeld) open.add(table)
}

function collectParts(node: unknown, parts: QueryParts, query: OperationNode): void {
  if (typeof node !== 'object' || node === null || ReferenceNode.is(node as OperationNode)) return
  const each = node as OperationNode
  if (each !== query && String(each.kind).endsWith('QueryNode')) parts.subqueries.push(each)
  else if (each.kind === 'RawNode') parts.rawFragments.push(each as RawNode)
  else if (each.kind === 'TableNode') parts.names.set(tableName(each as TableNode), tableName(each as TableNode))
  else if (AliasNode.is(each) && TableNode.is(each.node) && IdentifierNode.is(each.alias)) {
    parts.names.set(each.alias.name, tableName(each.node))
  } else for (const part of Object.values(each)) collectParts(part, parts, query)
}

/**
 * SQL in text is not parsed, so it is only counted: it must bind the merchant, and compare `merchant_id` as often as it reads
 * a merchant's table.
 */
function analyzeRawSql(fragment: RawNode, found: ScopeFindings): void {
  const { sql, parameters } = compileRaw(fragment)
  const read = merchantTablesIn(sql)
  const compared = sql.match(/\bmerchant_id"? *=/gi) ?? []
  const isHeld = parameters.some(isMerchantParam) && compared.length >= read.length
  for (const table of read) recordTable(table, isHeld, found)
}

/** The tables that SQL in text reads which say of each row whose it is. */
export function merchantTablesIn(sql: string): string[] {
  return [...sql.matchAll(merchantTablePattern)].map(([table]) => table.toLowerCase())
}

function compileRaw(fragment: RawNode) {
  return new SqliteQueryCompiler().compileQuery(fragment, { queryId: '' })
}

/** A table's name, but for where it stands before one of its columns. */
const merchantTablePattern = new RegExp(`\\b(?:${merchantTables.join('|')})\\b(?!"?\\.)`, 'gi')

/** The names whose rows are the merchant's: what is equal to the merchant, and whatever is equal to that. */
function scopedNamesIn(query: OperationNode, parts: QueryParts, outer: ReadonlySet<string>): ReadonlySet<string> {
  const held = new Set([...outer].filter((name) => !parts.names.has(name)))
  if (isMerchantInsert(query)) for (const name of parts.names.keys()) held.add(name)
  const links = scopeImplicationsIn(query as SelectQueryNode, parts)
  for (let size = -1; size < held.size; ) {
    size = held.size
    for (const [one, other] of links) if (held.has(one)) held.add(other)
  }
  return held
}

/** If the first is the merchant's, so is the second. */
type ScopeImplication = readonly [from: string, to: string]

function scopeImplicationsIn(
  { where, joins = [] }: Pick<SelectQueryNode, 'where' | 'joins'>,
  parts: QueryParts,
): ScopeImplication[] {
  const links = where ? equalityImplications(where.where, parts) : []
  for (const { joinType, table, on } of joins) {
    const found = on ? equalityImplications(on.on, parts) : []
    if (joinType.endsWith('InnerJoin')) links.push(...found)
    // What is joined to rows that stay whatever it is like says nothing about these.
    if (joinType.endsWith('LeftJoin')) links.push(...found.filter(([, name]) => name === sourceName(table)))
  }
  return links
}

/** What must be equal for a condition to hold, both ways. */
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

/** The operands that must be equal for a condition to hold, in pairs. */
export function equalOperands(condition: OperationNode): [OperationNode, OperationNode][] {
  const each = conjunctsOf(condition)
  return each.some(hasTopLevelOr) ? [] : each.flatMap(operandsOfEquality)
}

function conjunctsOf(condition: OperationNode): OperationNode[] {
  return AndNode.is(condition) ? [condition.left, condition.right].flatMap(conjunctsOf) : [condition]
}

/** Whether a condition has an `or` without brackets: beside it no other condition must hold. */
function hasTopLevelOr(condition: OperationNode): boolean {
  if (!RawNode.is(condition)) return OrNode.is(condition)
  let { sql } = compileRaw(condition)
  for (let before = ''; before !== sql; ) {
    before = sql
    sql = sql.replace(/\([^()]*\)/g, '')
  }
  return /\bor\b/i.test(sql)
}

function operandsOfEquality(condition: OperationNode): [OperationNode, OperationNode][] {
  if (ParensNode.is(condition)) return equalOperands(condition.node)
  if (!BinaryOperationNode.is(condition)) return []
  const { leftOperand, operator, rightOperand } = condition
  return OperatorNode.is(operator) && operator.operator === '=' ? [[leftOperand, rightOperand]] : []
}

/** Whose merchant an operand is; a column without its table's name can be that of one only. */
function scopeNamesOf(operand: OperationNode, { names }: QueryParts): string[] {
  if (ValueNode.is(operand) && isMerchantParam(operand.value)) return [merchantParam]
  if (!ReferenceNode.is(operand) || !ColumnNode.is(operand.column)) return []
  if (operand.column.column.name !== 'merchant_id') return []
  return operand.table ? [tableName(operand.table)] : [...names.keys()]
}

/** Whether each row that is inserted, or changed in its place, is the merchant's. */
function isMerchantInsert(query: OperationNode): boolean {
  const { columns = [], values, onConflict } = query as InsertQueryNode
  if (query.kind !== 'InsertQueryNode' || !values || !ValuesNode.is(values)) return false
  // The row that is there already could be another's.
  if (onConflict?.updates && !onConflict.columns?.some(({ column }) => column.name === 'merchant_id')) return false
  const place = columns.findIndex(({ column }) => column.name === 'merchant_id')
  return values.values.every((row) => {
    const value = row.values[place]
    return isMerchantParam(ValueListNode.is(row) ? (value as ValueNode | undefined)?.value : value)
  })
}

function isMerchantParam(value: unknown): boolean {
  return isPlaceholder(value) && value.placeholder === 'merchantId' && !value.isList
}

function sourceName(source: OperationNode): string | null {
  if (AliasNode.is(source)) return IdentifierNode.is(source.alias) ? source.alias.name : null
  return TableNode.is(source) ? tableName(source) : null
}

function tableName({ table }: TableNode): string {
  return table.identifier.name
}
