import type { GraphQLField, GraphQLInputType, GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql'
import {
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql'

/** The object types that a request can reach from a root type, by name. */
export function objectTypesOf(schema: GraphQLSchema): GraphQLObjectType[] {
  const objectTypes = new Map<string, GraphQLObjectType>()
  const visit = (type: GraphQLNamedType) => {
    if (isUnionType(type) || isInterfaceType(type)) schema.getPossibleTypes(type).forEach(visit)
    if (!isObjectType(type) || objectTypes.has(type.name)) return
    objectTypes.set(type.name, type)
    for (const field of Object.values(type.getFields())) visit(getNamedType(field.type))
  }
  for (const root of [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]) {
    if (root) visit(root)
  }
  return [...objectTypes.values()].sort((one, other) => (one.name < other.name ? -1 : 1))
}

/** The fields of every reachable type: `name` for a scalar, `name:Type` for an object. */
export function fieldsOf(schema: GraphQLSchema): Record<string, string> {
  return Object.fromEntries(
    objectTypesOf(schema).map((type) => [
      type.name,
      fieldsOfType(type)
        .map(({ name, type }) => {
          const led = getNamedType(type)
          return isLeafType(led) ? name : `${name}:${led.name}`
        })
        .sort()
        .join(' '),
    ]),
  )
}

/**
 * Every argument or input field that takes an id, such as
 * `Mutation.createPayout(input.recipient.payoutMethodId)`.
 */
export function idPlacesOf(schema: GraphQLSchema): string[] {
  return placesOf(schema, (type) => getNamedType(type).name === 'ID')
}

/** Every argument or input field of a field's filters, such as `filter.createdFrom`, by path. */
export function inputPathsOf(schema: GraphQLSchema, typeName: string, fieldName: string): string[] {
  const field = objectTypesOf(schema)
    .find(({ name }) => name === typeName)
    ?.getFields()[fieldName]
  return (field?.args ?? []).flatMap((arg) => leavesOf(arg.name, arg.type, () => true))
}

/** Every field that returns a connection, such as `Customer.wallets`. */
export function connectionFieldsOf(schema: GraphQLSchema): string[] {
  return everyField(schema)
    .filter(([, field]) => getNamedType(field.type).name.endsWith('Connection'))
    .map(([owner, { name }]) => `${owner.name}.${name}`)
    .sort()
}

function placesOf(schema: GraphQLSchema, isWanted: (type: GraphQLInputType) => boolean): string[] {
  return everyField(schema)
    .flatMap(([owner, field]) =>
      field.args.flatMap((arg) =>
        leavesOf(arg.name, arg.type, isWanted).map((path) => `${owner.name}.${field.name}(${path})`),
      ),
    )
    .sort()
}

function leavesOf(
  path: string,
  type: GraphQLInputType,
  isWanted: (type: GraphQLInputType) => boolean,
  above: readonly GraphQLNamedType[] = [],
): string[] {
  const inner = withoutWrapping(type)
  if (!isInputObjectType(inner)) return isWanted(type) ? [path] : []
  if (above.includes(inner)) throw new Error(`${path} is an input within itself, which this walk does not know`)
  return Object.values(inner.getFields()).flatMap((field) =>
    leavesOf(`${path}.${field.name}`, field.type, isWanted, [...above, inner]),
  )
}

function withoutWrapping(type: GraphQLInputType): GraphQLInputType {
  return isNonNullType(type) || isListType(type) ? withoutWrapping(type.ofType) : type
}

function everyField(schema: GraphQLSchema): [GraphQLObjectType, GraphQLField<unknown, unknown>][] {
  return objectTypesOf(schema).flatMap((type) => fieldsOfType(type).map((field) => [type, field] as const)) as never
}

function fieldsOfType(type: GraphQLObjectType): GraphQLField<unknown, unknown>[] {
  return Object.values(type.getFields())
}
