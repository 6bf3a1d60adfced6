import type {
  ASTNode,
  DirectiveNode,
  FieldNode,
  FragmentDefinitionNode,
  FragmentSpreadNode,
  GraphQLObjectType,
  GraphQLSchema,
  InlineFragmentNode,
  OperationDefinitionNode,
  SelectionSetNode,
} from 'graphql'
import { BREAK, getArgumentValues, isAbstractType, Kind, visit } from 'graphql'
import type { PlannedField } from './planning.ts'
import type { PlanRun } from './runtime.ts'

/** What a document asks for, under one set of values for all that its `@skip` and `@include` depend on. */
export type SelectionContext = {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly conditions: ReadonlyMap<string, boolean>
}

/** The fields that are selected of an object of this type by what they are called in the answer, in its order. */
export function collectFields(
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  { schema, fragments, conditions }: SelectionContext,
): ReadonlyMap<string, readonly FieldNode[]> {
  const fields = new Map<string, FieldNode[]>()
  const spread = new Set<string>()
  const matchesType = ({ typeCondition }: Pick<InlineFragmentNode, 'typeCondition'>) => {
    const condition = typeCondition && schema.getType(typeCondition.name.value)
    return !condition || condition === type || (isAbstractType(condition) && schema.isSubType(condition, type))
  }
  const takeFragment = ({ name }: FragmentSpreadNode) => {
    if (spread.has(name.value)) return null
    spread.add(name.value)
    return fragments[name.value] ?? null
  }
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (!isIncluded(selection, conditions)) continue
      if (selection.kind === Kind.FIELD) {
        const name = selection.alias?.value ?? selection.name.value
        const known = fields.get(name)
        if (known) known.push(selection)
        else fields.set(name, [selection])
        continue
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : takeFragment(selection)
      if (fragment && matchesType(fragment)) collect(fragment.selectionSet)
    }
  }
  sets.forEach(collect)
  return fields
}

function isIncluded(
  { directives = [] }: { readonly directives?: readonly DirectiveNode[] | undefined },
  conditions: SelectionContext['conditions'],
): boolean {
  return directives.every((directive) => {
    const value = directive.arguments?.find(({ name }) => name.value === 'if')?.value
    const isSo =
      value?.kind === Kind.VARIABLE ? conditions.get(value.name.value) : value?.kind === Kind.BOOLEAN && value.value
    return isSo === (directive.name.value === 'include')
  })
}

/** The variables on which it depends what an operation asks for. */
export function conditionVariablesOf(
  operation: OperationDefinitionNode,
  fragments: SelectionContext['fragments'],
): readonly string[] {
  const names = new Set<string>()
  const spread = new Set<string>()
  const visitNode = (node: ASTNode) =>
    visit(node, {
      Directive: ({ arguments: given = [] }) => {
        for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value)
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

/**
 * What gives the arguments of a field: once and for all, where no variable stands in them. Those serve every request, so
 * nobody may change them.
 */
export function argumentsReader({
  field,
  node,
}: Pick<PlannedField, 'field' | 'node'>): (run: Pick<PlanRun, 'variables'>) => object {
  if (hasVariables(node)) return ({ variables }) => getArgumentValues(field, node, variables)
  const given = deepFreeze(getArgumentValues(field, node))
  return () => given
}

function hasVariables({ arguments: given = [] }: FieldNode): boolean {
  let isSo = false
  const Variable = () => {
    isSo = true
    return BREAK
  }
  for (const argument of given) visit(argument, { Variable })
  return isSo
}

/** The same value, of which nobody can change anything any more: for what is made once and serves every request. */
export function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
