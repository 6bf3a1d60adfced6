import type {
  FragmentDefinitionNode,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { getNamedType, getNullableType, isAbstractType, isCompositeType, isListType, isObjectType, Kind } from 'graphql'
import type { Narrowing } from '../database/narrow.ts'
import { columnsAmong } from '../database/narrow.ts'
import type { TableName } from '../database/tables.ts'

/** Columns that tell a row from others, and those by which lists put their rows in order and tell whose they are. */
const ofEach = ['id', 'type']
const ofLists = ['merchantId', 'sequence', 'ownerSequence', 'ownerId', 'customerId', 'walletId']

/**
 * The columns that an operation's fields need of the rows of each table, wherever in it they are selected.
 *
 * A type whose objects are rows says so in its extension `table`, a field what it reads of them in `columns`; for one
 * that says nothing whole rows are read.
 */
export function columnsOf(
  schema: GraphQLSchema,
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): Narrowing {
  const wanted = new Map<TableName, Set<string> | null>()
  for (const type of Object.values(schema.getTypeMap())) {
    const table = tableOf(type)
    if (table) wanted.set(table, new Set(ofEach))
  }

  const visit = (set: SelectionSetNode, type: GraphQLNamedType | undefined): void => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        for (const parent of objectsOf(type)) {
          const field = parent.getFields()[selection.name.value]
          if (!field) continue
          want(tableOf(parent), columnsIn(field.extensions))
          for (const item of itemsOf(field.type)) want(tableOf(item), ofLists)
          if (selection.selectionSet) visit(selection.selectionSet, getNamedType(field.type))
        }
        continue
      }
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
      const condition = inner?.typeCondition && schema.getType(inner.typeCondition.name.value)
      if (inner) visit(inner.selectionSet, condition ?? type)
    }
  }
  const want = (table: TableName | null, columns: readonly string[] | null) => {
    if (table === null) return
    const known = wanted.get(table)
    if (columns === null) wanted.set(table, null)
    else for (const column of columns) known?.add(column)
  }
  /** The types of what a field lists, itself or as a connection. */
  const itemsOf = (type: GraphQLOutputType): readonly GraphQLObjectType[] => {
    const named = getNamedType(type)
    if (isListType(getNullableType(type))) return objectsOf(named)
    const nodes = isObjectType(named) && named.name.endsWith('Connection') ? named.getFields().nodes : undefined
    return nodes ? objectsOf(getNamedType(nodes.type)) : []
  }
  const objectsOf = (type: GraphQLNamedType | undefined): readonly GraphQLObjectType[] =>
    isObjectType(type) ? [type] : isCompositeType(type) && isAbstractType(type) ? schema.getPossibleTypes(type) : []

  visit(selectionSet, schema.getRootType(operation) ?? undefined)
  return Object.fromEntries(
    [...wanted].flatMap(([table, columns]) => (columns === null ? [] : [[table, columnsAmong(table, columns)]])),
  )
}

function tableOf({ extensions }: GraphQLNamedType): TableName | null {
  return (extensions.table as TableName | undefined) ?? null
}

/** `null` for a field that may read anything. */
function columnsIn({ columns }: Readonly<Record<string, unknown>>): readonly string[] | null {
  return (columns as readonly string[] | null | undefined) ?? null
}
