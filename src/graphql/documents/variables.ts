import type { ExecutionArgs, GraphQLInputType, GraphQLSchema, OperationDefinitionNode, VariableValues } from 'graphql'
import {
  coerceInputLiteral,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
  validateExecutionArgs,
} from 'graphql'
import { deepFreeze } from '../plan/selection.ts'
import type { RequestErrors } from './request-errors.ts'
import { withCode } from './request-errors.ts'

/** Coerces the variables of a request; null if they are invalid, which graphql-js then reports. */
export type ReadVariables = (variables: Readonly<Record<string, unknown>>) => VariableValues | null

/** Characters of variables up to which errors contain suggestions, which are slow to compute for long texts. */
const maxSuggestedLength = 10_000

/** Coerces variables by graphql-js, which reports errors. */
export function coerceVariables(args: ExecutionArgs): VariableValues | RequestErrors {
  const isLong = JSON.stringify(args.variableValues ?? {}).length > maxSuggestedLength
  const valid = validateExecutionArgs({ ...args, hideSuggestions: isLong })
  return 'schema' in valid ? valid.variableValues : { errors: valid.map((error) => withCode(error, 'INVALID_INPUT')) }
}

/** Coerces a JSON value; undefined if it is invalid for the type. */
type CoerceInput = (value: unknown) => unknown

/**
 * Builds a reader of an operation's variables with the same results as graphql-js (a test compares them).
 *
 * It is built once for each operation and creates plain objects. Those of graphql-js have no prototype, and V8 stores them
 * as dictionaries: reading and copying these takes longer than all checks of a small input.
 */
export function createVariablesReader(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): ReadVariables {
  const definitions = variableDefinitions.map(({ variable, type: node, defaultValue }) => {
    const type = typeFromAST(schema, node)
    if (!isInputType(type)) throw new Error('a document must be validated before its variables are read')
    const defaultInput = defaultValue && deepFreeze(coerceInputLiteral(defaultValue, type))
    return { name: variable.name.value, coerce: coercerOf(type), defaultInput, isRequired: isNonNullType(type) }
  })
  return (variables) => {
    // Callers choose the names, and `__proto__` is a valid one.
    const coerced: Record<string, unknown> = Object.create(null)
    for (const { name, coerce, defaultInput, isRequired } of definitions) {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined
      const input = value === undefined ? defaultInput : coerce(value)
      if (input !== undefined) coerced[name] = input
      else if (value !== undefined || isRequired) return null
    }
    // graphql-js reads `sources` only for variables inside literals of custom scalars, which the schema doesn't have.
    return { sources: {}, coerced }
  }
}

/** Input types are recursive, so an object's coercer is registered before it is built. */
const objectCoercers = new WeakMap<object, CoerceInput>()

function coercerOf(type: GraphQLInputType): CoerceInput {
  if (isNonNullType(type)) {
    const coerce = coercerOf(type.ofType)
    return (value) => (value === null ? undefined : coerce(value))
  }
  return nullableCoercer(
    isListType(type)
      ? listCoercer(coercerOf(type.ofType))
      : isInputObjectType(type)
        ? lazyObjectCoercer(type)
        : leafCoercer(type),
  )
}

function nullableCoercer(coerce: CoerceInput): CoerceInput {
  return (value) => (value === null ? null : coerce(value))
}

/** A single value is coerced to a list of one. */
function listCoercer(coerce: CoerceInput): CoerceInput {
  return (value) => {
    const items = (Array.isArray(value) ? value : [value]).map(coerce)
    return items.includes(undefined) ? undefined : items
  }
}

type InputObject = Extract<GraphQLInputType, { readonly isOneOf: boolean }>

function lazyObjectCoercer(type: InputObject): CoerceInput {
  let coerce = objectCoercers.get(type)
  if (coerce) return coerce
  let coerceObject: CoerceInput | null = null
  coerce = (value) => {
    coerceObject ??= objectCoercer(type)
    return coerceObject(value)
  }
  objectCoercers.set(type, coerce)
  return coerce
}

function objectCoercer(type: InputObject): CoerceInput {
  const fields = Object.values(type.getFields()).map((field) => {
    if (field.default !== undefined || field.defaultValue !== undefined)
      throw new Error('defaults of input fields are not supported')
    return { name: field.name, coerce: coercerOf(field.type), isRequired: isRequiredInputField(field) }
  })
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const object = value as Readonly<Record<string, unknown>>
    const input: Record<string, unknown> = {}
    let knownCount = 0
    for (const { name, coerce, isRequired } of fields) {
      const inner = object[name]
      if (inner === undefined) {
        if (isRequired) return undefined
        continue
      }
      const coerced = coerce(inner)
      if (coerced === undefined || (type.isOneOf && coerced === null)) return undefined
      input[name] = coerced
      knownCount++
    }
    // Any other key is no field of the type.
    return knownCount === Object.keys(object).length && (!type.isOneOf || knownCount === 1) ? input : undefined
  }
}

function leafCoercer(type: Exclude<GraphQLInputType, InputObject | { readonly ofType: unknown }>): CoerceInput {
  return (value) => {
    try {
      // Hides suggestions, which are slow for long texts: graphql-js reports the error.
      return type.coerceInputValue(value, true)
    } catch {
      return undefined
    }
  }
}
