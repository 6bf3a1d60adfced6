import { useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { payoutList } from './documents'
import type { PayoutRowFragment } from './gql/graphql'
import { money } from './money'

/** All payouts, newest first, with infinite scroll. */
export function PayoutList() {
  const [after, setAfter] = useState<string>()
  const [{ data, error, fetching }] = useQuery({ query: payoutList, variables: after ? { after } : {} })
  const { edges = [], pageInfo } = data?.payouts ?? {}
  const readMore = () => setAfter(pageInfo?.endCursor ?? undefined)
  return (
    <section className="card list">
      <h2>Your payouts</h2>
      <ul aria-label="Payouts">
        {edges.map(({ node }) => (
          <Row key={node.id} payout={node} />
        ))}
      </ul>
      {error && <p role="alert">{error.message}</p>}
      {pageInfo?.hasNextPage && !fetching && !error && <WhenSeen key={pageInfo.endCursor} onSeen={readMore} />}
      {fetching && <p className="quiet">Loading …</p>}
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
