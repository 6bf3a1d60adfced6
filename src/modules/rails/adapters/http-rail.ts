import { Refusal } from '../../../core/errors.ts'
import type { WallClock } from '../../../core/ids.ts'
import type { Exchanged, Limits } from '../../webhooks/transport/http-exchange.ts'
import { signerOf } from '../../webhooks/transport/signing-secrets.ts'
import { verifiedId } from '../../webhooks/transport/standard-webhooks.ts'
import type { Question } from './http-client.ts'
import { bankAt } from './http-client.ts'
import type { CallHeaders, Order, Rail } from './rail.ts'
import { orderBody, readCancelling, readPosted, readReport } from './wire-format.ts'

const day = 24 * 3_600_000

/** How long a bank may take. */
export const bankLimits: Limits = { connectMs: 5_000, wholeMs: 30_000 }

/** A rail as the configuration has it. */
export type HttpRailAt = {
  readonly name: string
  /** Where its paths begin, without a slash at the end. */
  readonly url: string
  /** `whsec_…`, the newest first: all sign what the bank is asked, and any may sign what it reports. */
  readonly secrets: readonly string[]
}

type Options = HttpRailAt & {
  /** The machine's clock, whatever a merchant's says: it is what signatures are held to. */
  readonly wallClock: WallClock
  readonly limits?: Limits
}

/**
 * Any bank that answers by HTTP (docs/guides/rails.md).
 *
 * Definite is only what the documented answers say. All else that may happen to a request throws, and then nothing is known of
 * the order. Answers are not signed: they come over the connection that we have opened, which TLS says the other end of.
 *
 * @throws where a secret is none
 */
export function httpRail({ name, url, secrets, wallClock, limits = bankLimits }: Options): Rail {
  const signer = signerOf(secrets)
  const { call } = bankAt({ url, signer, wallClock, limits })
  const ask = async (question: Question, order: Order, more: CallHeaders = {}) => {
    const body = question === 'submit' ? orderBody(order) : ''
    return answerOf(await call({ question, orderId: order.id, body, headers: (own) => ({ ...more, ...own }) }))
  }
  return {
    name,
    callsAtOnce: 8,
    callMs: limits.wholeMs,
    idempotentForMs: 30 * day,
    submit: async (order, headers) => {
      const { status, body } = await ask('submit', order, headers)
      const report = readReport(order.id, body)
      if (report && (isTaken(status) || (status === unprocessable && report.state === 'REJECTED'))) return report
      throw notUnderstood(status)
    },
    find: async (order, headers) => {
      const { status, body } = await ask('find', order, headers)
      if (status === notThere) return 'NOT_FOUND'
      const report = readReport(order.id, body)
      if (report && isTaken(status)) return report
      throw notUnderstood(status)
    },
    cancel: async (order, headers) => {
      const { status, body } = await ask('cancel', order, headers)
      const answer = readCancelling(order.id, body)
      if (answer && status === { CANCELLED: done, TOO_LATE: conflict }[answer]) return answer
      throw notUnderstood(status)
    },
    reports: {
      verify: ({ headers, body, now }) => {
        const id = verifiedId(headers, { body, signer, now })
        if (id !== null) return id
        throw new Refusal(
          'INVALID_TOKEN',
          "The signature is not by the rail's secret, or not of the last five minutes.",
        )
      },
      read: readPosted,
    },
  }
}

// What a bank answers with (RFC 9110).
const [done, created, notThere, conflict, unprocessable] = [200, 201, 404, 409, 422] as const

function isTaken(status: number): boolean {
  return status === done || status === created
}

/** @throws where there is no whole answer */
function answerOf(exchanged: Exchanged): { status: number; body: Buffer } {
  if ('kind' in exchanged) throw new Error(`the bank did not answer: ${exchanged.message}`)
  const { status, isWhole, beginning } = exchanged
  if (isWhole) return { status, body: beginning }
  throw new Error(`the bank answered with ${status} and more than 64 KiB`)
}

function notUnderstood(status: number): Error {
  const isStated = isTaken(status) || status === unprocessable || status === conflict
  return new Error(`the bank answered with ${status}${isStated ? ' and no state with the id of this order' : ''}`)
}
