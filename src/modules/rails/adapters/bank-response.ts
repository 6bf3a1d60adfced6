import type { BankReport, ReportState } from '../../rail-orders/rail-order.ts'
import type { HttpResult } from '../../webhooks/transport/http-exchange.ts'
import { hasOrderId, parseBankReport, parseCancellation } from './wire-format.ts'

/** What a bank has said of an order, as far as it can be understood. */
export type BankResponse = {
  /** `null` where it did not answer. */
  readonly status: number | null
  readonly failure: string | null
  /** The state of the order, whatever the status. */
  readonly report: BankReport | null
  readonly cancelling: 'CANCELLED' | 'TOO_LATE' | null
  /** Whether it has the id of the order. */
  readonly isNamed: boolean
}

const emptyResponse = { status: null, failure: null, report: null, cancelling: null, isNamed: false }

// What states are answered with (RFC 9110): 200 and 201, 422 a rejection, 409 that it is too late.
const [ok, created, conflict, unprocessable] = [200, 201, 409, 422] as const

/** What a bank's answer says of an order. */
export function parseBankResponse(orderId: string, exchanged: HttpResult): BankResponse {
  if ('kind' in exchanged) return { ...emptyResponse, failure: exchanged.message }
  const { status, isWhole, beginning } = exchanged
  if (!isWhole) return { ...emptyResponse, status, failure: 'more than 64 KiB' }
  const answer = parseCancellation(orderId, beginning)
  const isOfStatus = answer !== null && status === { CANCELLED: ok, TOO_LATE: conflict }[answer]
  const report = parseBankReport(orderId, beginning)
  const isNamed = hasOrderId(orderId, beginning)
  return { status, failure: null, report, cancelling: isOfStatus ? answer : null, isNamed }
}

/** Whether an answer is the state of an order, and its status says so too. */
export function hasValidState({ status, report }: BankResponse): boolean {
  if (report === null) return false
  return status === ok || status === created || (status === unprocessable && report.state === 'REJECTED')
}

/** What may become of each state. */
const possibleNextStates: Readonly<Record<ReportState, readonly ReportState[]>> = {
  ACCEPTED: ['ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED'],
  COMPLETED: ['COMPLETED', 'RETURNED'],
  REJECTED: ['REJECTED'],
  RETURNED: ['RETURNED'],
}

/** Whether two answers can be of one order, the first before the second: its state goes on, and its reference stays. */
export function isConsistentWith(before: BankResponse | undefined, now: BankResponse): boolean {
  if (!before?.report || !now.report || !hasValidState(before) || !hasValidState(now)) return false
  const { reference } = before.report
  return (
    possibleNextStates[before.report.state].includes(now.report.state) &&
    (reference === null || reference === now.report.reference)
  )
}

/** What was seen, in a few words. */
export function summarizeResponse({ status, failure, report, cancelling, isNamed }: BankResponse): string {
  const isAnswer = status === ok || status === created || report !== null
  const unnamed = isAnswer && !isNamed && failure === null ? 'without the id of the order' : null
  const said = [report?.state, report?.reference, report?.code, cancelling, failure, unnamed].filter(
    (each) => each != null,
  )
  return [status, ...said].filter((each) => each !== null).join(' ')
}
