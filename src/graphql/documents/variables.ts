import type { GraphQLInputType, GraphQLSchema, OperationDefinitionNode, VariableValues } from 'graphql'
import {
  coerceInputLiteral,
  isInputObjectType,
  isInputType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
} from 'graphql'
import { deepFreeze } from '../plan/selection.ts'

/** Reads the variables of a request; `null` where graphql-js has to say what is wrong with them. */
export type ReadVariables = (given: Readonly<Record<string, unknown>>) => VariableValues | null

/** What a value of JSON stands for; `undefined` where it is none of the type's. */
type CoerceInput = (value: unknown) => unknown

/**
 * What reads an operation's variables as graphql-js would: a test holds both to the same values.
 *
 * It is made once for each operation, and inputs become plain objects. Those of graphql-js are without a prototype, for which
 * V8 makes dictionaries: to read and copy these takes longer than all of a small input's checks.
 */
export function createVariablesReader(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): ReadVariables {
  const variables = variableDefinitions.map(({ variable, type: node, defaultValue }) => {
    const type = typeFromAST(schema, node)
    if (!isInputType(type)) throw new Error('a document was not checked before its variables')
    const standard = defaultValue && deepFreeze(coerceInputLiteral(defaultValue, type))
    return { name: variable.name.value, coerce: coercerOf(type), standard, isRequired: isNonNullType(type) }
  })
  return (given) => {
    // Callers choose these names, `__proto__` too.
    const coerced: Record<string, unknown> = Object.create(null)
    for (const { name, coerce, standard, isRequired } of variables) {
      const value = Object.hasOwn(given, name) ? given[name] : undefined
      const read = value === undefined ? standard : coerce(value)
      if (read !== undefined) coerced[name] = read
      else if (value !== undefined || isRequired) return null
    }
    // Only literals of scalars with variables in them are asked for more, and we have no such scalars.
    return { sources: {}, coerced }
  }
}

/** Types lead to themselves, so what reads an object is known by its type before it is made. */
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

/** A single value is a list of one. */
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
  let read: CoerceInput | null = null
  coerce = (value) => {
    read ??= objectCoercer(type)
    return read(value)
  }
  objectCoercers.set(type, coerce)
  return coerce
}

function objectCoercer(type: InputObject): CoerceInput {
  const fields = Object.values(type.getFields()).map((field) => {
    if (field.default !== undefined || field.defaultValue !== undefined) throw new Error('no input has defaults here')
    return { name: field.name, coerce: coercerOf(field.type), isRequired: isRequiredInputField(field) }
  })
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    const given = value as Readonly<Record<string, unknown>>
    const read: Record<string, unknown> = {}
    let known = 0
    for (const { name, coerce, isRequired } of fields) {
      const inner = given[name]
      if (inner === undefined) {
        if (isRequired) return undefined
        continue
      }
      const coerced = coerce(inner)
      if (coerced === undefined || (type.isOneOf && coerced === null)) return undefined
      read[name] = coerced
      known++
    }
    // Whatever else was given is no field.
    return known === Object.keys(given).length && (!type.isOneOf || known === 1) ? read : undefined
  }
}

function leafCoercer(type: Exclude<GraphQLInputType, InputObject | { readonly ofType: unknown }>): CoerceInput {
  return (value) => {
    try {
      // What is wrong is said by graphql-js; to look for what may have been meant takes long for long texts.
      return type.coerceInputValue(value, true)
    } catch {
      return undefined
    }
  }
}
