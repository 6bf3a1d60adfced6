import { hash } from 'node:crypto'
import { DomainError } from '../../../core/errors.ts'
import type { WallClock } from '../../../core/ids-and-clock.ts'
import { wallTimeAfter } from '../../../core/ids-and-clock.ts'
import type { HttpResult, HttpTimeouts, OutgoingRequest } from '../../webhooks/transport/http-exchange.ts'
import { createTrustedHttpClient } from '../../webhooks/transport/http-exchange.ts'
import type { Signer } from '../../webhooks/transport/standard-webhooks.ts'
import { createSignedHeaders, parseSigner, verifySignature } from '../../webhooks/transport/standard-webhooks.ts'
import type { CallHeaders, PaymentInstruction, Rail } from './rail.ts'
import {
  encodeAccount,
  encodePaymentInstruction,
  parseBankReport,
  parseBanks,
  parseCancellation,
  parsePostedReports,
  parseResolution,
} from './wire-format.ts'

const day = 24 * 3_600_000

export const bankLimits: HttpTimeouts = { connectMs: 5_000, wholeMs: 30_000 }

export type HttpRailConfig = {
  readonly name: string
  /** The bank's URL has no trailing slash. */
  readonly url: string
  /**
   * Signing secrets (`whsec_…`), newest first. Each request has one signature per secret. The bank may sign a report
   * with any of the secrets.
   */
  readonly secrets: readonly string[]
}

type HttpRailOptions = HttpRailConfig & {
  readonly wallClock: WallClock
  readonly limits?: HttpTimeouts
}

/**
 * Calls the bank API that docs/guides/rails.md describes. If the bank's response does not conform to that API, the call
 * throws, and the order's state is unknown. Responses have no signature, because TLS authenticates the bank.
 *
 * @throws if a secret is invalid
 */
export function createHttpRail({ name, url, secrets, wallClock, limits = bankLimits }: HttpRailOptions): Rail {
  const signer = parseSigner(secrets)
  const { call } = createBankClient({ url, signer, wallClock, limits })
  const lookUp = createLookup({ url, signer, wallClock, limits: shorten(limits) })
  const request = async (type: BankRequestType, order: PaymentInstruction, callHeaders: CallHeaders = {}) => {
    const body = type === 'submit' ? encodePaymentInstruction(order) : ''
    return requireWholeResponse(
      await call({ type, orderId: order.id, body, headers: (signed) => ({ ...callHeaders, ...signed }) }),
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
      const outcome = parseCancellation(order.id, body)
      if (outcome && status === { CANCELLED: ok, TOO_LATE: conflict }[outcome]) return outcome
      throw unexpectedResponse(status)
    },
    banks: async (currency) => {
      const result = await lookUp({ path: `/banks/${currency}`, signedAs: `banks_${currency}` })
      const { status, body } = requireWholeResponse(result)
      if (unsupportedStatuses.includes(status)) return 'UNSUPPORTED'
      const banks = status === ok ? parseBanks(body) : null
      if (banks) return banks
      throw new Error(`the bank responded with ${status} and no list of banks`)
    },
    resolve: async (account) => {
      const sent = encodeAccount(account)
      const signedAs = `resolve_${hash('sha256', sent, 'hex').slice(0, 32)}`
      const { status, body } = requireWholeResponse(await lookUp({ path: '/banks/resolve', signedAs, body: sent }))
      if (status === unprocessable) return 'NOT_FOUND'
      if (unsupportedStatuses.includes(status)) return 'UNSUPPORTED'
      const resolved = status === ok ? parseResolution(account, body) : null
      if (resolved) return resolved
      throw new Error(`the bank responded with ${status} and no account name`)
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

/**
 * If a bank does not support a call, the bank may respond with one of these HTTP statuses. 401 is included, because a
 * bank may check `webhook-id` before the URL's path.
 */
const unsupportedStatuses: readonly number[] = [401, 404, 405, 501]

/** Lookups of banks and accounts have a short timeout, because a user waits for them. */
const maxLookupMs = 10_000

function shorten({ connectMs, wholeMs }: HttpTimeouts): HttpTimeouts {
  return { connectMs, wholeMs: Math.min(wholeMs, maxLookupMs) }
}

type Lookup = { readonly path: string; readonly signedAs: string; readonly body?: string }

function createLookup({ url, signer, wallClock, limits }: BankClientOptions) {
  const { send } = createTrustedHttpClient({ limits })
  return ({ path, signedAs, body = '' }: Lookup): Promise<HttpResult> => {
    const headers = createSignedHeaders(signedAs, { body, signer, now: wallClock() })
    return send(new URL(`${url}${path}`), { method: body === '' ? 'GET' : 'POST', headers, body })
  }
}

const [ok, created, notFound, conflict, unprocessable] = [200, 201, 404, 409, 422] as const

function isSuccess(status: number): boolean {
  return status === ok || status === created
}

/** @throws if the response is missing or incomplete */
function requireWholeResponse(result: HttpResult): { status: number; body: Buffer } {
  if ('kind' in result) throw new Error(`the bank did not respond: ${result.message}`)
  const { status, isWhole, beginning } = result
  if (isWhole) return { status, body: beginning }
  throw new Error(`the bank responded with ${status} and more than 64 KiB`)
}

function unexpectedResponse(status: number): Error {
  const shouldHaveState = isSuccess(status) || status === unprocessable || status === conflict
  return new Error(
    `the bank responded with ${status}${shouldHaveState ? ', without the id and the state of the order' : ''}`,
  )
}

export type BankRequestType = 'submit' | 'find' | 'cancel'

/** Only the command `rail check` sets `signedBy`, `signedAs` and `ageMs`, to send requests with invalid signatures. */
export type BankRequest = {
  readonly type: BankRequestType
  readonly orderId: string
  readonly body?: string
  readonly signedBy?: Signer
  readonly signedAs?: string
  readonly ageMs?: number
  /** Adds headers, for example trace context, to the signed headers. */
  readonly headers?: (signed: OutgoingRequest['headers']) => OutgoingRequest['headers']
}

type BankClientOptions = {
  /** For example `https://bank.example/v1`. */
  readonly url: string
  readonly signer: Signer
  readonly wallClock: WallClock
  readonly limits: HttpTimeouts
}

export type BankClient = { readonly call: (request: BankRequest) => Promise<HttpResult>; readonly close: () => void }

/**
 * A request's signature covers `webhook-id`, the time and the body. `webhook-id` contains the request type and the
 * order id (`find_<order id>`), so that an attacker cannot reuse a captured signature for another request.
 */
export function createBankClient({ url, signer, wallClock, limits }: BankClientOptions): BankClient {
  const { send: exchange, close } = createTrustedHttpClient({ limits })
  return {
    call: ({
      type,
      orderId,
      body = '',
      signedBy = signer,
      signedAs = messageId(type, orderId),
      ageMs = 0,
      headers = unchangedHeaders,
    }) => {
      const signed = createSignedHeaders(signedAs, { body, signer: signedBy, now: wallTimeAfter(-ageMs, wallClock()) })
      const all = { ...signed, ...(type === 'submit' && { 'idempotency-key': orderId }) }
      const method = ({ submit: 'POST', find: 'GET', cancel: 'POST' } as const)[type]
      return exchange(new URL(`${url}${requestPath(type, orderId)}`), { method, headers: headers(all), body })
    },
    close,
  }
}

export function messageId(type: BankRequestType, orderId: string): string {
  return `${type}_${orderId}`
}

function requestPath(type: BankRequestType, orderId: string): string {
  return { submit: '/transfers', find: `/transfers/${orderId}`, cancel: `/transfers/${orderId}/cancel` }[type]
}

function unchangedHeaders(headers: OutgoingRequest['headers']): OutgoingRequest['headers'] {
  return headers
}
