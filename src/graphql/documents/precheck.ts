import type {
  FieldNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
  VariableValues,
} from 'graphql'
import { GraphQLError, getNamedType, isAbstractType, isObjectType, Kind, locatedError } from 'graphql'
import { invalidInput } from '../../core/errors.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import { requireAllowed, requireScope } from '../../operations/access/api-caller.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import type { Fragments, IncludeCondition } from '../plan/selection.ts'
import { argumentsReader, conditionsOf, conditionVariablesOf, isIncluded } from '../plan/selection.ts'
import type { FieldSource } from '../schema/field-source.ts'
import { scopeByFieldSource } from '../schema/field-source.ts'
import { operationOfField } from '../schema/mutation.ts'
import { requestError, withCode } from './request-errors.ts'

export type Precheck = (caller: Caller, variables: VariableValues) => readonly GraphQLError[]

type PrecheckField = {
  readonly field: GraphQLField<unknown, unknown>
  readonly node: FieldNode
  readonly path: readonly string[]
  readonly conditions: readonly IncludeCondition[]
}

type PrecheckStep<Input> = { readonly selected: PrecheckField; readonly check: (input: Input) => void }

const maxErrors = 20

/**
 * Without the precheck, a mutation could take effect and then fail on a field of its payload, and the error would hide
 * the mutation's result. A query has no effects, so it needs no precheck.
 */
export function lazyPrecheck(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): Precheck {
  if (operation.operation === 'query') return () => []
  let precheck: Precheck | null = null
  return (caller, variables) => {
    precheck ??= createPrecheck(schema, operation, fragments)
    return precheck(caller, variables)
  }
}

function createPrecheck(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Fragments): Precheck {
  const isMutation = operation.operation === 'mutation'
  const conditionVariables = conditionVariablesOf(operation, fragments)
  const selected = selectedFields(schema, operation, fragments)
  const scopeChecks = selected.flatMap(scopeSteps)
  // The precheck skips the first field of the operation, because the field checks its own arguments before it takes
  // effect.
  const [first] = selected
  const argumentChecks = selected.flatMap((each) => (each === first ? [] : argumentSteps(each, isMutation)))
  return (caller, variables) => {
    // A request can set a variable to null even if the variable has a default value.
    const nullVariable = conditionVariables.find((name) => typeof variables.coerced[name] !== 'boolean')
    if (nullVariable !== undefined) return [nullConditionError(nullVariable)]
    if (caller.scopes !== null || caller.customerId !== null) {
      const [missingScope] = runSteps(scopeChecks, caller, variables)
      if (missingScope) return [missingScope]
    }
    return runSteps(argumentChecks, variables, variables)
  }
}

function nullConditionError(name: string): GraphQLError {
  return requestError('INVALID_INPUT', `Variable "$${name}" must not be null: a condition depends on it.`)
}

function runSteps<Input>(
  steps: readonly PrecheckStep<Input>[],
  input: Input,
  { coerced }: VariableValues,
): GraphQLError[] {
  const errors: GraphQLError[] = []
  for (const { selected, check } of steps) {
    if (errors.length === maxErrors) break
    if (!isIncluded(selected.conditions, coerced)) continue
    try {
      check(input)
    } catch (error) {
      errors.push(locateError(selected, error))
    }
  }
  return errors
}

function scopeSteps(selected: PrecheckField): PrecheckStep<Caller>[] {
  const { field } = selected
  const operation = operationOfField(field)
  if (operation) return [{ selected, check: (caller) => requireAllowed(caller, operation.declaration) }]
  const scope = scopeOfField(field)
  return scope === null ? [] : [{ selected, check: (caller) => requireScope(caller, scope) }]
}

/** A field without a declared source can read any data, so it requires the scope `read`. */
function scopeOfField({ extensions }: PrecheckField['field']): Scope | null {
  const { fieldSource } = extensions as { fieldSource?: FieldSource }
  return fieldSource === undefined ? 'read' : scopeByFieldSource[fieldSource.kind]
}

function argumentSteps(selected: PrecheckField, isMutation: boolean): PrecheckStep<VariableValues>[] {
  const { field, node, path } = selected
  const { fieldSource } = field.extensions as { fieldSource?: FieldSource }
  if (field.args.length === 0) return []
  let reader: ReturnType<typeof argumentsReader> | null = null
  const readArguments = (variables: VariableValues) => {
    reader ??= argumentsReader({ field, node })
    return reader({ variables })
  }
  if (path.length === 1) return [{ selected, check: readArguments }]
  if (fieldSource?.kind !== 'connection') throw new Error(`the arguments of ${field.name} can't be parsed in advance`)
  const check = (variables: VariableValues) => {
    const cursors = fieldSource.parse(readArguments(variables) as never)
    if (!isMutation) return
    // A cursor may refer to rows that the mutation has not created yet, so the cursor cannot be checked.
    for (const name of ['after', 'before'] as const) if (cursors[name] !== null) throw cursorNotAllowed(name)
  }
  return [{ selected, check }]
}

function cursorNotAllowed(field: 'after' | 'before') {
  const message = 'must not be given in a mutation: ask for the next page in a query'
  return invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
}

function locateError({ node, path }: PrecheckField, error: unknown): GraphQLError {
  const located = locatedError(error, [node], path)
  return error instanceof GraphQLError ? withCode(located, 'INVALID_INPUT') : located
}

function selectedFields(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): PrecheckField[] {
  const selected: PrecheckField[] = []
  const objectTypesOf = (type: GraphQLNamedType | undefined): readonly GraphQLObjectType[] =>
    isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : []
  const visitSet = (
    { selections }: SelectionSetNode,
    types: readonly GraphQLObjectType[],
    position: Pick<PrecheckField, 'path' | 'conditions'>,
  ): void => {
    for (const selection of selections) {
      const conditions = [...position.conditions, ...conditionsOf(selection)]
      if (selection.kind === Kind.FIELD) {
        visitField(selection, types, {
          path: [...position.path, selection.alias?.value ?? selection.name.value],
          conditions,
        })
        continue
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
      if (!fragment) continue
      const { typeCondition } = fragment
      const matching = typeCondition && objectTypesOf(schema.getType(typeCondition.name.value))
      const remaining = matching ? types.filter((type) => matching.includes(type)) : types
      visitSet(fragment.selectionSet, remaining, { path: position.path, conditions })
    }
  }
  const visitField = (
    node: FieldNode,
    types: readonly GraphQLObjectType[],
    position: Pick<PrecheckField, 'path' | 'conditions'>,
  ): void => {
    const innerTypes = new Set<GraphQLObjectType>()
    for (const type of types) {
      const field = type.getFields()[node.name.value]
      if (!field) continue
      selected.push({ field, node, ...position })
      for (const each of objectTypesOf(getNamedType(field.type))) innerTypes.add(each)
    }
    if (node.selectionSet) visitSet(node.selectionSet, [...innerTypes], position)
  }
  const root = schema.getRootType(operation.operation)
  if (root) visitSet(operation.selectionSet, [root], { path: [], conditions: [] })
  return selected
}
