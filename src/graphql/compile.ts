import type { DocumentNode, ExecutionResult, FieldNode, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import { BREAK, getNamedType, isEnumType, Kind, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { GraphqlContext } from './context.ts'

type Variables = Readonly<Record<string, unknown>>

/** An operation as a function. */
export type Compiled = {
  readonly query: (root: undefined, context: GraphqlContext, variables: Variables) => Promise<ExecutionResult>
  /** Whether it answers as the interpreter would, with these values of its variables. */
  readonly takes: (coerced: Variables) => boolean
}

/** Compiles a valid operation; `null` where the compiler can't do so or would make something else of it. */
export function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Compiled | null {
  if (operation.operation === 'mutation' && onlyField(operation) === null) return null
  const nested = nestedVariablesOf(document)
  const disableLeafSerialization = hasPlainLeaves(schema, document)
  const compiled = nested && compileQuery(schema, document, operation.name?.value, { disableLeafSerialization })
  if (!compiled || !isCompiledQuery(compiled)) return null
  const query = compiled.query as Compiled['query']
  // Where nothing is given to such a variable the compiler passes null, which is not the same as a field that is absent.
  const takes = (coerced: Variables) => nested.every((name) => (coerced[name] ?? null) !== null)
  return { query, takes }
}

/** The only field of an operation, as nearly every mutation has one; `null` where there may be more. */
export function onlyField({ selectionSet: { selections } }: OperationDefinitionNode): FieldNode | null {
  const [first] = selections
  return selections.length === 1 && first?.kind === Kind.FIELD ? first : null
}

/**
 * Whether the texts, numbers and enum values that a document selects are answered as they are: what resolvers give is held to
 * by their types and the database's checks, and looking at each again costs a tenth of a long list. Scalars of our own are
 * always formed.
 */
function hasPlainLeaves(schema: GraphQLSchema, document: DocumentNode): boolean {
  let isPlain = true
  const types = new TypeInfo(schema)
  const Field = () => {
    const type = getNamedType(types.getType())
    if (isEnumType(type) && type.getValues().some(({ name, value }) => value !== name)) isPlain = false
  }
  visit(document, visitWithTypeInfo(types, { Field }))
  return isPlain
}

/**
 * The variables that a document uses within lists and objects; `null` for a document that holds something of which the
 * compiler makes other than the interpreter does (graphql-jit 0.8.9).
 */
function nestedVariablesOf(document: DocumentNode): readonly string[] | null {
  const nested: string[] = []
  let isFaithful = true
  const unfaithful = () => {
    isFaithful = false
    return BREAK
  }
  visit(document, {
    // Literals are written into the code of the function, and some texts come out of their quotes there: a caller could
    // have its own code run.
    [Kind.STRING]: unfaithful,
    // @skip and @include are kept on the field where it is written, so one use of a fragment decides for all its others.
    [Kind.DIRECTIVE]: unfaithful,
    // As a key of an answer or of the variables it sets a prototype instead.
    [Kind.NAME]: ({ value }) => (value === '__proto__' ? unfaithful() : undefined),
    // The default of a type that takes no null is ignored.
    [Kind.VARIABLE_DEFINITION]: ({ type, defaultValue }) =>
      type.kind === Kind.NON_NULL_TYPE && defaultValue ? unfaithful() : undefined,
    [Kind.VARIABLE]: ({ name }, _key, parent) => {
      const isNested = !parent || !('kind' in parent) || parent.kind === Kind.OBJECT_FIELD
      if (isNested) nested.push(name.value)
    },
  })
  return isFaithful ? nested : null
}
