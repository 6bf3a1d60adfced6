import { describe, expect, test } from 'vitest'
import type { RailOrderState, ReportState } from '../../../src/modules/rail-orders/rail-order.ts'
import {
  effectOfReport,
  isOpenState,
  railOrderStates,
  reportStates,
} from '../../../src/modules/rail-orders/rail-order.ts'

/** For each state and report: the next state and the settlements of the payout; `undefined` if nothing changes. */
const effects: Record<RailOrderState, Partial<Record<ReportState, readonly string[]>>> = {
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
    // A returned payout was completed first.
    RETURNED: ['RETURNED', 'COMPLETED', 'RETURNED'],
  }
}

describe.each(railOrderStates)('a rail order that is %s', (state) => {
  test.each(reportStates)('has the expected next state and settlements after a report of %s', (reported) => {
    const [next, ...settlements] = effects[state][reported] ?? []
    const cause = next === 'ATTENTION' ? `the bank reports ${reported} for an order that was ${state}` : null
    expect(effectOfReport(state, reported)).toEqual(next ? { state: next, settlements, cause } : null)
  })

  test('counts as open unless its state is final', () => {
    expect(isOpenState(state)).toBe(!['COMPLETED', 'REJECTED', 'RETURNED', 'CANCELLED'].includes(state))
  })
})
