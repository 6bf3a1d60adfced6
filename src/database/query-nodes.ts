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

/** If `isList` is true, the placeholder is the right side of `in`. */
export type Placeholder = { readonly placeholder: string; readonly isList: boolean }

export function placeholder(name: string): Placeholder {
  return { placeholder: name, isList: false }
}

export function isPlaceholder(value: unknown): value is Placeholder {
  return typeof value === 'object' && value !== null && 'placeholder' in value
}

/** The marker follows the name of a table that must be scanned without indexes. */
export const noIndexMarker = Symbol('no index')

export function tableNameOf(source: OperationNode): string | null {
  const table = AliasNode.is(source) ? source.node : source
  return TableNode.is(table) ? table.table.identifier.name : null
}

export function compileRaw(fragment: RawNode) {
  return new SqliteQueryCompiler().compileQuery(fragment, { queryId: '' })
}

/** Returns the pairs of operands that are equal whenever the condition is true. */
export function equalOperands(condition: OperationNode): [OperationNode, OperationNode][] {
  const conjuncts = conjunctsOf(condition)
  return conjuncts.some(hasTopLevelOr) ? [] : conjuncts.flatMap(operandsOfEquality)
}

function conjunctsOf(condition: OperationNode): OperationNode[] {
  return AndNode.is(condition) ? [condition.left, condition.right].flatMap(conjunctsOf) : [condition]
}

/** A condition with a top-level OR can be true although one side of the OR is false. */
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
