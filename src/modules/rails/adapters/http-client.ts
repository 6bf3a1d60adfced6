import type { WallClock } from '../../../core/ids.ts'
import { laterBy } from '../../../core/ids.ts'
import { createCaller } from '../../webhooks/transport/agent-options.ts'
import type { Exchanged, Limits, Outgoing } from '../../webhooks/transport/http-exchange.ts'
import type { Signer } from '../../webhooks/transport/signing-secrets.ts'
import { signedHeaders } from '../../webhooks/transport/standard-webhooks.ts'

/** What a bank is asked. */
export type Question = 'submit' | 'find' | 'cancel'

/** What is asked, and how the request differs from what we ask: to see whether a bank notices, or by more headers. */
export type BankCall = {
  readonly question: Question
  readonly orderId: string
  readonly body?: string
  readonly signedBy?: Signer
  readonly signedAs?: string
  readonly ageMs?: number
  readonly headers?: (signed: Outgoing['headers']) => Outgoing['headers']
}

type BankOptions = {
  /** Where its paths begin, such as `https://bank.example/v1`. */
  readonly url: string
  readonly signer: Signer
  /** The machine's clock: a bank refuses what is older than five minutes. */
  readonly wallClock: WallClock
  readonly limits: Limits
}

/** Asks a bank over HTTP; `close` ends idle connections. */
export type Bank = { readonly call: (call: BankCall) => Promise<Exchanged>; readonly close: () => void }

/**
 * Makes what asks a bank. What is signed is `webhook-id`, the time and the body. A `find` and a `cancel` have none, so the
 * `webhook-id` says the question and the order, as `find_<order id>`: who has seen one can't make another of it.
 */
export function bankAt({ url, signer, wallClock, limits }: BankOptions): Bank {
  const { exchange, close } = createCaller({ limits })
  return {
    call: ({
      question,
      orderId,
      body = '',
      signedBy = signer,
      signedAs = messageId(question, orderId),
      ageMs = 0,
      headers = same,
    }) => {
      const signed = signedHeaders(signedAs, { body, signer: signedBy, now: laterBy(-ageMs, wallClock()) })
      const all = { ...signed, ...(question === 'submit' && { 'idempotency-key': orderId }) }
      const method = ({ submit: 'POST', find: 'GET', cancel: 'POST' } as const)[question]
      return exchange(new URL(`${url}${pathOf(question, orderId)}`), { method, headers: headers(all), body })
    },
    close,
  }
}

/** What a request is signed as. */
export function messageId(question: Question, orderId: string): string {
  return `${question}_${orderId}`
}

function pathOf(question: Question, orderId: string): string {
  return { submit: '/transfers', find: `/transfers/${orderId}`, cancel: `/transfers/${orderId}/cancel` }[question]
}

function same(headers: Outgoing['headers']): Outgoing['headers'] {
  return headers
}
