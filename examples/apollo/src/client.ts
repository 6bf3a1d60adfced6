import { type ApolloCache, ApolloClient, ApolloLink, HttpLink, InMemoryCache, Observable } from '@apollo/client'
import { relayStylePagination } from '@apollo/client/utilities'
import { OperationTypeNode, print } from 'graphql'
import { payoutList } from './documents'
import type { PayoutRowFragment } from './gql/graphql'
import possibleTypes from './gql/possible-types'
import { service } from './service'

const http = new HttpLink({ uri: '/graphql', fetch: service.fetch })

/** Subscriptions over server-sent events. When one starts without a last event, it refetches all active queries. */
const stream = new ApolloLink(
  ({ query, variables, client }) =>
    new Observable((observer) =>
      service.forward({ query: print(query), variables }, observer, {
        onStart: () => void client.refetchQueries({ include: 'active' }),
        // A pending response may be older than an event and must not overwrite it in the cache.
        isAfterResponses: true,
      }),
    ),
)

export const client = new ApolloClient({
  link: ApolloLink.split(({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION, stream, http),
  cache: new InMemoryCache({
    ...possibleTypes,
    typePolicies: { Query: { fields: { payouts: relayStylePagination() } } },
  }),
})

/** Prepends a new payout to the list, unless it is there: both the response and the event contain it. */
export function putFirst(cache: ApolloCache, payout: PayoutRowFragment): void {
  cache.updateQuery({ query: payoutList }, (data) => {
    const { payouts } = data ?? {}
    if (!payouts || payouts.edges.some(({ node }) => node.id === payout.id)) return data
    return { payouts: { ...payouts, edges: [{ cursor: '', node: payout }, ...payouts.edges] } }
  })
}
