import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'

/** How far a payout has come on its rail. */
export const railOrderStates = defineEnum({
  QUEUED: 'It waits for its turn, and can be cancelled.',
  SUBMITTING: 'The bank is being asked to pay it.',
  UNKNOWN: 'The bank was asked and has not answered: it is asked what became of the order, and never to pay another.',
  ACCEPTED: 'The bank has taken the order.',
  COMPLETED: 'The bank has paid.',
  REJECTED: 'The bank does not pay; the money is back in the wallet.',
  RETURNED: 'The bank has paid and sent it back; the money is back in the wallet.',
  CANCELLED: 'It was taken back before the bank was asked; the money is back in the wallet.',
  ATTENTION: 'What the bank says can not be right, or nothing can be known: a person must look.',
})
export type RailOrderState = (typeof railOrderStates)[number]

/** The bank took the order, paid it, rejected it for good, or got the money back after it was paid. */
export const reportStates = ['ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED'] as const
export type ReportState = (typeof reportStates)[number]

/** What a bank has said of an order. */
export type BankReport = {
  readonly state: ReportState
  /** The bank's own name for the payment. */
  readonly reference?: string | null
  /** Why it was rejected or returned, in the bank's words. */
  readonly code?: string | null
  /** When that was, by the bank's clock, in ISO 8601. */
  readonly at?: string | null
  /** After how many milliseconds there will be more to ask, where the bank knows. */
  readonly nextAfterMs?: number
}

/** A payout on its way through a rail; `orderId` is the payout's `referenceId`. */
export type RailOrder = RowOf<'payoutTransfers'>

/** A state that a transfer has come to. */
export type RailOrderHistoryEntry = {
  readonly state: RailOrderState
  /** In ISO 8601. */
  readonly at: string
  readonly cause: string | null
}

/** What a report makes of a transfer: the state, and how the payout is settled by it, one after the other. */
export type ReportEffect = {
  readonly state: RailOrderState
  readonly settlements: readonly ('COMPLETED' | 'FAILED' | 'RETURNED')[]
  /** Why a person must look. */
  readonly cause: string | null
}

const transitionTo = (state: RailOrderState, ...settles: ReportEffect['settlements']): ReportEffect => ({
  state,
  settlements: settles,
  cause: null,
})
const contradiction = (was: string, said: string): ReportEffect => ({
  state: 'ATTENTION',
  settlements: [],
  cause: `the bank says ${said} of what was ${was}`,
})

/**
 * What a bank's report makes of a transfer. Reports come twice, and late, and in any order: what was already known, or is
 * older than what is known, changes nothing; what contradicts it moves no money and is for a person to look at.
 *
 * @returns `null` where nothing changes
 */
export function effectOfReport(state: RailOrderState, said: ReportState): ReportEffect | null {
  switch (state) {
    case 'ATTENTION':
      return null
    case 'QUEUED':
    case 'SUBMITTING':
    case 'UNKNOWN':
    case 'ACCEPTED':
      if (said === state) return null
      if (said === 'ACCEPTED') return transitionTo('ACCEPTED')
      if (said === 'COMPLETED') return transitionTo('COMPLETED', 'COMPLETED')
      if (said === 'REJECTED') return transitionTo('REJECTED', 'FAILED')
      // What came back was paid before, whether that was heard of or not.
      return transitionTo('RETURNED', 'COMPLETED', 'RETURNED')
    case 'COMPLETED':
      if (said === 'RETURNED') return transitionTo('RETURNED', 'RETURNED')
      return said === 'REJECTED' ? contradiction('COMPLETED', said) : null
    case 'RETURNED':
      return said === 'REJECTED' ? contradiction('RETURNED', said) : null
    case 'REJECTED':
      return said === 'COMPLETED' || said === 'RETURNED' ? contradiction('REJECTED', said) : null
    case 'CANCELLED':
      // That the bank had taken it, before it took it back, may be told late.
      return said === 'REJECTED' || said === 'ACCEPTED' ? null : contradiction('CANCELLED', said)
  }
}

/** Whether a person or a clock may still make something else of it than what it is. */
export function isOpenState(state: RailOrderState): boolean {
  return ['QUEUED', 'SUBMITTING', 'UNKNOWN', 'ACCEPTED', 'ATTENTION'].includes(state)
}
