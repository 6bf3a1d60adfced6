import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { NewRowOf, RowOf } from '../../database/tables.ts'

/**
 * What was seen on a chain of one transfer to a watched address, and what became of it: `DETECTED` while too little has been
 * built on it, `CONFIRMED` when it was credited, `REORGED` while the chain has let go of it before that, `ATTENTION` where a
 * person must look, `DISMISSED` where one has decided that it is not credited.
 */
export type ChainDeposit = RowOf<'chainDeposits'>
export type NewChainDeposit = NewRowOf<'chainDeposits'>

/** What whoever has a node can say of a transfer. */
export const reportedStates = defineEnum({
  DETECTED: 'It is on the chain.',
  CONFIRMED: 'It is on the chain, and the node takes it for final.',
  REORGED: 'It was on the chain and is not any more.',
})
type ReportedState = (typeof reportedStates)[number]

/** What a person can decide. */
export const resolutions = defineEnum({
  credit: 'The money is in the wallet afterwards; what was credited before stays.',
  dismiss: 'It is not credited, whatever is reported of it from now on.',
})

/** What is said of a transfer: how it is, and how much has been built on it. */
export type ReportedStatus = { readonly state: ReportedState; readonly confirmations: number }

/** What a report makes of a deposit; `isDue` where it is to be credited. */
export type DepositTransition = Pick<ChainDeposit, 'state' | 'confirmations' | 'cause'> & {
  readonly isCreditDue: boolean
}

/** Why a deposit that was credited and then reorganised needs a person. */
export const reorganisedCause = 'the chain has let go of it after it was credited'

/** Why a person had to look, with the reason of what was decided; by its beginning it is known what was decided about. */
export function causeWithReason(cause: string | null, reason: string): string {
  return `${cause}; ${reason}`
}

/**
 * What a report makes of a deposit that it does not contradict. Reports come twice, late, in any order and from several nodes:
 * fewer confirmations than are known say nothing. What decides is the count, whichever of the two words a node has for a
 * transfer that is there: a node that takes it for final earlier than we do must wait, too.
 *
 * @returns `null` where nothing changes
 */
export function transitionOf(
  { state, confirmations, cause }: Pick<ChainDeposit, 'state' | 'confirmations' | 'cause'>,
  said: ReportedStatus,
  needed: number,
): DepositTransition | null {
  switch (state) {
    case 'ATTENTION':
    case 'DISMISSED':
      return null
    case 'CONFIRMED':
      // A report from before the credit that comes late looks the same, so it is for a person to tell.
      return said.state === 'REORGED'
        ? { state: 'ATTENTION', confirmations, cause: reorganisedCause, isCreditDue: false }
        : null
    case 'DETECTED':
    case 'REORGED': {
      const isThere = said.state !== 'REORGED'
      const most = isThere ? Math.max(confirmations, said.confirmations) : 0
      const isDue = isThere && most >= needed
      const becomes = isDue ? 'CONFIRMED' : isThere ? 'DETECTED' : 'REORGED'
      return becomes === state && most === confirmations
        ? null
        : { state: becomes, confirmations: most, cause, isCreditDue: isDue }
    }
  }
}
