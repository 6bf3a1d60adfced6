import { builder } from '../graphql/builder.ts'
import { loaderOf } from '../graphql/loader.ts'
import { addNodeType, Node, nodeId } from '../graphql/node.ts'
import { getMerchant } from './get-merchant.ts'
import type { Merchant as MerchantRow } from './merchant.ts'

/** A request sees no merchant but its own. */
const merchantLoader = loaderOf<MerchantRow | null>(async (context) => {
  const merchant = await getMerchant(context)
  return (id) => (id === merchant.id ? merchant : null)
})

export const Merchant = builder.objectRef<MerchantRow>('Merchant').implement({
  description: 'The business that holds the API key: it has customers, wallets, payout methods and payouts.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('Merchant', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST paths use.' }),
    name: t.exposeString('name', { description: 'What it is called.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was registered.' }),
  }),
})

addNodeType('Merchant', merchantLoader)

builder.queryField('merchant', (t) =>
  t.field({
    type: Merchant,
    description: 'The merchant that the API key belongs to: who am I?',
    resolve: (_, __, context) => getMerchant(context),
  }),
)
