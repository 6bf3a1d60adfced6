import { useApolloClient, useFragment } from '@apollo/client/react'
import { createPendingRequests } from '@payout-gateway/client'
import { useEffect, useEffectEvent, useState } from 'react'
import { putFirst } from './client'
import { createPayout, payoutQuote, payoutRow } from './documents'
import type { CreatePayoutInput, PayMutation, PayoutRowFragment, QuoteQuery } from './gql/graphql'
import { money } from './money'
import { PayForm } from './PayForm'
import { Status } from './PayoutList'

type Quote = NonNullable<QuoteQuery['payoutQuote']>
type Answer = NonNullable<PayMutation['createPayout']>
type Refusal = Exclude<Quote | Answer, { __typename: 'PayoutQuote' | 'CreatePayoutPayload' }>

type Step =
  | { readonly is: 'open' | 'asking' }
  | { readonly is: 'quoted'; readonly quote: Quote; readonly input: CreatePayoutInput }
  | { readonly is: 'sent' | 'unknown'; readonly input: CreatePayoutInput }
  | { readonly is: 'answered'; readonly answer: Answer }
  | { readonly is: 'failed'; readonly message: string }

/** Gets a quote, which moves no money, then creates the quoted payout and shows its status. */
export function Pay({ customerId, walletId }: { customerId: string; walletId: string | undefined }) {
  const client = useApolloClient()
  const [step, setStep] = useState<Step>({ is: 'open' })
  // Payouts without a response survive a reload, and are sent again with the same idempotency key.
  const pending = createPendingRequests<CreatePayoutInput>(localStorage, customerId)

  async function ask(form: Pick<CreatePayoutInput, 'amount' | 'recipient'>) {
    setStep({ is: 'asking' })
    const quoteInput = { customerId, walletId, assetCode: 'USDC' as const, ...form }
    try {
      const { data } = await client.query({
        query: payoutQuote,
        variables: { input: quoteInput },
        fetchPolicy: 'no-cache',
      })
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
      const { data } = await client.mutate({ mutation: createPayout, variables: { input } })
      const answer = data?.createPayout
      if (!answer) throw new Error('No answer')
      pending.remove(input)
      if (answer.__typename === 'CreatePayoutPayload') putFirst(client.cache, answer.payout)
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
        {step.is === 'quoted' && <Quoted quote={step.quote} onPay={() => pay(step.input)} />}
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

function Quoted({ quote, onPay }: { quote: Quote; onPay: () => void }) {
  if (quote.__typename !== 'PayoutQuote') return <Refused refusal={quote} />
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

function Answered({ answer }: { answer: Answer }) {
  return answer.__typename === 'CreatePayoutPayload' ? <Paid payout={answer.payout} /> : <Refused refusal={answer} />
}

/** The current payout: the stream of events updates the cache. */
function Paid({ payout }: { payout: PayoutRowFragment }) {
  const { data, complete } = useFragment({ fragment: payoutRow, fragmentName: 'PayoutRow', from: payout })
  const current = complete ? data : payout
  return (
    <p className="paid" data-testid="paid">
      {money(current.amountFiat, current.recipientCurrency)} to {current.recipientName} <Status of={current} />
    </p>
  )
}

/** The reason why nothing was paid. Each error has a type, so the page can phrase each its own way. */
function Refused({ refusal }: { refusal: Refusal }) {
  return (
    <p role="alert" data-testid="refusal">
      {refusal.__typename === 'InsufficientFundsError'
        ? `Your wallet holds ${money(refusal.available, 'USDC')}, and this takes ${money(refusal.required, 'USDC')}.`
        : refusal.message}
    </p>
  )
}
