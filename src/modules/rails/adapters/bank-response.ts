import type { BankReport, ReportState } from '../../rail-orders/rail-order.ts'
import type { HttpResult } from '../../webhooks/transport/http-exchange.ts'
import { hasOrderId, parseBankReport, parseCancellation } from './wire-format.ts'

export type BankResponse = {
  /** The HTTP status; `null` if the bank did not respond. */
  readonly status: number | null
  readonly failure: string | null
  /** `report` is set regardless of the response's HTTP status. */
  readonly report: BankReport | null
  readonly cancelling: 'CANCELLED' | 'TOO_LATE' | null
  readonly isNamed: boolean
}

const emptyResponse = { status: null, failure: null, report: null, cancelling: null, isNamed: false }

// A bank responds with 200 or 201 and a state, 422 for a rejection, or 409 if it is too late to cancel.
const [ok, created, conflict, unprocessable] = [200, 201, 409, 422] as const

export function parseBankResponse(orderId: string, result: HttpResult): BankResponse {
  if ('kind' in result) return { ...emptyResponse, failure: result.message }
  const { status, isWhole, beginning } = result
  if (!isWhole) return { ...emptyResponse, status, failure: 'more than 64 KiB' }
  const outcome = parseCancellation(orderId, beginning)
  const isConsistent = outcome !== null && status === { CANCELLED: ok, TOO_LATE: conflict }[outcome]
  const report = parseBankReport(orderId, beginning)
  const isNamed = hasOrderId(orderId, beginning)
  return { status, failure: null, report, cancelling: isConsistent ? outcome : null, isNamed }
}

export function hasValidState({ status, report }: BankResponse): boolean {
  if (report === null) return false
  return status === ok || status === created || (status === unprocessable && report.state === 'REJECTED')
}

const possibleNextStates: Readonly<Record<ReportState, readonly ReportState[]>> = {
  ACCEPTED: ['ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED'],
  COMPLETED: ['COMPLETED', 'RETURNED'],
  REJECTED: ['REJECTED'],
  RETURNED: ['RETURNED'],
}

/** A later response about the same order must not have an earlier state or another reference. */
export function isConsistentWith(before: BankResponse | undefined, now: BankResponse): boolean {
  if (!before?.report || !now.report || !hasValidState(before) || !hasValidState(now)) return false
  const { reference } = before.report
  return (
    possibleNextStates[before.report.state].includes(now.report.state) &&
    (reference === null || reference === now.report.reference)
  )
}

export function summarizeResponse({ status, failure, report, cancelling, isNamed }: BankResponse): string {
  const hasBody = status === ok || status === created || report !== null
  const unnamed = hasBody && !isNamed && failure === null ? 'without the id of the order' : null
  const details = [report?.state, report?.reference, report?.code, cancelling, failure, unnamed].filter(
    (detail) => detail != null,
  )
  return [status, ...details].filter((part) => part !== null).join(' ')
}
