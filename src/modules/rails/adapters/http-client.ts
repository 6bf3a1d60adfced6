import type { WallClock } from '../../../core/ids-and-clock.ts'
import { wallTimeAfter } from '../../../core/ids-and-clock.ts'
import type { HttpResult, HttpTimeouts, OutgoingRequest } from '../../webhooks/transport/http-exchange.ts'
import { createTrustedHttpClient } from '../../webhooks/transport/http-exchange.ts'
import type { Signer } from '../../webhooks/transport/standard-webhooks.ts'
import { createSignedHeaders } from '../../webhooks/transport/standard-webhooks.ts'

/** What a bank is asked. */
export type BankRequestType = 'submit' | 'find' | 'cancel'

/** What is asked, and how the request differs from what we ask: to see whether a bank notices, or by more headers. */
export type BankRequest = {
  readonly type: BankRequestType
  readonly orderId: string
  readonly body?: string
  readonly signedBy?: Signer
  readonly signedAs?: string
  readonly ageMs?: number
  readonly headers?: (signed: OutgoingRequest['headers']) => OutgoingRequest['headers']
}

type BankClientOptions = {
  /** Where its paths begin, such as `https://bank.example/v1`. */
  readonly url: string
  readonly signer: Signer
  /** The machine's clock: a bank refuses what is older than five minutes. */
  readonly wallClock: WallClock
  readonly limits: HttpTimeouts
}

/** Asks a bank over HTTP; `close` ends idle connections. */
export type BankClient = { readonly call: (call: BankRequest) => Promise<HttpResult>; readonly close: () => void }

/**
 * Makes what asks a bank. What is signed is `webhook-id`, the time and the body. A `find` and a `cancel` have none, so the
 * `webhook-id` says the question and the order, as `find_<order id>`: who has seen one can't make another of it.
 */
export function createBankClient({ url, signer, wallClock, limits }: BankClientOptions): BankClient {
  const { send: exchange, close } = createTrustedHttpClient({ limits })
  return {
    call: ({
      type: question,
      orderId,
      body = '',
      signedBy = signer,
      signedAs = messageId(question, orderId),
      ageMs = 0,
      headers = unchangedHeaders,
    }) => {
      const signed = createSignedHeaders(signedAs, { body, signer: signedBy, now: wallTimeAfter(-ageMs, wallClock()) })
      const all = { ...signed, ...(question === 'submit' && { 'idempotency-key': orderId }) }
      const method = ({ submit: 'POST', find: 'GET', cancel: 'POST' } as const)[question]
      return exchange(new URL(`${url}${requestPath(question, orderId)}`), { method, headers: headers(all), body })
    },
    close,
  }
}

/** What a request is signed as. */
export function messageId(question: BankRequestType, orderId: string): string {
  return `${question}_${orderId}`
}

function requestPath(question: BankRequestType, orderId: string): string {
  return { submit: '/transfers', find: `/transfers/${orderId}`, cancel: `/transfers/${orderId}/cancel` }[question]
}

function unchangedHeaders(headers: OutgoingRequest['headers']): OutgoingRequest['headers'] {
  return headers
}
