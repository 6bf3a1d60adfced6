import type { FieldNode, FragmentDefinitionNode, SelectionSetNode } from 'graphql'
import { Kind } from 'graphql'

/** What is selected in one place: fields by their names in the answer, in its order, and the fragments that are spread. */
export type MergedSelection = {
  readonly fields: ReadonlyMap<string, readonly FieldNode[]>
  readonly spread: ReadonlySet<string>
}

/** What several selections hold that are merged in one place; each fragment is taken once. */
export function mergeSelections(
  sets: readonly SelectionSetNode[],
  fragmentNamed: (name: string) => FragmentDefinitionNode | undefined,
): MergedSelection {
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
