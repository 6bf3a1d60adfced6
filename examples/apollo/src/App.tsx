import { useQuery, useSubscription } from '@apollo/client/react'
import { putFirst } from './client'
import { customerEvents, overview } from './documents'
import { money } from './money'
import { Pay } from './Pay'
import { PayoutList } from './PayoutList'

/** The page of one customer: the wallet's balance, a form to pay, and the payouts, with live updates. */
export function App({ customerId }: { customerId: string }) {
  const { data, error } = useQuery(overview, { variables: { customerId } })
  // Shown payouts and wallets update themselves, because the cache is normalized by id.
  useSubscription(customerEvents, {
    onData: ({ client, data: { data } }) => {
      const { type, payout } = data?.eventPublished ?? {}
      if (type === 'PAYOUT_INITIATED' && payout) putFirst(client.cache, payout)
    },
  })
  if (error) return <p role="alert">{error.message}</p>
  const { personalInfo, wallets } = data?.customer ?? {}
  // The oldest wallet: the service also prefers it among those that cover a payout.
  const wallet = wallets?.nodes[0]
  return (
    <main className="page">
      <header>
        <h1>Payouts</h1>
        <p>
          {personalInfo?.firstName} {personalInfo?.lastName}
        </p>
      </header>
      <aside>
        <section className="card wallet">
          <h2>You pay from {wallet?.description ?? '…'}</h2>
          <p data-testid="balance">{wallet ? money(wallet.balance, wallet.currency) : '…'}</p>
        </section>
        {data && <Pay customerId={customerId} walletId={wallet?.id} />}
      </aside>
      <PayoutList />
    </main>
  )
}
