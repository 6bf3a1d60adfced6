import { describe, expect, test } from 'vitest'
import type { RailOrderState, ReportState } from '../../../src/modules/rail-orders/rail-order.ts'
import {
  effectOfReport,
  isOpenState,
  railOrderStates,
  reportStates,
} from '../../../src/modules/rail-orders/rail-order.ts'

/** What each report makes of each state: the next state and what the payout is settled to; `null` where nothing changes. */
const followed: Record<RailOrderState, Partial<Record<ReportState, readonly string[]>>> = {
  QUEUED: openBefore('ACCEPTED'),
  SUBMITTING: openBefore('ACCEPTED'),
  UNKNOWN: openBefore('ACCEPTED'),
  ACCEPTED: openBefore(),
  COMPLETED: { REJECTED: ['ATTENTION'], RETURNED: ['RETURNED', 'RETURNED'] },
  REJECTED: { COMPLETED: ['ATTENTION'], RETURNED: ['ATTENTION'] },
  RETURNED: { REJECTED: ['ATTENTION'] },
  CANCELLED: { COMPLETED: ['ATTENTION'], RETURNED: ['ATTENTION'] },
  ATTENTION: {},
}

function openBefore(...accepted: readonly string[]) {
  return {
    ...(accepted.length > 0 && { ACCEPTED: accepted }),
    COMPLETED: ['COMPLETED', 'COMPLETED'],
    REJECTED: ['REJECTED', 'FAILED'],
    // What came back was paid before.
    RETURNED: ['RETURNED', 'COMPLETED', 'RETURNED'],
  }
}

describe.each(railOrderStates)('an order that is %s', (state) => {
  test.each(reportStates)('has the settlements that follow from the report %s, or a person looks', (reported) => {
    const [next, ...settles] = followed[state][reported] ?? []
    const cause = next === 'ATTENTION' ? `the bank says ${reported} of what was ${state}` : null
    expect(effectOfReport(state, reported)).toEqual(next ? { state: next, settlements: settles, cause } : null)
  })

  test('is open until its outcome is final', () => {
    expect(isOpenState(state)).toBe(!['COMPLETED', 'REJECTED', 'RETURNED', 'CANCELLED'].includes(state))
  })
})
