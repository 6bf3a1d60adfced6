import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import type { PayoutStatus } from '../../payouts/payout.ts'
import type { SettledStatus } from '../../payouts/settle-payout.ts'
import type { RailOrderState } from '../../rail-orders/rail-order.ts'

/** What a person can do about a payout of which a bank contradicts itself, or nothing is known. */
export const attentionActions = defineEnum({
  RETRY:
    'The bank is asked again what became of it, and is given the order again only where that can not pay it twice.',
  COMPLETE: 'It was paid.',
  FAIL: 'It was not paid, or the money came back: amount and fee are in the wallet afterwards.',
})
export type AttentionAction = (typeof attentionActions)[number]

/** What an action makes of the transfer, and how the payout is settled by it, where it is. */
export type AttentionResolution = { readonly state: RailOrderState; readonly settledStatus: SettledStatus | null }

/** The actions for a payout in each status: no money leaves the wallet a second time, and none comes back twice. */
const resolutions: {
  readonly [Status in PayoutStatus]: { readonly [Action in AttentionAction]?: AttentionResolution }
} = {
  PROCESSING: {
    RETRY: { state: 'UNKNOWN', settledStatus: null },
    COMPLETE: { state: 'COMPLETED', settledStatus: 'COMPLETED' },
    FAIL: { state: 'REJECTED', settledStatus: 'FAILED' },
  },
  COMPLETED: {
    COMPLETE: { state: 'COMPLETED', settledStatus: null },
    FAIL: { state: 'RETURNED', settledStatus: 'RETURNED' },
  },
  FAILED: { FAIL: { state: 'REJECTED', settledStatus: null } },
  RETURNED: { FAIL: { state: 'RETURNED', settledStatus: null } },
}

/** What an action comes to; `null` where a payout in that status does not have it. */
export function resolutionOf(status: PayoutStatus, action: AttentionAction): AttentionResolution | null {
  return resolutions[status][action] ?? null
}

/** What can be done about a payout in a status. */
export function actionsFor(status: PayoutStatus): AttentionAction[] {
  return attentionActions.filter((action) => resolutionOf(status, action) !== null)
}
