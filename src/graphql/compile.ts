import type { ASTNode, DocumentNode, ExecutionResult, FieldNode, GraphQLSchema, OperationDefinitionNode } from 'graphql'
import { BREAK, getNamedType, isEnumType, Kind, TypeInfo, visit, visitWithTypeInfo } from 'graphql'
import { compileQuery, isCompiledQuery } from 'graphql-jit'
import type { GraphqlContext } from './graphql-context.ts'

/** An operation as a function, which answers as the interpreter would wherever nothing goes wrong. */
export type Compiled = (
  root: undefined,
  context: GraphqlContext,
  variables: Readonly<Record<string, unknown>>,
) => Promise<ExecutionResult>

/** Compiles a valid operation; `null` for what is not among that of which the compiler is known to make the same. */
export function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): Compiled | null {
  if (!isPermitted(document) || (operation.operation === 'mutation' && onlyField(operation) === null)) return null
  const disableLeafSerialization = hasPlainLeaves(schema, document)
  const compiled = compileQuery(schema, document, operation.name?.value, { disableLeafSerialization })
  return isCompiledQuery(compiled) ? (compiled.query as Compiled) : null
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
 * What a document that is compiled may be made of. The compiler (graphql-jit 0.8.9) was seen to make something else of much
 * that is valid, and without an error: so it gets only what is on this list, and a test holds it to the interpreter with
 * generated documents of all that is.
 *
 * Not here, among others: texts, lists and objects that are written out (texts come out of their quotes in the code that it
 * makes, and within an object a variable that is absent becomes null), directives (they stay on a fragment for all its
 * uses), and several operations.
 */
const permitted: { readonly [Of in Kind]?: (node: Extract<ASTNode, { kind: Of }>) => boolean } = {
  Document: ({ definitions }) => definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length === 1,
  OperationDefinition: ({ operation }) => operation !== 'subscription',
  FragmentDefinition: () => true,
  SelectionSet: () => true,
  Field: ({ name, alias }) => isDistinct(alias?.value ?? name.value) || (!alias && name.value === '__typename'),
  InlineFragment: () => true,
  FragmentSpread: () => true,
  Argument: () => true,
  // The default of a type that takes no null is ignored.
  VariableDefinition: ({ type, defaultValue }) => !defaultValue || type.kind === Kind.NAMED_TYPE,
  Variable: ({ name }) => isDistinct(name.value),
  IntValue: () => true,
  BooleanValue: () => true,
  EnumValue: () => true,
  NullValue: () => true,
  NamedType: () => true,
  ListType: () => true,
  NonNullType: () => true,
  Name: () => true,
}

function isPermitted(document: DocumentNode): boolean {
  let isSo = true
  visit(document, {
    enter: (node) => {
      const allows = permitted[node.kind] as ((of: ASTNode) => boolean) | undefined
      isSo = allows?.(node) ?? false
      return isSo ? undefined : BREAK
    },
  })
  return isSo
}

/**
 * Whether a name stays itself: the compiler joins those on the way to a field, with `idx0`, `idx1`, … for lists and the names of
 * types between them, by `_`, and takes what has the same joined name for the same; and objects have names of their own.
 */
function isDistinct(name: string): boolean {
  return /^[a-z][A-Za-z0-9]*$/.test(name) && !/^idx\d/.test(name) && !(name in Object.prototype)
}
