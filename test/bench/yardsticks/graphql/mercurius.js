import { fastify } from 'fastify'
import mercurius from 'mercurius'
import * as data from './data.js'

// Mercurius, which compiles a query after its first use: `node mercurius.js <path> <loaders|joins>`. Statements are
// prepared once. No log, no limits.
const [, , , form] = process.argv

const resolvers = {
  ...data.resolvers,
  PayoutMethod: { resolveType: ({ type }) => (type === 'BANK' ? 'BankPayoutMethod' : 'WalletPayoutMethod') },
  Customer: {
    ...data.resolvers.Customer,
    ...Object.fromEntries(
      Object.entries(data.listsOf).map(([name, list]) => [
        name,
        ({ id }, { first = 20 }, { merchantId }) => ({ merchantId, nodes: list(merchantId, id, first) }),
      ]),
    ),
  },
  Query: {
    customer: (_, { id }, { merchantId }) => data.customerById(merchantId, id),
    payoutMethods: (_, { first = 20 }, { merchantId }) => ({ nodes: data.methods(merchantId, first) }),
    wallet: (_, { id }, { merchantId }) => data.walletById(merchantId, id),
    payouts: (_, { first = 20 }, { merchantId }) => ({
      merchantId,
      nodes: form === 'joins' ? data.joinedPayouts(merchantId, first) : data.payouts(merchantId, first),
    }),
  },
}

// Without a cache: Mercurius builds the cache key of each row by serializing it, which costs more than the cache
// saves.
const opts = { cache: false }
const related = (keyOf, find) => ({
  opts,
  loader: async (queries, { merchantId }) => {
    const keys = queries.map(({ obj }) => keyOf(obj))
    const known = [...new Set(keys.filter((key) => key !== null))]
    const found = find(merchantId, known)
    const byKey = new Map(known.map((key, place) => [key, found[place]]))
    return keys.map((key) => byKey.get(key) ?? null)
  },
})
const addresses = related(({ id }) => id, data.addressesOf)
const loaders = {
  Wallet: { addresses },
  ...(form === 'loaders' && {
    Payout: {
      customer: related(({ customer_id }) => customer_id, data.customersByIds),
      wallet: related(({ wallet_id }) => wallet_id, data.walletsByIds),
    },
  }),
}

const app = fastify()
app.register(mercurius, {
  schema: data.typeDefs,
  resolvers,
  loaders,
  jit: 1,
  context: ({ headers }) => ({ merchantId: data.merchantOf(headers) }),
})
data.announce(await app.listen({ host: '127.0.0.1', port: 0 }))
