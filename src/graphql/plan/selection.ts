import type {
  ASTNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLField,
  GraphQLObjectType,
  GraphQLSchema,
  InlineFragmentNode,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
  VariableValues,
} from 'graphql'
import { BREAK, getArgumentValues, isAbstractType, Kind, visit } from 'graphql'

export type Fragments = Readonly<Record<string, FragmentDefinitionNode>>

/** `conditions` are the values of the variables in `@skip` and `@include`. */
export type SelectionContext = {
  readonly schema: GraphQLSchema
  readonly fragments: Fragments
  readonly conditions: Readonly<Record<string, unknown>>
}

/** `fields` are in the order of the response. */
type MergedSelection = {
  readonly fields: ReadonlyMap<string, readonly FieldNode[]>
  readonly spread: ReadonlySet<string>
}

export function mergeSelections(
  sets: readonly SelectionSetNode[],
  fragmentOf: (name: string) => FragmentDefinitionNode | undefined,
  includes: (selection: SelectionNode) => boolean = () => true,
  matchesType: (fragment: Pick<InlineFragmentNode, 'typeCondition'>) => boolean = () => true,
): MergedSelection {
  const fields = new Map<string, FieldNode[]>()
  const spread = new Set<string>()
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!includes(selection)) continue
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value
        const known = fields.get(name)
        if (known) known.push(selection)
        else fields.set(name, [selection])
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (matchesType(selection)) collect(selection.selectionSet)
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value)
        const fragment = fragmentOf(selection.name.value)
        if (fragment && matchesType(fragment)) collect(fragment.selectionSet)
      }
    }
  }
  sets.forEach(collect)
  return { fields, spread }
}

/** Implements CollectFields of the GraphQL specification. */
export function collectFields(
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  { schema, fragments, conditions }: SelectionContext,
): ReadonlyMap<string, readonly FieldNode[]> {
  const matchesType = ({ typeCondition }: Pick<InlineFragmentNode, 'typeCondition'>) => {
    const condition = typeCondition && schema.getType(typeCondition.name.value)
    return !condition || condition === type || (isAbstractType(condition) && schema.isSubType(condition, type))
  }
  const includes = (selection: SelectionNode) => isIncluded(conditionsOf(selection), conditions)
  return mergeSelections(sets, (name) => fragments[name], includes, matchesType).fields
}

export type IncludeCondition = {
  readonly value: boolean | { readonly variable: string }
  readonly isIncluding: boolean
}

export function conditionsOf({ directives = [] }: SelectionNode): IncludeCondition[] {
  return directives.flatMap(({ name, arguments: args = [] }): IncludeCondition[] => {
    const value = args.find((argument) => argument.name.value === 'if')?.value
    const isIncluding = name.value === 'include'
    if (value?.kind === Kind.VARIABLE) return [{ value: { variable: value.name.value }, isIncluding }]
    return value?.kind === Kind.BOOLEAN ? [{ value: value.value, isIncluding }] : []
  })
}

export function isIncluded(
  conditions: readonly IncludeCondition[],
  variables: Readonly<Record<string, unknown>>,
): boolean {
  return conditions.every(
    ({ value, isIncluding }) => (typeof value === 'boolean' ? value : variables[value.variable]) === isIncluding,
  )
}

export function conditionVariablesOf(operation: OperationDefinitionNode, fragments: Fragments): readonly string[] {
  const names = new Set<string>()
  const spread = new Set<string>()
  const visitNode = (node: ASTNode) =>
    visit(node, {
      Directive: ({ arguments: args = [] }) => {
        for (const { value } of args) if (value.kind === Kind.VARIABLE) names.add(value.name.value)
      },
      FragmentSpread: ({ name: { value: name } }) => {
        if (spread.has(name)) return
        spread.add(name)
        const fragment = fragments[name]
        if (fragment) visitNode(fragment)
      },
    })
  visitNode(operation)
  return [...names]
}

/**
 * Coerces arguments without variables only once. The coerced arguments are frozen, because all requests share the
 * arguments.
 */
export function argumentsReader({
  field,
  node,
}: {
  readonly field: GraphQLField<unknown, unknown>
  readonly node: FieldNode
}): (run: { readonly variables: VariableValues }) => object {
  if (hasVariables(node)) return ({ variables }) => getArgumentValues(field, node, variables)
  const args = deepFreeze(getArgumentValues(field, node))
  return () => args
}

function hasVariables({ arguments: args = [] }: FieldNode): boolean {
  let hasVariable = false
  const Variable = () => {
    hasVariable = true
    return BREAK
  }
  for (const argument of args) visit(argument, { Variable })
  return hasVariable
}

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
