import type { OperationNode } from 'kysely'
import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  OperatorNode,
  OrNode,
  ParensNode,
  RawNode,
  SqliteQueryCompiler,
  TableNode,
} from 'kysely'

/** Takes the place of the parameter `name` in a query's tree; `isList` for the right side of `in`. */
export type Placeholder = { readonly placeholder: string; readonly isList: boolean }

export function placeholder(name: string): Placeholder {
  return { placeholder: name, isList: false }
}

export function isPlaceholder(value: unknown): value is Placeholder {
  return typeof value === 'object' && value !== null && 'placeholder' in value
}

/** Follows a table in a FROM clause that must be scanned without its indexes; each engine compiles it differently. */
export const noIndexMarker = Symbol('no index')

/** The name of a table, also of one with an alias; `null` for anything else, such as a subquery. */
export function tableNameOf(source: OperationNode): string | null {
  const table = AliasNode.is(source) ? source.node : source
  return TableNode.is(table) ? table.table.identifier.name : null
}

/** Returns the text and parameters of a fragment of raw SQL. */
export function compileRaw(fragment: RawNode) {
  return new SqliteQueryCompiler().compileQuery(fragment, { queryId: '' })
}

/** Returns the pairs of operands that must be equal whenever a condition holds. */
export function equalOperands(condition: OperationNode): [OperationNode, OperationNode][] {
  const conjuncts = conjunctsOf(condition)
  return conjuncts.some(hasTopLevelOr) ? [] : conjuncts.flatMap(operandsOfEquality)
}

function conjunctsOf(condition: OperationNode): OperationNode[] {
  return AndNode.is(condition) ? [condition.left, condition.right].flatMap(conjunctsOf) : [condition]
}

/** Whether a condition has an `or` outside of parentheses: if it does, none of its other parts needs to hold. */
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
