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

/** If the variables are invalid, returns null, and graphql-js reports the errors. */
export type ReadVariables = (variables: Readonly<Record<string, unknown>>) => VariableValues | null

/** Suggestions are slow to compute, so errors about longer variables omit suggestions. */
const maxSuggestedLength = 10_000

export function coerceVariables(args: ExecutionArgs): VariableValues | RequestErrors {
  const isLong = JSON.stringify(args.variableValues ?? {}).length > maxSuggestedLength
  const valid = validateExecutionArgs({ ...args, hideSuggestions: isLong })
  return 'schema' in valid ? valid.variableValues : { errors: valid.map((error) => withCode(error, 'INVALID_INPUT')) }
}

type CoerceInput = (value: unknown) => unknown

/**
 * Coerces variables to the same values as graphql-js (a test compares them), but creates plain objects. graphql-js
 * creates objects without a prototype, which V8 stores as slow dictionaries.
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
    // Callers choose the names of variables, and `__proto__` is a valid name.
    const coerced: Record<string, unknown> = Object.create(null)
    for (const { name, coerce, defaultInput, isRequired } of definitions) {
      const value = Object.hasOwn(variables, name) ? variables[name] : undefined
      const input = value === undefined ? defaultInput : coerce(value)
      if (input !== undefined) coerced[name] = input
      else if (value !== undefined || isRequired) return null
    }
    // graphql-js uses `sources` only for variables inside a literal of a custom scalar. No scalar of this schema
    // accepts a literal with variables.
    return { sources: {}, coerced }
  }
}

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

function listCoercer(coerce: CoerceInput): CoerceInput {
  return (value) => {
    const items = (Array.isArray(value) ? value : [value]).map(coerce)
    return items.includes(undefined) ? undefined : items
  }
}

type InputObject = Extract<GraphQLInputType, { readonly isOneOf: boolean }>

/** Input types can be recursive, so a coercer is built at its first use. */
function lazyObjectCoercer(type: InputObject): CoerceInput {
  let coerce: CoerceInput | null = null
  return (value) => {
    coerce ??= objectCoercer(type)
    return coerce(value)
  }
}

function objectCoercer(type: InputObject): CoerceInput {
  const fields = Object.values(type.getFields()).map((field) => {
    if (field.default !== undefined || field.defaultValue !== undefined)
      throw new Error('defaults of input fields are not supported')
    return { name: field.name, coerce: coercerOf(field.type), isRequired: isRequiredInputField(field) }
  })
  return (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) return undefined
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
    // If the object has more than `knownCount` keys, at least one key is not a field of the input type.
    return knownCount === Object.keys(object).length && (!type.isOneOf || knownCount === 1) ? input : undefined
  }
}

function leafCoercer(type: Exclude<GraphQLInputType, InputObject | { readonly ofType: unknown }>): CoerceInput {
  return (value) => {
    try {
      // The argument `true` of `coerceInputValue` omits suggestions, which are slow to compute for long texts.
      return type.coerceInputValue(value, true)
    } catch {
      return undefined
    }
  }
}
