import { useQuery } from '@apollo/client/react'
import { useEffect, useRef } from 'react'
import { payoutList } from './documents'
import type { PayoutRowFragment } from './gql/graphql'
import { money } from './money'

/** All payouts, newest first, with infinite scroll. */
export function PayoutList() {
  const { data, error, loading, fetchMore } = useQuery(payoutList, { notifyOnNetworkStatusChange: true })
  const { edges = [], pageInfo } = data?.payouts ?? {}
  const readMore = () => void fetchMore({ variables: { after: pageInfo?.endCursor } })
  return (
    <section className="card list">
      <h2>Your payouts</h2>
      <ul aria-label="Payouts">
        {edges.map(({ node }) => (
          <Row key={node.id} payout={node} />
        ))}
      </ul>
      {error && <p role="alert">{error.message}</p>}
      {pageInfo?.hasNextPage && !loading && !error && <WhenSeen key={pageInfo.endCursor} onSeen={readMore} />}
      {loading && <p className="quiet">Loading …</p>}
    </section>
  )
}

function Row({ payout }: { payout: PayoutRowFragment }) {
  return (
    <li>
      <div>
        <strong>{payout.recipientName}</strong>
        <small>
          {payout.bankName} · {payout.accountNumber} · {new Date(payout.createdAt).toLocaleDateString('en-GB')}
        </small>
      </div>
      <div className="amounts">
        <strong>{money(payout.amount, payout.assetCode)}</strong>
        <small>{money(payout.amountFiat, payout.recipientCurrency)}</small>
      </div>
      <Status of={payout} />
    </li>
  )
}

export function Status({ of: { status } }: { of: Pick<PayoutRowFragment, 'status'> }) {
  return <span className={`status ${status.toLowerCase()}`}>{status.toLowerCase()}</span>
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
