import { type Cache, cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { Client, fetchExchange, subscriptionExchange } from 'urql'
import { payoutList } from './documents'
import type { CustomerEventsSubscription, PayMutation, PayoutRowFragment } from './gql/graphql'
import possibleTypes from './gql/possible-types'
import { service } from './service'

/** A cache normalized by id: a response or event updates every component that shows the object. */
const cache = cacheExchange({
  ...possibleTypes,
  resolvers: {
    Query: { payouts: relayPagination(), payout: (_, { id }) => ({ __typename: 'Payout', id: String(id) }) },
  },
  updates: {
    Mutation: {
      createPayout: ({ createPayout: answer }: PayMutation, _, cache) => {
        if (answer?.__typename === 'CreatePayoutPayload') putFirst(cache, answer.payout)
      },
    },
    Subscription: {
      eventPublished: ({ eventPublished: { type, payout } }: CustomerEventsSubscription, _, cache) => {
        if (type === 'PAYOUT_INITIATED' && payout) putFirst(cache, payout)
      },
    },
  },
})

/** Subscriptions over server-sent events. When one starts without a last event, it refetches the newest payouts. */
const stream = subscriptionExchange({
  forwardSubscription: ({ query = '', variables = {} }) => ({
    subscribe: (sink) => ({
      unsubscribe: service.forward({ query, variables }, sink, {
        onStart: () => void client.query(payoutList, {}, { requestPolicy: 'network-only' }).toPromise(),
        // A pending response may be older than an event and must not overwrite it in the cache.
        isAfterResponses: true,
      }),
    }),
  }),
})

export const client = new Client({
  url: '/graphql',
  fetch: service.fetch as typeof fetch,
  preferGetMethod: false,
  exchanges: [cache, stream, fetchExchange],
})

/** Prepends a new payout to the list, unless it is there: both the response and the event contain it. */
function putFirst(cache: Cache, payout: PayoutRowFragment): void {
  cache.updateQuery({ query: payoutList, variables: {} }, (data) => {
    const { payouts } = data ?? {}
    if (!payouts || payouts.edges.some(({ node }) => node.id === payout.id)) return data
    const edge = { __typename: 'PayoutEdge' as const, cursor: '', node: payout }
    return { ...data, payouts: { ...payouts, edges: [edge, ...payouts.edges] } }
  })
}
