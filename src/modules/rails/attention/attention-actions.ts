import { describedValues } from '../../../core/api/enum-descriptions.ts'
import type { PayoutStatus } from '../../payouts/payout.ts'
import type { SettledStatus } from '../../payouts/settle-payout.ts'
import type { TransferState } from '../../rail-orders/rail-order.ts'

/** What a person can do about a payout of which a bank contradicts itself, or nothing is known. */
export const attentionActions = describedValues({
  RETRY:
    'The bank is asked again what became of it, and is given the order again only where that can not pay it twice.',
  COMPLETE: 'It was paid.',
  FAIL: 'It was not paid, or the money came back: amount and fee are in the wallet afterwards.',
})
export type AttentionAction = (typeof attentionActions)[number]

/** What an action makes of the transfer, and how the payout is settled by it, where it is. */
export type Resolution = { readonly state: TransferState; readonly settles: SettledStatus | null }

/** The actions for a payout in each status: no money leaves the wallet a second time, and none comes back twice. */
const resolutions: { readonly [Status in PayoutStatus]: { readonly [Action in AttentionAction]?: Resolution } } = {
  PROCESSING: {
    RETRY: { state: 'UNKNOWN', settles: null },
    COMPLETE: { state: 'COMPLETED', settles: 'COMPLETED' },
    FAIL: { state: 'REJECTED', settles: 'FAILED' },
  },
  COMPLETED: {
    COMPLETE: { state: 'COMPLETED', settles: null },
    FAIL: { state: 'RETURNED', settles: 'RETURNED' },
  },
  FAILED: { FAIL: { state: 'REJECTED', settles: null } },
  RETURNED: { FAIL: { state: 'RETURNED', settles: null } },
}

/** What an action comes to; `null` where a payout in that status does not have it. */
export function resolutionOf(status: PayoutStatus, action: AttentionAction): Resolution | null {
  return resolutions[status][action] ?? null
}

/** What can be done about a payout in a status. */
export function actionsFor(status: PayoutStatus): AttentionAction[] {
  return attentionActions.filter((action) => resolutionOf(status, action) !== null)
}
