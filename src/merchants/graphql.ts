import { addQuery, askedById, column } from '../graphql/fields.ts'
import { nodeType } from '../graphql/node.ts'
import { getMerchant } from './get-merchant.ts'
import type { Merchant as MerchantRow } from './merchant.ts'

export const Merchant = nodeType<MerchantRow>('Merchant', {
  description: 'The business that holds the API key: it has customers, wallets, payout methods and payouts.',
  // A request sees no merchant but its own.
  source: {
    find: async (context) => {
      const merchant = await getMerchant(context)
      return (id) => (id === merchant.id ? merchant : null)
    },
  },
  fields: {
    uuid: column('id', 'The id that the REST paths use.', 'UUID'),
    name: column('name', 'What it is called.'),
    createdAt: column('createdAt', 'When it was registered.', 'DateTime'),
  },
})

addQuery(
  'merchant',
  askedById(Merchant, 'The merchant that the API key belongs to: who am I?', {}, (_, { merchantId }) => merchantId),
)
