import type { GraphQLResponse, RequestParameters, Variables } from 'relay-runtime'
import { Environment, Network, Observable, RecordSource, Store } from 'relay-runtime'
import { follow } from './follow'
import { fetchWithToken } from './token'

async function fetchOnce({ text }: RequestParameters, variables: Variables): Promise<GraphQLResponse> {
  const answer = await fetchWithToken('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: text, variables }),
  })
  return answer.json()
}

/** Subscriptions over server-sent events. When one starts without a last event, `onStart` refetches what is shown. */
function stream({ text }: RequestParameters, variables: Variables) {
  return Observable.create<GraphQLResponse>((sink) =>
    follow<GraphQLResponse>(
      { query: text ?? '', variables },
      { onStart: () => dispatchEvent(new Event('stream-start')), onResult: (result) => sink.next(result) },
    ),
  )
}

export const environment = new Environment({
  network: Network.create(fetchOnce, stream),
  store: new Store(new RecordSource()),
})
