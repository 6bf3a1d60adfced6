import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { NewRowOf, RowOf } from '../../database/tables.ts'

/**
 * A blockchain transfer to a watched address. A chain deposit is `DETECTED` until it has enough confirmations, and
 * `CONFIRMED` after it was credited. A chain deposit is `REORGED` if a chain reorganization removed it before the
 * credit, `ATTENTION` if an operator must decide, and `DISMISSED` if an operator decided not to credit it.
 */
export type ChainDeposit = RowOf<'chainDeposits'>
export type NewChainDeposit = NewRowOf<'chainDeposits'>

export const reportedStates = defineEnum({
  DETECTED: 'The transfer is on the chain.',
  CONFIRMED: 'The transfer is on the chain, and the node considers it final.',
  REORGED: 'A reorganization removed the transfer from the chain.',
})
type ReportedState = (typeof reportedStates)[number]

export const resolutions = defineEnum({
  credit: 'Credits the wallet, unless the deposit was credited before.',
  dismiss: 'Does not credit the deposit. Later reports do not change that.',
})

export type ReportedStatus = { readonly state: ReportedState; readonly confirmations: number }

export type DepositTransition = Pick<ChainDeposit, 'state' | 'confirmations' | 'cause'> & {
  readonly isCreditDue: boolean
}

/**
 * The cause of `ATTENTION` if a chain reorganization removed a credited deposit. The text of this cause must not
 * change, because the database stores it and queries compare it.
 */
export const reorganisedCause = 'the chain has let go of it after it was credited'

/**
 * The cause precedes the operator's reason, so that a repeated report with the same cause is recognized as already
 * decided.
 */
export function causeWithReason(cause: string | null, reason: string): string {
  return `${cause}; ${reason}`
}

/**
 * The node's report must not contradict the stored deposit. A report with fewer confirmations than stored is ignored,
 * because reports can be repeated, delayed, out of order, and sent by several nodes. Whether the deposit is credited
 * depends on the number of confirmations instead of the reported state, because a node may consider a transfer final
 * earlier than this service does.
 *
 * @returns `null` if nothing changes
 */
export function transitionOf(
  { state, confirmations, cause }: Pick<ChainDeposit, 'state' | 'confirmations' | 'cause'>,
  report: ReportedStatus,
  required: number,
): DepositTransition | null {
  switch (state) {
    case 'ATTENTION':
    case 'DISMISSED':
      return null
    case 'CONFIRMED':
      // A `REORGED` report for a credited deposit may be old and only delayed, so an operator decides.
      return report.state === 'REORGED'
        ? { state: 'ATTENTION', confirmations, cause: reorganisedCause, isCreditDue: false }
        : null
    case 'DETECTED':
    case 'REORGED': {
      const isOnChain = report.state !== 'REORGED'
      const count = isOnChain ? Math.max(confirmations, report.confirmations) : 0
      const isCreditDue = isOnChain && count >= required
      const nextState = isCreditDue ? 'CONFIRMED' : isOnChain ? 'DETECTED' : 'REORGED'
      return nextState === state && count === confirmations
        ? null
        : { state: nextState, confirmations: count, cause, isCreditDue }
    }
  }
}
