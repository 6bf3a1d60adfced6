import '../asset-codes/graphql.ts'
import '../client-tokens/graphql.ts'
import '../customers/graphql.ts'
import '../deposits/graphql.ts'
import '../exports/graphql.ts'
import '../feed/graphql.ts'
import '../ledger/graphql.ts'
import '../merchants/graphql.ts'
import '../networks/graphql.ts'
import '../payout-methods/graphql.ts'
import '../payout-methods/payout-method-requirements-graphql.ts'
import '../payouts/create-payout-graphql.ts'
import '../payouts/graphql.ts'
import '../payouts/named-payout-graphql.ts'
import '../payouts/payout-timeline-graphql.ts'
import '../rails/clock-graphql.ts'
import '../rails/graphql.ts'
import '../wallets/graphql.ts'
import '../webhooks/graphql.ts'
import '../graphql/scalars.ts'
import type { GraphQLNamedType } from 'graphql'
import { GraphQLObjectType, GraphQLSchema, getNullableType } from 'graphql'
import type { Mode } from '../context.ts'
import { builder } from '../graphql/builder.ts'
import { withSlices } from '../graphql/connection.ts'

/** The whole schema, as `schema.graphql` prints it. */
export const sandboxSchema = withNullableRoots(withSlices(builder.toSchema()))

/** The schema of a mode: in `live` nothing is there that exists for the sandbox only. */
export function schemaFor(mode: Mode): GraphQLSchema {
  return { sandbox: () => sandboxSchema, live: () => withoutSandbox(sandboxSchema) }[mode]()
}

/**
 * Has a field of a query or mutation that fails be null, so that the others beside it are answered: of a mutation they say
 * what is done already.
 */
function withNullableRoots(schema: GraphQLSchema): GraphQLSchema {
  for (const root of [schema.getQueryType(), schema.getMutationType()]) {
    for (const field of Object.values(root?.getFields() ?? {})) field.type = getNullableType(field.type)
  }
  return schema
}

function withoutSandbox(schema: GraphQLSchema): GraphQLSchema {
  const { mutation, types, ...rest } = schema.toConfig()
  if (!mutation) return schema
  const config = mutation.toConfig()
  const fields = Object.entries(config.fields)
  const own = fields.filter(([, field]) => field.extensions?.isSandboxOnly)
  const prefixes = own.map(([name]) => name.charAt(0).toUpperCase() + name.slice(1))
  const isOwn = ({ name }: GraphQLNamedType) => prefixes.some((prefix) => name.startsWith(prefix))
  const live = new GraphQLObjectType({
    ...config,
    fields: Object.fromEntries(fields.filter((each) => !own.includes(each))),
  })
  return new GraphQLSchema({
    ...rest,
    mutation: live,
    types: types.filter((type) => type !== mutation && !isOwn(type)),
  })
}
