import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLField,
  GraphQLNamedType,
  GraphQLObjectType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionNode,
  SelectionSetNode,
  VariableValues,
} from 'graphql'
import { GraphQLError, getNamedType, isAbstractType, isObjectType, Kind, locatedError } from 'graphql'
import { invalidInput } from '../../core/errors.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import { requireAllowed, requireScope } from '../../operations/access/api-caller.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import type { Operation } from '../../operations/context.ts'
import { argumentsReader, conditionVariablesOf } from '../plan/selection.ts'
import type { FieldSource } from '../schema/field-source.ts'
import { scopeByFieldSource } from '../schema/field-source.ts'
import { requestError, withCode } from './request-errors.ts'

/**
 * Finds why an operation must not begin: a scope that its caller lacks, or arguments of its selection that are wrong. None where
 * it may begin.
 */
export type Precheck = (caller: Caller, variables: VariableValues) => readonly GraphQLError[]

type Fragments = Readonly<Record<string, FragmentDefinitionNode>>

/** A field where an operation selects it, and what its `@skip` and `@include` and those around it must be. */
type PrecheckField = {
  readonly field: GraphQLField<unknown, unknown>
  readonly node: FieldNode
  readonly path: readonly string[]
  readonly conditions: readonly IncludeCondition[]
}

type IncludeCondition = { readonly value: boolean | { readonly variable: string }; readonly isIncluding: boolean }

type PrecheckStep<Given> = { readonly selected: PrecheckField; readonly check: (given: Given) => void }

/** Faults that one answer lists at most. */
const maxErrors = 20

/**
 * The check of an operation that does something before it shows anything: a payload that turns out to be forbidden or wrong only
 * then would hide what was done. It follows from what fields declare (`shown.ts`), whichever executor runs the operation.
 * A query does nothing: a field of it that fails is null, and leaves the others.
 */
export function lazyPrecheck(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): Precheck {
  if (operation.operation === 'query') return () => []
  let made: Precheck | null = null
  return (caller, variables) => {
    made ??= createPrecheck(schema, operation, fragments)
    return made(caller, variables)
  }
}

function createPrecheck(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Fragments): Precheck {
  const isMutation = operation.operation === 'mutation'
  const conditions = conditionVariablesOf(operation, fragments)
  const selected = selectedFields(schema, operation, fragments)
  const scoped = selected.flatMap(scopeSteps)
  // Whatever is wrong with the arguments of the first mutation keeps it from being done anyway.
  const [first] = selected
  const parsed = selected.flatMap((each) => (each === first ? [] : argumentSteps(each, isMutation)))
  return (caller, variables) => {
    // A variable that has a default value may be null all the same.
    const undecided = conditions.find((name) => typeof variables.coerced[name] !== 'boolean')
    if (undecided !== undefined) return [nullConditionError(undecided)]
    if (caller.scopes !== null || caller.customerId !== null) {
      const [lacking] = runSteps(scoped, caller, variables)
      if (lacking) return [lacking]
    }
    return runSteps(parsed, variables, variables)
  }
}

function nullConditionError(name: string): GraphQLError {
  return requestError('INVALID_INPUT', `Variable "$${name}" must not be null: a condition depends on it.`)
}

function runSteps<Given>(
  checks: readonly PrecheckStep<Given>[],
  given: Given,
  { coerced }: VariableValues,
): GraphQLError[] {
  const faults: GraphQLError[] = []
  for (const { selected, check } of checks) {
    if (faults.length === maxErrors) break
    if (!isIncluded(selected.conditions, coerced)) continue
    try {
      check(given)
    } catch (error) {
      faults.push(locateError(selected, error))
    }
  }
  return faults
}

/** What holds the caller to the scope of a field: of a mutation that of its operation, of all others that of what they show. */
function scopeSteps(selected: PrecheckField): PrecheckStep<Caller>[] {
  const { field } = selected
  const { performs } = field.extensions as { performs?: Operation<never, unknown> }
  if (performs) return [{ selected, check: (caller) => requireAllowed(caller, performs.name) }]
  const scope = scopeOfField(field)
  return scope === null ? [] : [{ selected, check: (caller) => requireScope(caller, scope) }]
}

/** A field that does not say what it shows may read anything. */
function scopeOfField({ extensions }: PrecheckField['field']): Scope | null {
  const { shown } = extensions as { shown?: FieldSource }
  return shown === undefined ? 'read' : scopeByFieldSource[shown.kind]
}

/** What checks the arguments of a field; operations and streams parse those of the root themselves, before they begin. */
function argumentSteps(selected: PrecheckField, isMutation: boolean): PrecheckStep<VariableValues>[] {
  const { field, node, path } = selected
  const { shown } = field.extensions as { shown?: FieldSource }
  if (field.args.length === 0 || (path.length === 1 && !isMutation)) return []
  let given: ReturnType<typeof argumentsReader> | null = null
  const readArguments = (variables: VariableValues) => {
    given ??= argumentsReader({ field, node })
    return given({ variables })
  }
  if (path.length === 1) return [{ selected, check: readArguments }]
  if (shown?.kind !== 'sliced') throw new Error(`the arguments of ${field.name} can't be parsed before they are used`)
  const check = (variables: VariableValues) => {
    const cursors = shown.parse(readArguments(variables) as never)
    if (!isMutation) return
    // Whether they are of this list depends on what the mutation has yet to make.
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

/** Every field that an operation may select, of every type that may stand in its place; `limits.ts` bounds how many. */
function selectedFields(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
): PrecheckField[] {
  const found: PrecheckField[] = []
  const objectTypesOf = (type: GraphQLNamedType | undefined): readonly GraphQLObjectType[] =>
    isAbstractType(type) ? schema.getPossibleTypes(type) : isObjectType(type) ? [type] : []
  const visitSet = (
    { selections }: SelectionSetNode,
    types: readonly GraphQLObjectType[],
    place: Pick<PrecheckField, 'path' | 'conditions'>,
  ): void => {
    for (const selection of selections) {
      const conditions = [...place.conditions, ...conditionsOf(selection)]
      if (selection.kind === Kind.FIELD) {
        visitField(selection, types, {
          path: [...place.path, selection.alias?.value ?? selection.name.value],
          conditions,
        })
        continue
      }
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
      if (!fragment) continue
      const { typeCondition } = fragment
      const within = typeCondition && objectTypesOf(schema.getType(typeCondition.name.value))
      const left = within ? types.filter((type) => within.includes(type)) : types
      visitSet(fragment.selectionSet, left, { path: place.path, conditions })
    }
  }
  const visitField = (
    node: FieldNode,
    types: readonly GraphQLObjectType[],
    place: Pick<PrecheckField, 'path' | 'conditions'>,
  ): void => {
    const led = new Set<GraphQLObjectType>()
    for (const type of types) {
      const field = type.getFields()[node.name.value]
      if (!field) continue
      found.push({ field, node, ...place })
      for (const each of objectTypesOf(getNamedType(field.type))) led.add(each)
    }
    if (node.selectionSet) visitSet(node.selectionSet, [...led], place)
  }
  const root = schema.getRootType(operation.operation)
  if (root) visitSet(operation.selectionSet, [root], { path: [], conditions: [] })
  return found
}

function conditionsOf({ directives = [] }: SelectionNode): IncludeCondition[] {
  return directives.flatMap(({ name, arguments: given = [] }): IncludeCondition[] => {
    const value = given.find((argument) => argument.name.value === 'if')?.value
    const isIncluding = name.value === 'include'
    if (value?.kind === Kind.VARIABLE) return [{ value: { variable: value.name.value }, isIncluding }]
    return value?.kind === Kind.BOOLEAN ? [{ value: value.value, isIncluding }] : []
  })
}

function isIncluded(conditions: readonly IncludeCondition[], variables: Readonly<Record<string, unknown>>): boolean {
  return conditions.every(
    ({ value, isIncluding }) => (typeof value === 'boolean' ? value : variables[value.variable]) === isIncluding,
  )
}
