import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { NewRowOf, RowOf } from '../../database/tables.ts'

/**
 * A transfer on a chain to a watched address. The state is `DETECTED` until the transfer has enough confirmations, then
 * `CONFIRMED`, when the transfer is credited. It is `REORGED` if a reorganization removed the transfer before the
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
 * The cause of `ATTENTION` if a reorganization removed a credited deposit. The string must not change, because it is
 * stored and compared in queries.
 */
export const reorganisedCause = 'the chain has let go of it after it was credited'

/** The cause comes first, so that a repeated report with the same cause is recognized as already decided. */
export function causeWithReason(cause: string | null, reason: string): string {
  return `${cause}; ${reason}`
}

/**
 * The report must not contradict the deposit. A lower count of confirmations is ignored, because reports can be
 * repeated, delayed, out of order, and sent by several nodes. The credit depends on the count instead of the reported
 * state, because a node may consider a transfer final earlier than this service does.
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
      // A delayed report from before the credit looks the same, so an operator decides.
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
