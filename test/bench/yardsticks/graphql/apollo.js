import { ApolloServer } from '@apollo/server'
import { fastifyApolloHandler } from '@as-integrations/fastify'
import DataLoader from 'dataloader'
import { fastify } from 'fastify'
import * as data from './data.js'

// Apollo Server on Fastify with DataLoader, over statements prepared once. No log, no limits. `node apollo.js <path>`.
const loadable = (row, key, loader) => (row[key] === null ? null : loader.load(row[key]))

const resolvers = {
  ...data.resolvers,
  Query: {
    wallet: (_, { id }, { merchantId }) => data.walletById(merchantId, id),
    payouts: (_, { first = 20 }, { merchantId }) => ({ merchantId, nodes: data.payouts(merchantId, first) }),
  },
  Payout: {
    ...data.resolvers.Payout,
    customer: (payout, _, { customers }) => loadable(payout, 'customer_id', customers),
    wallet: (payout, _, { wallets }) => loadable(payout, 'wallet_id', wallets),
  },
  Wallet: { ...data.resolvers.Wallet, addresses: ({ id }, _, { addresses }) => addresses.load(id) },
}

const server = new ApolloServer({ typeDefs: data.typeDefs, resolvers })
await server.start()
const app = fastify()
const context = async ({ headers }) => {
  const merchantId = data.merchantOf(headers)
  return {
    merchantId,
    customers: new DataLoader(async (ids) => data.customersByIds(merchantId, ids)),
    wallets: new DataLoader(async (ids) => data.walletsByIds(merchantId, ids)),
    addresses: new DataLoader(async (ids) => data.addressesOf(merchantId, ids)),
  }
}
app.post('/graphql', fastifyApolloHandler(server, { context }))
data.announce(await app.listen({ host: '127.0.0.1', port: 0 }))
