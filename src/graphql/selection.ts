import type { FieldNode, FragmentDefinitionNode, GraphQLResolveInfo, SelectionSetNode } from 'graphql'
import { Kind } from 'graphql'

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>

/** The names of the fields that are selected at any of these paths below a resolved field, such as `['edges', 'node']`. */
export function selectedAt(
  { fieldNodes, fragments }: GraphQLResolveInfo,
  paths: readonly (readonly string[])[],
): Set<string> {
  return new Set(
    paths.flatMap((path) =>
      path
        .reduce((nodes, name) => below(nodes, fragments).filter((field) => field.name.value === name), [...fieldNodes])
        .flatMap((node) => below([node], fragments).map((field) => field.name.value)),
    ),
  )
}

function below(nodes: readonly FieldNode[], fragments: Fragments): FieldNode[] {
  return nodes.flatMap(({ selectionSet }) => (selectionSet ? fieldsOf(selectionSet, fragments) : []))
}

/** The fields of a selection, through fragments of whatever type. */
function fieldsOf({ selections }: SelectionSetNode, fragments: Fragments): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return [selection]
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
    return inner ? fieldsOf(inner.selectionSet, fragments) : []
  })
}
