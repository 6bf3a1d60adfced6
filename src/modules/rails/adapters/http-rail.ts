import { DomainError } from '../../../core/errors.ts'
import type { WallClock } from '../../../core/ids-and-clock.ts'
import { wallTimeAfter } from '../../../core/ids-and-clock.ts'
import type { HttpResult, HttpTimeouts, OutgoingRequest } from '../../webhooks/transport/http-exchange.ts'
import type { Signer } from '../../webhooks/transport/signing-secrets.ts'
import { parseSigner } from '../../webhooks/transport/signing-secrets.ts'
import { createSignedHeaders, verifySignature } from '../../webhooks/transport/standard-webhooks.ts'
import { createTrustedHttpClient } from '../../webhooks/transport/trusted-http-client.ts'
import type { CallHeaders, PaymentInstruction, Rail } from './rail.ts'
import { encodePaymentInstruction, parseBankReport, parseCancellation, parsePostedReports } from './wire-format.ts'

const day = 24 * 3_600_000

/** How long a bank may take. */
export const bankLimits: HttpTimeouts = { connectMs: 5_000, wholeMs: 30_000 }

/** A rail as the configuration has it. */
export type HttpRailConfig = {
  readonly name: string
  /** Where its paths begin, without a slash at the end. */
  readonly url: string
  /** `whsec_…`, the newest first: all sign what the bank is asked, and any may sign what it reports. */
  readonly secrets: readonly string[]
}

type HttpRailOptions = HttpRailConfig & {
  /** The machine's clock, whatever a merchant's says: it is what signatures are held to. */
  readonly wallClock: WallClock
  readonly limits?: HttpTimeouts
}

/**
 * Any bank that answers by HTTP (docs/guides/rails.md).
 *
 * Definite is only what the documented answers say. All else that may happen to a request throws, and then nothing is known of
 * the order. Answers are not signed: they come over the connection that we have opened, which TLS says the other end of.
 *
 * @throws where a secret is none
 */
export function createHttpRail({ name, url, secrets, wallClock, limits = bankLimits }: HttpRailOptions): Rail {
  const signer = parseSigner(secrets)
  const { call } = createBankClient({ url, signer, wallClock, limits })
  const request = async (question: BankRequestType, order: PaymentInstruction, more: CallHeaders = {}) => {
    const body = question === 'submit' ? encodePaymentInstruction(order) : ''
    return requireWholeResponse(
      await call({ type: question, orderId: order.id, body, headers: (own) => ({ ...more, ...own }) }),
    )
  }
  return {
    name,
    maxConcurrentCalls: 8,
    callMs: limits.wholeMs,
    idempotentForMs: 30 * day,
    submit: async (order, headers) => {
      const { status, body } = await request('submit', order, headers)
      const report = parseBankReport(order.id, body)
      if (report && (isSuccess(status) || (status === unprocessable && report.state === 'REJECTED'))) return report
      throw unexpectedResponse(status)
    },
    find: async (order, headers) => {
      const { status, body } = await request('find', order, headers)
      if (status === notFound) return 'NOT_FOUND'
      const report = parseBankReport(order.id, body)
      if (report && isSuccess(status)) return report
      throw unexpectedResponse(status)
    },
    cancel: async (order, headers) => {
      const { status, body } = await request('cancel', order, headers)
      const answer = parseCancellation(order.id, body)
      if (answer && status === { CANCELLED: ok, TOO_LATE: conflict }[answer]) return answer
      throw unexpectedResponse(status)
    },
    reports: {
      verify: ({ headers, body, now }) => {
        const id = verifySignature(headers, { body, signer, now })
        if (id !== null) return id
        throw new DomainError(
          'INVALID_TOKEN',
          "The signature is not by the rail's secret, or not of the last five minutes.",
        )
      },
      read: parsePostedReports,
    },
  }
}

// What a bank answers with (RFC 9110).
const [ok, created, notFound, conflict, unprocessable] = [200, 201, 404, 409, 422] as const

function isSuccess(status: number): boolean {
  return status === ok || status === created
}

/** @throws where there is no whole answer */
function requireWholeResponse(exchanged: HttpResult): { status: number; body: Buffer } {
  if ('kind' in exchanged) throw new Error(`the bank did not answer: ${exchanged.message}`)
  const { status, isWhole, beginning } = exchanged
  if (isWhole) return { status, body: beginning }
  throw new Error(`the bank answered with ${status} and more than 64 KiB`)
}

function unexpectedResponse(status: number): Error {
  const isStated = isSuccess(status) || status === unprocessable || status === conflict
  return new Error(`the bank answered with ${status}${isStated ? ' and no state with the id of this order' : ''}`)
}

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
