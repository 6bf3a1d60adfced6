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
import { camelCase, columnsInDatabase } from './tables.ts'

/** Whose rows a query touches: one merchant's (its parameter names which), everybody's, or only those that all share. */
export type Scope = 'merchant' | 'everyMerchant' | 'shared'

/** Tables that say of each row whose it is. */
export const ownedTables: readonly string[] = Object.keys(columnsInDatabase).filter(
  (table) => 'merchant_id' in (columnsInDatabase[table] ?? {}),
)

/** Those among them whose rows an engine itself keeps apart, where it can: the merchant comes first in them. */
const keptApart = ownedTables.filter((table) => Object.keys(columnsInDatabase[table] ?? {})[0] === 'merchant_id')

/**
 * The scope of a query, which it must say itself: it is across merchants, or each table of a merchant that it touches is held
 * to the parameter `merchantId`, by a condition or by what it inserts. So no query sees more or less because of another that
 * ran before it, and one that forgets its merchant is found when it is built, on whichever engine.
 *
 * @throws Error that names the tables whose merchant it leaves open
 */
export function scopeOf(query: RootOperationNode, { isAcrossMerchants }: { isAcrossMerchants: boolean }): Scope {
  const found: Found = { tables: new Set(), open: new Set() }
  lookInto(query, new Set([theMerchant]), found)
  if (isAcrossMerchants) return keptApart.some((table) => found.tables.has(table)) ? 'everyMerchant' : 'shared'
  if (found.open.size > 0) throw new Error(unsaid([...found.open].map(camelCase)))
  return found.tables.size > 0 ? 'merchant' : 'shared'
}

function unsaid(tables: readonly string[]): string {
  return `A query does not say whose rows of ${tables.join(' and ')} it is for: compare the merchantId of each with the parameter merchantId (or with that of a table where this is done; an insert gives it as the value), or build it with acrossMerchants(…).`
}

/** Tables that belong to merchants, and those of them that are not held to one. */
type Found = { readonly tables: Set<string>; readonly open: Set<string> }

/** Names by which a query calls its tables, and what else there is in it: the queries within, and SQL that nothing parsed. */
type Parts = { readonly names: Map<string, string>; readonly within: OperationNode[]; readonly raw: RawNode[] }

/** Stands among the names of tables for the parameter: whatever is equal to it is held to the merchant. */
const theMerchant = ':merchantId'

/** @param outer names of the queries around it that are held to the merchant */
function lookInto(query: OperationNode, outer: ReadonlySet<string>, found: Found): void {
  const parts: Parts = { names: new Map(), within: [], raw: [] }
  collect(query, parts, query)
  const held = heldIn(query, parts, outer)
  for (const [name, table] of parts.names) note(table, held.has(name), found)
  for (const fragment of parts.raw) lookIntoRaw(fragment, found)
  for (const each of parts.within) lookInto(each, held, found)
}

function note(table: string, isHeld: boolean, { tables, open }: Found): void {
  if (!ownedTables.includes(table)) return
  tables.add(table)
  if (!isHeld) open.add(table)
}

function collect(node: unknown, parts: Parts, query: OperationNode): void {
  if (typeof node !== 'object' || node === null || ReferenceNode.is(node as OperationNode)) return
  const each = node as OperationNode
  if (each !== query && String(each.kind).endsWith('QueryNode')) parts.within.push(each)
  else if (each.kind === 'RawNode') parts.raw.push(each as RawNode)
  else if (each.kind === 'TableNode') parts.names.set(tableName(each as TableNode), tableName(each as TableNode))
  else if (AliasNode.is(each) && TableNode.is(each.node) && IdentifierNode.is(each.alias)) {
    parts.names.set(each.alias.name, tableName(each.node))
  } else for (const part of Object.values(each)) collect(part, parts, query)
}

/**
 * SQL in text is not parsed, so it is only counted: it must bind the merchant, and compare `merchant_id` as often as it reads
 * a merchant's table.
 */
function lookIntoRaw(fragment: RawNode, found: Found): void {
  const { sql, parameters } = compiled(fragment)
  const read = ownedTablesIn(sql)
  const compared = sql.match(/\bmerchant_id"? *=/gi) ?? []
  const isHeld = parameters.some(isTheMerchant) && compared.length >= read.length
  for (const table of read) note(table, isHeld, found)
}

/** The tables that SQL in text reads which say of each row whose it is. */
export function ownedTablesIn(sql: string): string[] {
  return [...sql.matchAll(ownedInText)].map(([table]) => table.toLowerCase())
}

function compiled(fragment: RawNode) {
  return new SqliteQueryCompiler().compileQuery(fragment, { queryId: '' })
}

/** A table's name, but for where it stands before one of its columns. */
const ownedInText = new RegExp(`\\b(?:${ownedTables.join('|')})\\b(?!"?\\.)`, 'gi')

/** The names whose rows are the merchant's: what is equal to the merchant, and whatever is equal to that. */
function heldIn(query: OperationNode, parts: Parts, outer: ReadonlySet<string>): ReadonlySet<string> {
  const held = new Set([...outer].filter((name) => !parts.names.has(name)))
  if (isInsertOfTheMerchant(query)) for (const name of parts.names.keys()) held.add(name)
  const links = linksIn(query as SelectQueryNode, parts)
  for (let size = -1; size < held.size; ) {
    size = held.size
    for (const [one, other] of links) if (held.has(one)) held.add(other)
  }
  return held
}

/** If the first is the merchant's, so is the second. */
type Link = readonly [from: string, to: string]

function linksIn({ where, joins = [] }: Pick<SelectQueryNode, 'where' | 'joins'>, parts: Parts): Link[] {
  const links = where ? equalitiesIn(where.where, parts) : []
  for (const { joinType, table, on } of joins) {
    const found = on ? equalitiesIn(on.on, parts) : []
    if (joinType.endsWith('InnerJoin')) links.push(...found)
    // What is joined to rows that stay whatever it is like says nothing about these.
    if (joinType.endsWith('LeftJoin')) links.push(...found.filter(([, name]) => name === nameOf(table)))
  }
  return links
}

/** What must be equal for a condition to hold, both ways. */
function equalitiesIn(condition: OperationNode, parts: Parts): Link[] {
  return equalOperands(condition).flatMap(([left, right]) =>
    namesOf(left, parts).flatMap((one) =>
      namesOf(right, parts).flatMap((other): Link[] => [
        [one, other],
        [other, one],
      ]),
    ),
  )
}

/** The operands that must be equal for a condition to hold, in pairs. */
export function equalOperands(condition: OperationNode): [OperationNode, OperationNode][] {
  const each = partsOfAnd(condition)
  return each.some(isWayRound) ? [] : each.flatMap(equalIn)
}

function partsOfAnd(condition: OperationNode): OperationNode[] {
  return AndNode.is(condition) ? [condition.left, condition.right].flatMap(partsOfAnd) : [condition]
}

/** Whether a condition has an `or` without brackets: beside it no other condition must hold. */
function isWayRound(condition: OperationNode): boolean {
  if (!RawNode.is(condition)) return OrNode.is(condition)
  let { sql } = compiled(condition)
  for (let before = ''; before !== sql; ) {
    before = sql
    sql = sql.replace(/\([^()]*\)/g, '')
  }
  return /\bor\b/i.test(sql)
}

function equalIn(condition: OperationNode): [OperationNode, OperationNode][] {
  if (ParensNode.is(condition)) return equalOperands(condition.node)
  if (!BinaryOperationNode.is(condition)) return []
  const { leftOperand, operator, rightOperand } = condition
  return OperatorNode.is(operator) && operator.operator === '=' ? [[leftOperand, rightOperand]] : []
}

/** Whose merchant an operand is; a column without its table's name can be that of one only. */
function namesOf(operand: OperationNode, { names }: Parts): string[] {
  if (ValueNode.is(operand) && isTheMerchant(operand.value)) return [theMerchant]
  if (!ReferenceNode.is(operand) || !ColumnNode.is(operand.column)) return []
  if (operand.column.column.name !== 'merchant_id') return []
  return operand.table ? [tableName(operand.table)] : [...names.keys()]
}

/** Whether each row that is inserted, or changed in its place, is the merchant's. */
function isInsertOfTheMerchant(query: OperationNode): boolean {
  const { columns = [], values, onConflict } = query as InsertQueryNode
  if (query.kind !== 'InsertQueryNode' || !values || !ValuesNode.is(values)) return false
  // The row that is there already could be another's.
  if (onConflict?.updates && !onConflict.columns?.some(({ column }) => column.name === 'merchant_id')) return false
  const place = columns.findIndex(({ column }) => column.name === 'merchant_id')
  return values.values.every((row) => {
    const value = row.values[place]
    return isTheMerchant(ValueListNode.is(row) ? (value as ValueNode | undefined)?.value : value)
  })
}

function isTheMerchant(value: unknown): boolean {
  return isPlaceholder(value) && value.placeholder === 'merchantId' && !value.isList
}

function nameOf(source: OperationNode): string | null {
  if (AliasNode.is(source)) return IdentifierNode.is(source.alias) ? source.alias.name : null
  return TableNode.is(source) ? tableName(source) : null
}

function tableName({ table }: TableNode): string {
  return table.identifier.name
}
