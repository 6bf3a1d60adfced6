import { useEffect, useRef } from 'react'
import { graphql, usePaginationFragment } from 'react-relay'
import type { RecordProxy, RecordSourceProxy } from 'relay-runtime'
import { ConnectionHandler } from 'relay-runtime'
import type { PayoutList_query$key } from './__generated__/PayoutList_query.graphql'
import { PayoutRow } from './PayoutRow'

/** All payouts, newest first, with infinite scroll. */
export function PayoutList({ query }: { query: PayoutList_query$key }) {
  const { data, hasNext, isLoadingNext, loadNext } = usePaginationFragment(
    graphql`
      fragment PayoutList_query on Query
      @refetchable(queryName: "PayoutListPageQuery")
      @argumentDefinitions(after: { type: "String" }, count: { type: "Int", defaultValue: 20 }) {
        payouts(first: $count, after: $after) @connection(key: "PayoutList_payouts") {
          edges {
            node {
              id
              ...PayoutRow_payout
            }
          }
        }
      }
    `,
    query,
  )
  const edges = data.payouts?.edges ?? []
  return (
    <section className="card list">
      <h2>Your payouts</h2>
      <ul aria-label="Payouts">
        {edges.map(({ node }) => (
          <PayoutRow key={node.id} payout={node} />
        ))}
      </ul>
      {hasNext && !isLoadingNext && <WhenSeen key={edges.length} onSeen={() => loadNext(20)} />}
      {isLoadingNext && <p className="quiet">Loading …</p>}
    </section>
  )
}

/** Prepends a new payout to the list, unless it is there: both the response and the event contain it. */
export function putFirst(store: RecordSourceProxy, payout: RecordProxy): void {
  const list = ConnectionHandler.getConnection(store.getRoot(), 'PayoutList_payouts')
  const edges = list?.getLinkedRecords('edges') ?? []
  if (!list || edges.some((edge) => edge.getLinkedRecord('node')?.getDataID() === payout.getDataID())) return
  ConnectionHandler.insertEdgeBefore(list, ConnectionHandler.createEdge(store, list, payout, 'PayoutEdge'))
}

/** An invisible element that calls `onSeen` when it comes within 200px of the viewport. */
function WhenSeen({ onSeen }: { onSeen: () => void }) {
  const place = useRef<HTMLDivElement>(null)
  const latest = useRef(onSeen)
  latest.current = onSeen
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && latest.current(), {
      rootMargin: '200px',
    })
    if (place.current) observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return <div ref={place} />
}
