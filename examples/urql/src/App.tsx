import { useQuery, useSubscription } from 'urql'
import { customerEvents, overview } from './documents'
import { money } from './money'
import { Pay } from './Pay'
import { PayoutList } from './PayoutList'

/** The page of one customer: what the wallet holds, a form to pay, and the payouts, all of it live. */
export function App({ customerId }: { customerId: string }) {
  const [{ data, error }] = useQuery({ query: overview, variables: { customerId } })
  // Nothing to do with its results: the cache takes them in, and what shows a payout or a wallet shows it as it is now.
  useSubscription({ query: customerEvents })
  if (error) return <p role="alert">{error.message}</p>
  const { personalInfo, wallets } = data?.customer ?? {}
  // The oldest: of several that cover a payout the service takes that one too. The newest may be empty still.
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
