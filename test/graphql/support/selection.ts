import type { GraphQLNamedType, GraphQLObjectType, GraphQLSchema } from 'graphql'
import { getNamedType, isInterfaceType, isLeafType, isObjectType, isUnionType } from 'graphql'

/** A selection of all fields of a type, and of all values down to `deep` levels below. */
export function everythingOf(schema: GraphQLSchema, typeName: string, deep = 1): string {
  const type = schema.getType(typeName)
  if (!type) throw new Error(`there is no type ${typeName}`)
  return selection(schema, type, deep, new Set())
}

function selection(schema: GraphQLSchema, type: GraphQLNamedType, deep: number, without: ReadonlySet<string>): string {
  if (isUnionType(type) || isInterfaceType(type)) {
    const members = schema.getPossibleTypes(type)
    const clashing = clashingFields(members)
    const selections = members.map((member) => `... on ${member.name} ${selection(schema, member, deep, clashing)}`)
    return `{ __typename ${selections.join(' ')} }`
  }
  if (!isObjectType(type)) throw new Error(`${type.name} has no fields`)
  const fields = Object.values(type.getFields()).flatMap((field) => {
    const led = getNamedType(field.type)
    if (without.has(field.name)) return []
    if (isLeafType(led)) return [field.name]
    return deep > 0 ? [`${field.name} ${selection(schema, led, deep - 1, new Set())}`] : []
  })
  return `{ __typename ${fields.join(' ')} }`
}

/** Names that have different types in the members of a union, which one document can't select without aliases. */
function clashingFields(members: readonly GraphQLObjectType[]): Set<string> {
  const types = new Map<string, string>()
  const clashing = new Set<string>()
  for (const { name, type } of members.flatMap((member) => Object.values(member.getFields()))) {
    if ((types.get(name) ?? String(type)) !== String(type)) clashing.add(name)
    types.set(name, String(type))
  }
  return clashing
}
