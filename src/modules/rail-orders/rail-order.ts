import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'

export const railOrderStates = defineEnum({
  QUEUED: 'The order waits for submission, and can be cancelled.',
  SUBMITTING: 'The order is being submitted to the bank.',
  UNKNOWN: 'The bank did not respond to the submission. Its status is polled; no other order is submitted.',
  ACCEPTED: 'The bank accepted the order.',
  COMPLETED: 'The bank paid.',
  REJECTED: 'The bank rejected the order; the money is back in the wallet.',
  RETURNED: 'The bank paid, and the money came back; it is in the wallet again.',
  CANCELLED: 'The order was cancelled before the bank paid; the money is back in the wallet.',
  ATTENTION: 'The bank contradicts the books, or its status cannot be determined: an operator must decide.',
})
export type RailOrderState = (typeof railOrderStates)[number]

/**
 * `REJECTED` means that the bank will never pay the order; `RETURNED` means that the money came back after the payment.
 */
export const reportStates = ['ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED'] as const
export type ReportState = (typeof reportStates)[number]

export type BankReport = {
  readonly state: ReportState
  readonly reference?: string | null
  readonly code?: string | null
  /** The bank's time of the report, in ISO 8601. */
  readonly at?: string | null
  /** The delay before the next poll, if the bank requests a delay. */
  readonly nextAfterMs?: number
}

/** `orderId` is the payout's `referenceId`. */
export type RailOrder = RowOf<'payoutTransfers'>

export type RailOrderHistoryEntry = {
  readonly state: RailOrderState
  readonly at: string
  readonly cause: string | null
}

export type ReportEffect = {
  readonly state: RailOrderState
  readonly settlements: readonly ('COMPLETED' | 'FAILED' | 'RETURNED')[]
  /** The reason why an operator must decide. `cause` is `null` except in the state `ATTENTION`. */
  readonly cause: string | null
}

const transitionTo = (state: RailOrderState, ...settlements: ReportEffect['settlements']): ReportEffect => ({
  state,
  settlements,
  cause: null,
})
const contradiction = (current: string, reported: string): ReportEffect => ({
  state: 'ATTENTION',
  settlements: [],
  cause: `the bank reports ${reported} for an order that was ${current}`,
})

/**
 * Bank reports can be repeated, late or out of order. If a report contradicts the order's state, no money moves and the
 * order enters the attention queue.
 *
 * @returns `null` if nothing changes
 */
export function effectOfReport(state: RailOrderState, reported: ReportState): ReportEffect | null {
  switch (state) {
    case 'ATTENTION':
      return null
    case 'QUEUED':
    case 'SUBMITTING':
    case 'UNKNOWN':
    case 'ACCEPTED':
      if (reported === state) return null
      if (reported === 'ACCEPTED') return transitionTo('ACCEPTED')
      if (reported === 'COMPLETED') return transitionTo('COMPLETED', 'COMPLETED')
      if (reported === 'REJECTED') return transitionTo('REJECTED', 'FAILED')
      // The bank may omit the report of the payment. A payout can only be returned after the payment.
      return transitionTo('RETURNED', 'COMPLETED', 'RETURNED')
    case 'COMPLETED':
      if (reported === 'RETURNED') return transitionTo('RETURNED', 'RETURNED')
      return reported === 'REJECTED' ? contradiction('COMPLETED', reported) : null
    case 'RETURNED':
      return reported === 'REJECTED' ? contradiction('RETURNED', reported) : null
    case 'REJECTED':
      return reported === 'COMPLETED' || reported === 'RETURNED' ? contradiction('REJECTED', reported) : null
    case 'CANCELLED':
      // The bank may report an order's acceptance late, after the order's cancellation.
      return reported === 'REJECTED' || reported === 'ACCEPTED' ? null : contradiction('CANCELLED', reported)
  }
}

export function isOpenState(state: RailOrderState): boolean {
  return ['QUEUED', 'SUBMITTING', 'UNKNOWN', 'ACCEPTED', 'ATTENTION'].includes(state)
}
