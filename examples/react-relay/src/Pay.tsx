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
import { forget, keep, unanswered } from './unanswered'

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

/** First a quote, which moves nothing; then the payout that was quoted, and what becomes of it. */
export function Pay({ customerId, walletId }: { customerId: string; walletId: string | undefined }) {
  const environment = useRelayEnvironment()
  const [step, setStep] = useState<Step>({ is: 'open' })

  async function ask(form: Pick<CreatePayoutInput, 'amount' | 'recipient'>) {
    setStep({ is: 'asking' })
    const asked = { customerId, walletId, assetCode: 'USDC' as const, ...form }
    try {
      const data = await fetchQuery<PayQuoteQuery>(environment, quoteQuery, { input: asked }).toPromise()
      if (!data?.payoutQuote) throw new Error('There is no quote now.')
      // One key for this one payout: however often it is sent, it is paid once.
      setStep({ is: 'quoted', quote: data.payoutQuote, input: { ...asked, idempotencyKey: crypto.randomUUID() } })
    } catch (error) {
      setStep({ is: 'failed', message: String(error) })
    }
  }

  async function pay(input: CreatePayoutInput) {
    keep(input)
    setStep({ is: 'sent', input })
    try {
      const answer = await send(environment, input)
      forget(input)
      setStep({ is: 'answered', answer })
    } catch {
      // Perhaps it was paid and only the answer is lost. It is kept, and sent again with the same key.
      setStep({ is: 'unknown', input })
    }
  }

  const payAgain = useEffectEvent(() => {
    for (const input of unanswered<CreatePayoutInput>(customerId)) void pay(input)
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
            <p>It is not known whether your payout of {money(step.input.amount, step.input.assetCode)} was made.</p>
            <button type="button" onClick={() => pay(step.input)}>
              Ask again: it is paid once
            </button>
          </div>
        )}
      </div>
    </section>
  )
}

/** Resolves when there is an answer, and rejects when nobody knows of one. */
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

/** The payout as it is now, which the store learns from the stream. */
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
