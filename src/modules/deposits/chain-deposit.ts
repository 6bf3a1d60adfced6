import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { NewRowOf, RowOf } from '../../database/tables.ts'

/**
 * A blockchain transfer to a watched address. A chain deposit has one of these states:
 *
 * - `DETECTED`: the transfer does not have enough confirmations yet.
 * - `CONFIRMED`: the wallet was credited.
 * - `REORGED`: a chain reorganization removed the transfer before the wallet was credited.
 * - `ATTENTION`: an operator must decide.
 * - `DISMISSED`: an operator decided not to credit the wallet.
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
 * The cause of `ATTENTION` if a chain reorganization removed a credited deposit. This text must not change, because the
 * database stores it and queries compare it.
 */
export const reorganisedCause = 'the chain has let go of it after it was credited'

/** The text begins with the cause, so that the service can recognize a later report with the same cause. */
export function causeWithReason(cause: string | null, reason: string): string {
  return `${cause}; ${reason}`
}

/**
 * Call only with a report that does not contradict the stored deposit. A report with fewer confirmations than an
 * earlier report is ignored, because several nodes can repeat or delay reports. The credit depends on the number of
 * confirmations instead of the reported state, because a node may report a transfer as final too early.
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
      // A `REORGED` report for a credited deposit may be an old report that arrived late, so an operator must decide.
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
