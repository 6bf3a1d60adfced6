import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { Kind } from 'graphql'
import { mergeSelections } from '../plan/selection.ts'

/** Queries of GraphiQL and of large front ends stay far below each limit. */
export const limits = {
  characters: 10_000,
  tokens: 1_000,
  operations: 50,
  depth: 12,
  aliases: 30,
  /** The response repeats a field's alias for each item of a list. */
  aliasLength: 100,
  directives: 50,
  /**
   * The maximum number of fields in all operations of a document. A fragment's fields count each time the fragment is
   * spread.
   */
  fields: 1_000,
  /**
   * Validation compares each pair of fields with the same response name and position, and each pair of fragments in the
   * same position.
   */
  pairs: 3_000,
  /** The maximum number of values in the variables, including nested values. */
  values: 5_000,
  cost: 10_000,
  /** The maximum depth of nested lists in introspection queries. */
  introspectionLists: 3,
  /** An alias would repeat an introspection list, and no tool uses aliases in introspection queries. */
  introspectionAliases: 0,
} as const

/**
 * Returns null if the document exceeds no limit. Takes linear time, because each fragment is measured once. Without
 * this check, a few lines of nested fragments would make validation and execution take exponential time.
 */
export function exceededDocumentLimit(document: DocumentNode): string | null {
  const fragments = new Map<string, FragmentDefinitionNode>()
  const operations: OperationDefinitionNode[] = []
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
    else if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition)
  }
  if (operations.length > limits.operations) return `A document may have at most ${limits.operations} operations.`
  const measure = createMeasurer(fragments)
  let fields = 0
  for (const { selectionSet, directives } of operations) {
    const inner = measure(selectionSet)
    if (inner === 'circular') return 'Fragments must not form a cycle.'
    fields += inner.fields
    const size = { ...inner, fields, directives: inner.directives + (directives?.length ?? 0) }
    const exceeded = measuredLimits.find((each) => size[each] > limits[each])
    if (exceeded) return limitMessages[exceeded]
  }
  return null
}

/** Returns null if validation will be fast enough (see `limits.pairs`). */
export function exceededPairLimit({ definitions }: DocumentNode): string | null {
  const fragments = new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  )
  let pairs = 0
  const countPairs = (count: number) => {
    pairs += (count * (count - 1)) / 2
  }
  const visitSelections = (sets: readonly SelectionSetNode[]): void => {
    const { fields, spread } = mergeSelections(sets, (name) => fragments.get(name))
    countPairs(spread.size)
    for (const nodes of fields.values()) {
      countPairs(nodes.length)
      visitSelections(nodes.flatMap(({ selectionSet }) => selectionSet ?? []))
    }
  }
  for (const each of definitions) {
    if (each.kind === Kind.OPERATION_DEFINITION) visitSelections([each.selectionSet])
  }
  return pairs > limits.pairs
    ? `The query selects the same fields too often: at most ${limits.pairs} pairs of fields, or of fragments, may share one position.`
    : null
}

/** Returns null if the variables exceed no limit. Uses a loop, because recursion could overflow the stack. */
export function exceededVariableLimit(variables: Readonly<Record<string, unknown>>): string | null {
  const stack: unknown[] = [variables]
  let count = 0
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner = Object.values(value)
    count += inner.length
    if (count > limits.values) return `The variables may contain at most ${limits.values} values, at any depth.`
    stack.push(...inner)
  }
  return null
}

const fragmentCountNote = 'counting each fragment wherever it is spread'

const limitMessages = {
  fields: `A document may have at most ${limits.fields} fields, ${fragmentCountNote}.`,
  aliases: `A query may have at most ${limits.aliases} aliases, ${fragmentCountNote}.`,
  aliasLength: `An alias may have at most ${limits.aliasLength} characters.`,
  directives: `A query may have at most ${limits.directives} directives, ${fragmentCountNote}.`,
  introspectionLists: `Introspection may nest at most ${limits.introspectionLists} lists.`,
  introspectionAliases: 'Introspection must not use aliases.',
  depth: `A query may be at most ${limits.depth} levels deep.`,
}
const measuredLimits = Object.keys(limitMessages) as (keyof typeof limitMessages)[]

type SelectionSize = Readonly<Record<keyof typeof limitMessages, number>>

const emptySize: SelectionSize = {
  fields: 0,
  aliases: 0,
  aliasLength: 0,
  directives: 0,
  introspectionLists: 0,
  introspectionAliases: 0,
  depth: 0,
}

const introspectionLists = new Set(['types', 'fields', 'interfaces', 'possibleTypes', 'inputFields', 'args'])

function createMeasurer(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const sizes = new Map<string, SelectionSize | 'circular'>()

  function measureFragment(name: string): SelectionSize | 'circular' {
    const fragment = fragments.get(name)
    // Validation reports a fragment that does not exist.
    if (!fragment) return emptySize
    const known = sizes.get(name)
    if (known) return known
    // If a fragment is spread while the fragment is being measured, the fragment contains itself.
    sizes.set(name, 'circular')
    const size = measure(fragment.selectionSet)
    sizes.set(name, size)
    return size
  }

  function measure({ selections }: SelectionSetNode): SelectionSize | 'circular' {
    let sum = emptySize
    for (const selection of selections) {
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? measureFragment(selection.name.value)
          : selection.selectionSet
            ? measure(selection.selectionSet)
            : emptySize
      if (inner === 'circular') return inner
      sum = addSizes(
        sum,
        selection.kind === Kind.FIELD ? withField(inner, selection) : inner,
        selection.directives?.length ?? 0,
      )
    }
    return sum
  }
  return measure
}

function withField(inner: SelectionSize, { name: { value: name }, alias }: FieldNode): SelectionSize {
  // Introspection queries nest fields deeply, so only the nesting of introspection lists is limited.
  const isIntrospection = name.startsWith('__')
  const isSchema = name === '__schema'
  return {
    fields: inner.fields + 1,
    // Relay's compiler adds the alias `__isNode: __typename` to fragments on interfaces and unions.
    aliases: inner.aliases + (alias && !alias.value.startsWith('__is') ? 1 : 0),
    aliasLength: Math.max(inner.aliasLength, alias?.value.length ?? 0),
    directives: inner.directives,
    introspectionLists: inner.introspectionLists + (introspectionLists.has(name) ? 1 : 0),
    introspectionAliases: isIntrospection ? inner.aliases + (isSchema && alias ? 1 : 0) : inner.introspectionAliases,
    depth: isIntrospection ? 1 : inner.depth + 1,
  }
}

function addSizes(sum: SelectionSize, next: SelectionSize, directives: number): SelectionSize {
  return {
    fields: sum.fields + next.fields,
    aliases: sum.aliases + next.aliases,
    aliasLength: Math.max(sum.aliasLength, next.aliasLength),
    directives: sum.directives + next.directives + directives,
    introspectionLists: Math.max(sum.introspectionLists, next.introspectionLists),
    introspectionAliases: sum.introspectionAliases + next.introspectionAliases,
    depth: Math.max(sum.depth, next.depth),
  }
}
