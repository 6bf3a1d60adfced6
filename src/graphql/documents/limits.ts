import type {
  DocumentNode,
  FieldNode,
  FragmentDefinitionNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { Kind } from 'graphql'
import { mergeSelections } from '../plan/selection.ts'

/** What one request may hold; each is several times what GraphiQL and large front ends send. */
export const limits = {
  characters: 10_000,
  tokens: 1_000,
  operations: 50,
  depth: 12,
  aliases: 30,
  /** Characters of one alias: it is repeated in the answer for each item of a list. */
  aliasLength: 100,
  directives: 50,
  /** Fields after every fragment is written out where it is spread, of all operations together: each is looked at. */
  fields: 1_000,
  /** Pairs of fields of one name, and of fragments, that meet in one place: validation compares each with each. */
  pairs: 3_000,
  /** Values within the variables, at any depth. */
  values: 5_000,
  /** What the operation costs; see `cost.ts`. */
  cost: 10_000,
  /** Lists within lists that a look at the schema itself may hold. */
  introspectionLists: 3,
  /** Aliases in such a look, which would fetch those lists several times; no tool uses any. */
  introspectionAliases: 0,
} as const

/**
 * Why a parsed document is too much to look at any closer; `null` when it isn't.
 *
 * It takes time linear in the document, because a fragment is measured once however often it is spread: rules that come
 * after it, and execution, take exponential time for a few lines of nested fragments.
 */
export function exceededDocumentLimit(document: DocumentNode): string | null {
  const fragments = new Map<string, FragmentDefinitionNode>()
  const operations: OperationDefinitionNode[] = []
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
    else if (definition.kind === Kind.OPERATION_DEFINITION) operations.push(definition)
  }
  if (operations.length > limits.operations) return `A document may hold at most ${limits.operations} operations.`
  const measure = createMeasurer(fragments)
  let fields = 0
  for (const { selectionSet, directives } of operations) {
    const inner = measure(selectionSet)
    if (inner === 'circular') return 'Fragments must not spread one another in a circle.'
    fields += inner.fields
    const size = { ...inner, fields, directives: inner.directives + (directives?.length ?? 0) }
    const exceeded = measuredLimits.find((each) => size[each] > limits[each])
    if (exceeded) return limitMessages[exceeded]
  }
  return null
}

/**
 * Why a document of permitted size repeats itself too much to be validated; `null` when it doesn't.
 *
 * Fields of one name in one place are merged, and validation takes time by the square of their number to see whether they can
 * be. It stops as soon as there are too many, and each place holds each fragment once, so it looks at no more than the
 * fields of the document with every fragment written out.
 */
export function exceededPairLimit({ definitions }: DocumentNode): string | null {
  const fragments = new Map(
    definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  )
  let left: number = limits.pairs
  const countPairs = (count: number) => {
    left -= (count * (count - 1)) / 2
  }
  const visitSelections = (sets: readonly SelectionSetNode[]): void => {
    const { fields, spread } = mergeSelections(sets, (name) => fragments.get(name))
    countPairs(spread.size)
    for (const nodes of fields.values()) countPairs(nodes.length)
    for (const nodes of fields.values()) {
      if (left < 0) return
      const inner = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
      if (inner.length > 0) visitSelections(inner)
    }
  }
  for (const each of definitions) {
    if (each.kind === Kind.OPERATION_DEFINITION && left >= 0) visitSelections([each.selectionSet])
  }
  return left < 0
    ? `A query may not select the same fields so often: at most ${limits.pairs} pairs of them, or of fragments, may meet in one place.`
    : null
}

/** Why the variables are too much to look at any closer; `null` when they aren't. A depth of any size is no matter. */
export function exceededVariableLimit(variables: Readonly<Record<string, unknown>>): string | null {
  const open: unknown[] = [variables]
  let count = 0
  while (open.length > 0) {
    const value = open.pop()
    if (typeof value !== 'object' || value === null) continue
    const inner = Object.values(value)
    count += inner.length
    if (count > limits.values) return `The variables may hold at most ${limits.values} values, at any depth.`
    open.push(...inner)
  }
  return null
}

const fragmentCountNote = 'with each fragment counted wherever it is spread'

const limitMessages = {
  fields: `A document may hold at most ${limits.fields} fields, ${fragmentCountNote}.`,
  aliases: `A query may hold at most ${limits.aliases} aliases, ${fragmentCountNote}.`,
  aliasLength: `An alias may have at most ${limits.aliasLength} characters.`,
  directives: `A query may hold at most ${limits.directives} directives, ${fragmentCountNote}.`,
  introspectionLists: `A look at the schema may nest at most ${limits.introspectionLists} lists.`,
  introspectionAliases: 'A look at the schema may hold no aliases.',
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

/** Lists of the schema's own types, each of which leads to others that have such lists. */
const introspectionLists = new Set(['types', 'fields', 'interfaces', 'possibleTypes', 'inputFields', 'args'])

function createMeasurer(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, SelectionSize>()
  const open = new Set<string>()

  function measureFragment(name: string): SelectionSize | 'circular' {
    const fragment = fragments.get(name)
    // One that is not there is for validation to report.
    if (!fragment) return emptySize
    if (open.has(name)) return 'circular'
    const earlier = known.get(name)
    if (earlier) return earlier
    open.add(name)
    const size = measure(fragment.selectionSet)
    open.delete(name)
    if (size !== 'circular') known.set(name, size)
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
  // Introspection is deep by nature; what it may cost is bounded by its nested lists instead.
  const isIntrospection = name.startsWith('__')
  const isSchema = name === '__schema'
  return {
    fields: inner.fields + 1,
    // Relay's compiler writes `__isNode: __typename` into each fragment on an interface or union.
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
