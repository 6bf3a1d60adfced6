import '../../modules/asset-codes/graphql.ts'
import '../../modules/client-tokens/graphql.ts'
import '../../modules/customers/graphql.ts'
import '../../modules/deposits/graphql.ts'
import '../../modules/exports/graphql.ts'
import '../../modules/events/graphql.ts'
import '../../modules/ledger/graphql.ts'
import '../../modules/merchants/graphql.ts'
import '../../modules/networks/graphql.ts'
import '../../modules/payout-methods/graphql.ts'
import '../../modules/payout-methods/payout-method-requirements-graphql.ts'
import '../../modules/payouts/create-payout-graphql.ts'
import '../../modules/payouts/graphql.ts'
import '../../modules/payouts/payout-lookup-graphql.ts'
import '../../modules/payouts/payout-timeline-graphql.ts'
import '../../modules/rails/graphql.ts'
import '../../modules/search/graphql.ts'
import '../../modules/wallets/graphql.ts'
import '../../modules/webhooks/endpoints/graphql.ts'
import '../../graphql/schema/builder.ts'
import type { GraphQLNamedType } from 'graphql'
import { buildSchema, GraphQLObjectType, GraphQLSchema, getNullableType } from 'graphql'
import { builder } from '../../graphql/schema/builder.ts'
import { attachSliceResolvers } from '../../graphql/schema/connection.ts'
import { operationOfField } from '../../graphql/schema/mutation.ts'
import type { Mode } from '../../operations/context.ts'

export const sandboxSchema = withNullableRoots(attachSliceResolvers(builder.toSchema()))

export function schemaFor(mode: Mode): GraphQLSchema {
  return { sandbox: () => sandboxSchema, live: () => withoutSandbox(sandboxSchema) }[mode]()
}

export function parseSchema(text: string): GraphQLSchema {
  return buildSchema(text)
}

/**
 * An error in one root field must not discard the results of other root fields, because the other root fields may be
 * successful mutations.
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
  const sandboxFields = fields.filter(
    ([, { extensions = {} }]) => operationOfField({ extensions })?.declaration.sandboxOnly,
  )
  const prefixes = sandboxFields.map(([name]) => name.charAt(0).toUpperCase() + name.slice(1))
  const isSandboxType = ({ name }: GraphQLNamedType) => prefixes.some((prefix) => name.startsWith(prefix))
  const live = new GraphQLObjectType({
    ...config,
    fields: Object.fromEntries(fields.filter((each) => !sandboxFields.includes(each))),
  })
  return new GraphQLSchema({
    ...rest,
    mutation: live,
    types: types.filter((type) => type !== mutation && !isSandboxType(type)),
  })
}
