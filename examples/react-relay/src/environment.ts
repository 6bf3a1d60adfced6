import type { GraphQLResponse, RequestParameters, Variables } from 'relay-runtime'
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime'
import { service } from './service'

async function fetchOnce({ text }: RequestParameters, variables: Variables): Promise<GraphQLResponse> {
  const answer = await service.fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: text, variables }),
  })
  return answer.json()
}

/** Subscriptions over server-sent events. When one starts without a last event, `onStart` refetches what is shown. */
function stream({ text }: RequestParameters, variables: Variables) {
  return Observable.create<GraphQLResponse>((sink) =>
    service.forward({ query: text ?? '', variables }, sink, {
      onStart: () => dispatchEvent(new Event('stream-start')),
      // A pending response may be older than an event and must not overwrite it in the store.
      isAfterResponses: true,
    }),
  )
}

export const environment = new Environment({
  network: Network.create(fetchOnce, stream),
  store: new Store(new RecordSource()),
})
