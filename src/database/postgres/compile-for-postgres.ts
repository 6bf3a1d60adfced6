import type {
  BinaryOperationNode,
  OperationNode,
  RootOperationNode,
  SelectAllNode,
  SelectQueryNode,
  ValueNode,
} from 'kysely'
import { CastNode, DataTypeNode, PostgresQueryCompiler, ReferenceNode, TableNode } from 'kysely'
import type { ColumnKind } from '../columns.ts'
import type { QueryScope } from '../merchant-scope.ts'
import type { Query } from '../query.ts'
import { isPlaceholder, noIndexMarker } from '../query-nodes.ts'
import { columnKindsByTable } from '../tables.ts'

/** If `name` is `null`, the parameter is the constant `value`. */
export type PostgresParameter = {
  readonly name: string | null
  readonly value: unknown
  readonly isList: boolean
  /**
   * `isCompared` is true if the value is compared with a column. If the column's type cannot represent a compared
   * value, no row matches.
   */
  readonly isCompared: boolean
}

export type PostgresStatement = {
  readonly sql: string
  readonly parameters: readonly PostgresParameter[]
  readonly scope: QueryScope
}

export function compileForPostgres({ node, scope }: Query): PostgresStatement {
  const compiler = new PostgresCompiler()
  const { sql, parameters } = compiler.compileQuery(node, { queryId: '' })
  const described = parameters.map((value, index) => {
    const { placeholder: name = null, isList = false } = isPlaceholder(value) ? value : {}
    return { name, value: name === null ? value : null, isList, isCompared: compiler.comparedParameters.has(index) }
  })
  return { sql, parameters: described, scope }
}

class PostgresCompiler extends PostgresQueryCompiler {
  readonly comparedParameters = new Set<number>()
  private rightOperand: OperationNode | null = null

  /** Binds a list as one array, so that one statement serves lists of any length. */
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { leftOperand, operator, rightOperand } = node
    const value = 'value' in rightOperand ? rightOperand.value : null
    this.rightOperand = rightOperand
    if (!isPlaceholder(value) || !value.isList) {
      super.visitBinaryOperation({
        ...node,
        leftOperand: castForComparison(rightOperand, leftOperand),
        rightOperand: castForComparison(leftOperand, rightOperand),
      })
      return
    }
    this.visitNode(leftOperand)
    this.append('operator' in operator && operator.operator === 'not in' ? ' <> all(' : ' = any(')
    this.visitNode(rightOperand)
    this.append(')')
  }

  protected override visitValue(node: ValueNode): void {
    // On PostgreSQL, `fullScanSettings` prevents index scans.
    if (node.value === noIndexMarker) return
    if (node === this.rightOperand) this.comparedParameters.add(this.numParameters)
    super.visitValue(node)
  }

  /**
   * Adds ORDER BY and LIMIT to each part of a UNION ALL, otherwise the server would sort all rows instead of using an
   * index.
   */
  protected override visitSelectQuery(node: SelectQueryNode): void {
    const { setOperations, orderBy, limit, offset, ...first } = node
    if (!setOperations || !orderBy || !limit) {
      super.visitSelectQuery(node)
      return
    }
    for (const [i, part] of [first, ...setOperations.map(({ expression }) => expression)].entries()) {
      this.append(i === 0 ? '(' : ' union all (')
      super.visitSelectQuery({ ...(part as SelectQueryNode), orderBy })
      this.append(' limit cast(')
      this.visitNode(limit.limit)
      this.append(' as bigint)')
      if (offset) {
        this.append(' + ')
        this.visitNode(offset.offset)
      }
      this.append(')')
    }
    for (const clause of [orderBy, limit, offset]) {
      if (!clause) continue
      this.append(' ')
      this.visitNode(clause)
    }
  }

  /** Lists the columns in `tables.ts` instead of `*`, because a table can have generated columns for foreign keys. */
  protected override visitSelectAll(node: SelectAllNode): void {
    const table = this.onlyTable()
    if (table === null) super.visitSelectAll(node)
    else this.appendColumns(table)
  }

  protected override visitReference(node: ReferenceNode): void {
    const table = node.table?.table.identifier.name ?? null
    if (node.column.kind === 'SelectAllNode' && table !== null && columnKindsByTable[table]) this.appendColumns(table)
    else super.visitReference(node)
  }

  private appendColumns(table: string): void {
    const columns = Object.keys(columnKindsByTable[table] ?? {})
    this.append(columns.map((column) => `"${table}"."${column}"`).join(', '))
  }

  private onlyTable(): string | null {
    const query = this.nodeStack.findLast(({ kind }) => kind.endsWith('QueryNode')) as EnclosingQuery | undefined
    if (!query || query.joins?.length) return null
    const tables = query.into ? [query.into] : query.table ? [query.table] : (query.from?.froms ?? [])
    const [table] = tables
    if (tables.length !== 1 || !table || !TableNode.is(table)) return null
    const { name } = table.table.identifier
    return columnKindsByTable[name] ? name : null
  }
}

/** Text ids of wallet accounts are wallet UUIDs, so a uuid is cast to text when it is compared with a text column. */
function castForComparison(other: OperationNode, operand: OperationNode): OperationNode {
  if (columnKindOf(operand) !== 'uuid' || columnKindOf(other) !== 'text') return operand
  return CastNode.create(operand, DataTypeNode.create('text'))
}

function columnKindOf(node: OperationNode): ColumnKind | null {
  if (!ReferenceNode.is(node) || node.column.kind !== 'ColumnNode') return null
  return columnKindsByTable[node.table?.table.identifier.name ?? '']?.[node.column.column.name] ?? null
}

type EnclosingQuery = RootOperationNode & {
  readonly into?: TableNode
  readonly table?: OperationNode
  readonly from?: { readonly froms: readonly OperationNode[] }
  readonly joins?: readonly OperationNode[]
}
