import { DomainError } from '../../../core/errors.ts'
import type { WallClock } from '../../../core/ids-and-clock.ts'
import type { HttpResult, HttpTimeouts } from '../../webhooks/transport/http-exchange.ts'
import { parseSigner, verifySignature } from '../../webhooks/transport/standard-webhooks.ts'
import type { BankRequestType } from './http-client.ts'
import { createBankClient } from './http-client.ts'
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
