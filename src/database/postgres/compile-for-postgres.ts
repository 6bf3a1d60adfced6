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
import { isPlaceholder } from '../placeholder.ts'
import type { Query } from '../query.ts'
import { noIndexMarker } from '../query.ts'
import { columnKindsByTable } from '../tables.ts'

/** What is bound in one place: the parameter `name`, or where that is `null`, `value` itself. */
export type PostgresParameter = {
  readonly name: string | null
  readonly value: unknown
  readonly isList: boolean
  /** Whether it is only held against a column: then one that the column's type can't hold matches nothing. */
  readonly isCompared: boolean
}

/** A query's text for PostgreSQL. */
export type PostgresStatement = {
  readonly sql: string
  readonly parameters: readonly PostgresParameter[]
  readonly scope: QueryScope
}

/** Compiles a query for PostgreSQL. */
export function compileForPostgres({ node, scope }: Query): PostgresStatement {
  const compiler = new PostgresCompiler()
  const { sql, parameters } = compiler.compileQuery(node, { queryId: '' })
  const placed = parameters.map((value, place) => {
    const { placeholder: name = null, isList = false } = isPlaceholder(value) ? value : {}
    return { name, value: name === null ? value : null, isList, isCompared: compiler.comparedParameters.has(place) }
  })
  return { sql, parameters: placed, scope }
}

class PostgresCompiler extends PostgresQueryCompiler {
  /** Places of parameters that stand on the right side of a comparison. */
  readonly comparedParameters = new Set<number>()
  private rightOperand: OperationNode | null = null

  /** A list is bound as one array, so that one statement serves a list of any length. */
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
    // Said of the whole transaction; see postgres-connection.ts.
    if (node.value === noIndexMarker) return
    if (node === this.rightOperand) this.comparedParameters.add(this.numParameters)
    super.visitValue(node)
  }

  /**
   * What is merged in an order has each of its parts in that order, and no longer than the whole. Only so the server sees that
   * an index gives it, and reads a few rows of each; else it reads all rows of every part, and sorts them.
   */
  protected override visitSelectQuery(node: SelectQueryNode): void {
    const { setOperations, orderBy, limit, offset, ...first } = node
    if (!setOperations || !orderBy || !limit) {
      super.visitSelectQuery(node)
      return
    }
    for (const [place, part] of [first, ...setOperations.map(({ expression }) => expression)].entries()) {
      this.append(place === 0 ? '(' : ' union all (')
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
    for (const end of [orderBy, limit, offset]) {
      if (!end) continue
      this.append(' ')
      this.visitNode(end)
    }
  }

  /** All columns are named: those of tables.ts, whatever else a later version or this engine keeps in the table. */
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

  /** The table that an unqualified `*` is about, or `null` where it is about something that is no table of ours. */
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

/** An account's id is text, and a wallet's account has the wallet's own id: held against text, a uuid becomes text. */
function castForComparison(other: OperationNode, operand: OperationNode): OperationNode {
  if (columnKindOf(operand) !== 'uuid' || columnKindOf(other) !== 'text') return operand
  return CastNode.create(operand, DataTypeNode.create('text'))
}

function columnKindOf(node: OperationNode): ColumnKind | null {
  if (!ReferenceNode.is(node) || node.column.kind !== 'ColumnNode') return null
  return columnKindsByTable[node.table?.table.identifier.name ?? '']?.[node.column.column.name] ?? null
}

/** What of the queries' nodes tells their table: `into` of an insert, `table` of an update, `from` of a select or delete. */
type EnclosingQuery = RootOperationNode & {
  readonly into?: TableNode
  readonly table?: OperationNode
  readonly from?: { readonly froms: readonly OperationNode[] }
  readonly joins?: readonly OperationNode[]
}
