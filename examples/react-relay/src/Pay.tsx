import { createPendingRequests } from '@payout-gateway/client'
import { useEffect, useEffectEvent, useState } from 'react'
import { commitMutation, fetchQuery, graphql, useFragment, useRelayEnvironment } from 'react-relay'
import type { Environment } from 'relay-runtime'
import type { Pay_payout$key } from './__generated__/Pay_payout.graphql'
import type { CreatePayoutInput, PayMutation, PayMutation$data } from './__generated__/PayMutation.graphql'
import type { PayQuoteQuery, PayQuoteQuery$data } from './__generated__/PayQuoteQuery.graphql'
import { money } from './money'
import { PayForm } from './PayForm'
import { putFirst } from './PayoutList'
import { Status } from './PayoutRow'
import { Refused } from './Refused'

const quoteQuery = graphql`
  query PayQuoteQuery($input: PayoutQuoteInput!) {
    payoutQuote(input: $input) {
      ... on PayoutQuote @alias(as: "quote") {
        fee
        total
        exchangeRate
        amountFiat
        recipientCurrency
        wallet {
          description
        }
        warnings {
          outcome
          message
        }
      }
      ...Refused_error @alias(as: "refusal")
    }
  }
`

const mutation = graphql`
  mutation PayMutation($input: CreatePayoutInput!) {
    createPayout(input: $input) {
      ... on CreatePayoutPayload @alias(as: "paid") {
        payout {
          id
          ...Pay_payout
          ...PayoutRow_payout
          wallet {
            ...App_wallet
          }
        }
      }
      ...Refused_error @alias(as: "refusal")
    }
  }
`

type Quote = NonNullable<PayQuoteQuery$data['payoutQuote']>
type Answer = NonNullable<PayMutation$data['createPayout']>

type Step =
  | { readonly is: 'open' | 'asking' }
  | { readonly is: 'quoted'; readonly quote: Quote; readonly input: CreatePayoutInput }
  | { readonly is: 'sent' | 'unknown'; readonly input: CreatePayoutInput }
  | { readonly is: 'answered'; readonly answer: Answer }
  | { readonly is: 'failed'; readonly message: string }

/** Gets a quote, which moves no money, then creates the quoted payout and shows its status. */
export function Pay({ customerId, walletId }: { customerId: string; walletId: string | undefined }) {
  const environment = useRelayEnvironment()
  const [step, setStep] = useState<Step>({ is: 'open' })
  // Payouts without a response survive a reload, and are sent again with the same idempotency key.
  const pending = createPendingRequests<CreatePayoutInput>(localStorage, customerId)

  async function ask(form: Pick<CreatePayoutInput, 'amount' | 'recipient'>) {
    setStep({ is: 'asking' })
    const quoteInput = { customerId, walletId, assetCode: 'USDC' as const, ...form }
    try {
      const data = await fetchQuery<PayQuoteQuery>(environment, quoteQuery, { input: quoteInput }).toPromise()
      if (!data?.payoutQuote) throw new Error('There is no quote now.')
      // One idempotency key per payout: every retry uses it, so it is paid once.
      setStep({ is: 'quoted', quote: data.payoutQuote, input: { ...quoteInput, idempotencyKey: crypto.randomUUID() } })
    } catch (error) {
      setStep({ is: 'failed', message: String(error) })
    }
  }

  async function pay(input: CreatePayoutInput) {
    pending.add(input)
    setStep({ is: 'sent', input })
    try {
      const answer = await send(environment, input)
      pending.remove(input)
      setStep({ is: 'answered', answer })
    } catch {
      // It may have been paid and only the response lost. It stays stored, and a retry uses the same key.
      setStep({ is: 'unknown', input })
    }
  }

  const payAgain = useEffectEvent(() => {
    for (const input of pending.list()) void pay(input)
  })
  useEffect(() => payAgain(), [])

  return (
    <section className="card pay">
      <h2>Pay out</h2>
      <PayForm
        onChange={() => step.is === 'quoted' && setStep({ is: 'open' })}
        onSubmit={ask}
        isBusy={step.is === 'asking' || step.is === 'sent'}
      />
      <div aria-live="polite">
        {step.is === 'quoted' && <Quoted answer={step.quote} onPay={() => pay(step.input)} />}
        {step.is === 'sent' && <p className="quiet">Paying …</p>}
        {step.is === 'answered' && <Answered answer={step.answer} />}
        {step.is === 'failed' && <p role="alert">{step.message}</p>}
        {step.is === 'unknown' && (
          <div role="alert">
            <p>The outcome of your payout of {money(step.input.amount, step.input.assetCode)} is unknown.</p>
            <button type="button" onClick={() => pay(step.input)}>
              Try again: it is paid only once
            </button>
          </div>
        )}
      </div>
    </section>
  )
}

/** Resolves with the response; rejects if the outcome is unknown. */
function send(environment: Environment, input: CreatePayoutInput): Promise<Answer> {
  return new Promise((resolve, reject) =>
    commitMutation<PayMutation>(environment, {
      mutation,
      variables: { input },
      updater: (store) => {
        const payout = store.getRootField('createPayout')?.getLinkedRecord('payout')
        if (payout) putFirst(store, payout)
      },
      onCompleted: ({ createPayout }) => (createPayout ? resolve(createPayout) : reject(new Error('No answer'))),
      onError: reject,
    }),
  )
}

function Quoted({ answer: { quote, refusal }, onPay }: { answer: Quote; onPay: () => void }) {
  if (refusal) return <Refused error={refusal} />
  if (!quote) return null
  const warnings = quote.warnings.filter(({ outcome }) => outcome === 'FAILED')
  return (
    <>
      <dl>
        <dt>Paid from</dt>
        <dd>{quote.wallet.description}</dd>
        <dt>Fee</dt>
        <dd>{money(quote.fee ?? '0', 'USDC')}</dd>
        <dt>Leaves your wallet</dt>
        <dd>{money(quote.total, 'USDC')}</dd>
        <dt>Rate</dt>
        <dd>{money(quote.exchangeRate, quote.recipientCurrency)}</dd>
        <dt>Arrives</dt>
        <dd className="arrives">{money(quote.amountFiat, quote.recipientCurrency)}</dd>
      </dl>
      {warnings.map(({ message }) => (
        <p key={message} className="warning">
          {message}
        </p>
      ))}
      <button type="button" className="main" onClick={onPay}>
        Pay {money(quote.total, 'USDC')}
      </button>
    </>
  )
}

function Answered({ answer: { paid, refusal } }: { answer: Answer }) {
  if (refusal) return <Refused error={refusal} />
  return paid && <Paid payout={paid.payout} />
}

/** The current payout: the stream of events updates the store. */
function Paid({ payout }: { payout: Pay_payout$key }) {
  const data = useFragment(
    graphql`
      fragment Pay_payout on Payout {
        amountFiat
        recipientCurrency
        recipientName
        ...PayoutRow_status
      }
    `,
    payout,
  )
  return (
    <p className="paid" data-testid="paid">
      {money(data.amountFiat, data.recipientCurrency)} to {data.recipientName} <Status of={data} />
    </p>
  )
}
