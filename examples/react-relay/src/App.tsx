import { useEffect, useMemo } from 'react'
import { fetchQuery, graphql, useFragment, useLazyLoadQuery, useRelayEnvironment, useSubscription } from 'react-relay'
import type { App_wallet$key } from './__generated__/App_wallet.graphql'
import type { AppEventsSubscription } from './__generated__/AppEventsSubscription.graphql'
import type { AppQuery } from './__generated__/AppQuery.graphql'
import { money } from './money'
import { Pay } from './Pay'
import { PayoutList, putFirst } from './PayoutList'

const query = graphql`
  query AppQuery($customerId: ID!) {
    customer(id: $customerId) {
      personalInfo {
        firstName
        lastName
      }
      wallets(last: 1, filter: { currency: "USDC" }) {
        nodes {
          id
          description
          ...App_wallet
        }
      }
    }
    ...PayoutList_query
  }
`

const events = graphql`
  subscription AppEventsSubscription {
    eventPublished(
      types: [PAYOUT_INITIATED, PAYOUT_COMPLETED, PAYOUT_FAILED, PAYOUT_RETURNED, WALLET_TRANSACTION_INBOUND]
    ) {
      type
      payout {
        ...PayoutRow_payout
        wallet {
          ...App_wallet
        }
      }
      wallet {
        ...App_wallet
      }
    }
  }
`

/** The page of one customer: the wallet's balance, a form to pay, and the payouts, with live updates. */
export function App({ customerId }: { customerId: string }) {
  const environment = useRelayEnvironment()
  const variables = useMemo(() => ({ customerId }), [customerId])
  const data = useLazyLoadQuery<AppQuery>(query, variables)
  // Shown payouts and wallets update themselves, because the store is normalized by id.
  useSubscription<AppEventsSubscription>(
    useMemo(
      () => ({
        subscription: events,
        variables: {},
        updater: (store, told) => {
          const payout = store.getRootField('eventPublished').getLinkedRecord('payout')
          if (payout && told?.eventPublished.type === 'PAYOUT_INITIATED') putFirst(store, payout)
        },
      }),
      [],
    ),
  )
  useEffect(() => {
    const askAgain = () => void fetchQuery(environment, query, variables).subscribe({})
    addEventListener('stream-start', askAgain)
    return () => removeEventListener('stream-start', askAgain)
  }, [environment, variables])
  const { personalInfo, wallets } = data.customer ?? {}
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
          <p data-testid="balance">{wallet && <Balance of={wallet} />}</p>
        </section>
        <Pay customerId={customerId} walletId={wallet?.id} />
      </aside>
      <PayoutList query={data} />
    </main>
  )
}

function Balance({ of }: { of: App_wallet$key }) {
  const { balance, currency } = useFragment(
    graphql`
      fragment App_wallet on Wallet {
        balance
        currency
      }
    `,
    of,
  )
  return money(balance, currency)
}
