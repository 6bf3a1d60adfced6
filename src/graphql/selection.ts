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

/** What is selected in one place: fields by their names in the answer, in its order, and the fragments that are spread. */
export type Place = { readonly fields: ReadonlyMap<string, readonly FieldNode[]>; readonly spread: ReadonlySet<string> }

/** What several selections hold that are merged in one place; each fragment is taken once. */
export function placeOf(
  sets: readonly SelectionSetNode[],
  fragmentNamed: (name: string) => FragmentDefinitionNode | undefined,
): Place {
  const fields = new Map<string, FieldNode[]>()
  const spread = new Set<string>()
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value
        const known = fields.get(name)
        if (known) known.push(selection)
        else fields.set(name, [selection])
      } else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet)
      else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value)
        const fragment = fragmentNamed(selection.name.value)
        if (fragment) collect(fragment.selectionSet)
      }
    }
  }
  sets.forEach(collect)
  return { fields, spread }
}
