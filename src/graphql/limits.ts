import type { DocumentNode, FragmentDefinitionNode, OperationDefinitionNode, SelectionSetNode } from 'graphql'
import { Kind } from 'graphql'

/** What one document may hold; each is several times what GraphiQL and large front ends send. */
export const limits = {
  characters: 10_000,
  tokens: 1_000,
  depth: 12,
  aliases: 30,
  directives: 50,
  /** Fields after every fragment is written out where it is spread. */
  fields: 1_000,
  /** Fields times the sizes of the lists that they are in; see `cost.ts`. */
  cost: 10_000,
  /** Lists within lists that a look at the schema itself may hold. */
  introspectionLists: 3,
} as const

/**
 * Why a parsed document is too much to look at any closer; `null` when it isn't.
 *
 * It takes time linear in the document, because a fragment is measured once however often it is spread: rules that come
 * after it, and execution, take exponential time for a few lines of nested fragments.
 */
export function excessOf(document: DocumentNode): string | null {
  const fragments = new Map<string, FragmentDefinitionNode>()
  const operations: OperationDefinitionNode[] = []
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
    else if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition)
    else return 'A document may hold operations and fragments only.'
  }
  const measure = measurer(fragments)
  for (const { selectionSet, directives } of operations) {
    const size = measure(selectionSet)
    if (size === 'circular') return 'Fragments must not spread one another in a circle.'
    const excess = [
      atMost('fields', size.fields),
      atMost('aliases', size.aliases),
      atMost('directives', size.directives + (directives?.length ?? 0)),
      atMost('introspectionLists', size.introspectionLists),
      size.depth > limits.depth ? `A query may be at most ${limits.depth} levels deep.` : null,
    ].find((sentence) => sentence !== null)
    if (excess) return excess
  }
  return null
}

type Size = {
  readonly fields: number
  readonly aliases: number
  readonly directives: number
  readonly depth: number
  readonly introspectionLists: number
}

const nothing: Size = { fields: 0, aliases: 0, directives: 0, depth: 0, introspectionLists: 0 }

/** Lists of the schema's own types, each of which leads to others that have such lists. */
const introspectionLists = new Set(['types', 'fields', 'interfaces', 'possibleTypes', 'inputFields', 'args'])

function measurer(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, Size>()
  const open = new Set<string>()

  function measureFragment(name: string): Size | 'circular' {
    const fragment = fragments.get(name)
    // One that is not there is for validation to report.
    if (!fragment) return nothing
    if (open.has(name)) return 'circular'
    const earlier = known.get(name)
    if (earlier) return earlier
    open.add(name)
    const size = measure(fragment.selectionSet)
    open.delete(name)
    if (size !== 'circular') known.set(name, size)
    return size
  }

  function measure({ selections }: SelectionSetNode): Size | 'circular' {
    let sum = nothing
    for (const selection of selections) {
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? measureFragment(selection.name.value)
          : selection.selectionSet
            ? measure(selection.selectionSet)
            : nothing
      if (inner === 'circular') return inner
      sum = add(
        sum,
        selection.kind === Kind.FIELD ? withField(inner, selection) : inner,
        selection.directives?.length ?? 0,
      )
    }
    return sum
  }
  return measure
}

function withField(inner: Size, field: { name: { value: string }; alias?: unknown }): Size {
  const name = field.name.value
  // Introspection is deep by nature; what it may cost is bounded by its nested lists instead.
  const isIntrospection = name.startsWith('__')
  return {
    fields: inner.fields + 1,
    aliases: inner.aliases + (field.alias ? 1 : 0),
    directives: inner.directives,
    depth: isIntrospection ? 1 : inner.depth + 1,
    introspectionLists: inner.introspectionLists + (introspectionLists.has(name) ? 1 : 0),
  }
}

function add(sum: Size, each: Size, directives: number): Size {
  return {
    fields: sum.fields + each.fields,
    aliases: sum.aliases + each.aliases,
    directives: sum.directives + each.directives + directives,
    depth: Math.max(sum.depth, each.depth),
    introspectionLists: Math.max(sum.introspectionLists, each.introspectionLists),
  }
}

function atMost(what: 'fields' | 'aliases' | 'directives' | 'introspectionLists', count: number): string | null {
  if (count <= limits[what]) return null
  return what === 'introspectionLists'
    ? `A look at the schema may nest at most ${limits[what]} lists.`
    : `A query may hold at most ${limits[what]} ${what}, with each fragment counted wherever it is spread.`
}
