import { describe, expect, test } from 'vitest'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { maxTimelineSteps } from '../../../src/modules/payouts/payout-timeline.ts'
import { simulatePayout } from '../../../src/modules/payouts/simulate-payout.ts'
import { transitionRailOrder } from '../../../src/modules/rail-orders/transition-order.ts'
import { countingStatements } from '../../graphql/support/statements.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { nigerian } from '../payouts/payout-places.ts'
import { createRailPayout, makeDueCall, railOrderOf, recordReport } from './support/rail-payouts.ts'

describe.each(everyEngine)('the timeline of a payout on %s', (engine) => {
  test('lists states, times and causes for every payout of a page', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await app.wallet({ balance: '100' })
    const context = app.context()
    const passMinute = () => {
      nowMs += 60_000
    }
    const { id: manual } = await perform(createPayout, context, { assetCode: 'USDC', amount: '1', ...nigerian })
    const { id: onRail } = await createRailPayout(context)
    const { id: queuedId } = await createRailPayout(context)
    passMinute()
    await makeDueCall(context, onRail, { failure: 'it is down' })
    await perform(simulatePayout, context, { payoutId: manual, status: 'COMPLETED' })
    passMinute()
    await makeDueCall(context, onRail, 'NOT_FOUND')
    await makeDueCall(context, onRail, { state: 'ACCEPTED' })
    await perform(simulatePayout, context, { payoutId: manual, status: 'RETURNED', cause: 'no such account' })
    passMinute()
    await recordReport(context, onRail, { state: 'REJECTED', reference: 'BANK-1' })
    await recordReport(context, onRail, { state: 'COMPLETED', reference: 'BANK-1' })

    const { data, errors } = await app.graphql(
      '{ payouts { nodes { uuid rail status fiatReferenceId timeline { state at cause } } } }',
    )
    expect(errors).toEqual([])
    const at = (minutes: number) => `2026-03-01T12:0${minutes}:00.000Z`
    const step = (state: string, minutes: number, cause: string | null = null) => ({ state, at: at(minutes), cause })
    expect(data.payouts.nodes).toEqual([
      { uuid: queuedId, rail: 'sandbox', status: 'PROCESSING', fiatReferenceId: null, timeline: [step('QUEUED', 0)] },
      {
        uuid: onRail,
        rail: 'sandbox',
        status: 'FAILED',
        fiatReferenceId: 'BANK-1',
        timeline: [
          step('QUEUED', 0),
          step('SUBMITTING', 1),
          step('UNKNOWN', 1, 'it is down'),
          step('QUEUED', 2, 'the bank has no record of the order'),
          step('SUBMITTING', 2),
          step('ACCEPTED', 2),
          step('REJECTED', 3),
          step('ATTENTION', 3, 'the bank reports COMPLETED for an order that was REJECTED'),
        ],
      },
      {
        uuid: manual,
        rail: null,
        status: 'RETURNED',
        fiatReferenceId: null,
        timeline: [step('PROCESSING', 0), step('COMPLETED', 1), step('RETURNED', 2, 'no such account')],
      },
    ])
  })

  test('has the bank’s code as the cause of a return, and no cause for the completion before the return', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { id } = await createRailPayout(app.context())
    await makeDueCall(app.context(), id, { state: 'RETURNED', code: 'CLOSED' })
    const { data } = await app.graphql('query($id: ID!) { payout(id: $id) { events { status cause } } }', { id })
    expect(data.payout.events).toEqual([
      { status: 'COMPLETED', cause: null },
      { status: 'RETURNED', cause: 'CLOSED' },
    ])
  })

  test('needs the same number of database queries for five payouts as for one payout', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    for (let i = 0; i < 5; i++) await createRailPayout(app.context())
    const { ask: countedQuery, countOf: statementCount } = countingStatements(app)
    const readPage = (first: number) => () =>
      countedQuery(`{ payouts(first: ${first}) { nodes { rail timeline { state } } } }`)
    // One query for the list, and one for the rail orders of both fields.
    expect([await statementCount(readPage(5)), await statementCount(readPage(1))]).toEqual([2, 2])
  })

  test('contains only the first and latest states of a long history', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { id } = await createRailPayout(app.context())
    const states = ['SUBMITTING', 'UNKNOWN'] as const
    for (let i = 0; i < 30; i++) {
      const transfer = await railOrderOf(app.context(), id)
      const state = states[i % 2] as (typeof states)[number]
      await app.db.write((tx) => transitionRailOrder(tx, app.context(), transfer, { state, cause: `step ${i}` }), {
        merchantId: app.merchant.id,
      })
    }
    const { data } = await app.graphql('query($id: ID!) { payout(id: $id) { timeline { state cause } } }', { id })
    const keptSteps = [0, 1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29].map((i) => ({
      state: states[i % 2],
      cause: `step ${i}`,
    }))
    expect(data.payout.timeline).toEqual([{ state: 'QUEUED', cause: null }, ...keptSteps])
    expect(data.payout.timeline).toHaveLength(maxTimelineSteps)
  })
})
