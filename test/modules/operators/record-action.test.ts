import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../../src/core/errors.ts'
import { listOperatorActions } from '../../../src/modules/operators/list-operator-actions.ts'
import { AlreadyDoneError, recordAction } from '../../../src/modules/operators/record-action.ts'
import { getPayout } from '../../../src/modules/payouts/get-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { pauseSubmissions, resumeSubmissions } from '../../../src/modules/rails/orders/rail-routes.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { readStoredRows } from '../../support/stored.ts'
import { createRailPayout } from '../rails/support/rail-payouts.ts'

const action = { operator: 'ada', session: 'cli', action: 'rail pause', subject: 'sandbox', details: {} }
const actionWithReason = { ...action, formId: null, reason: 'the bank is away' }
const recordedActions = async (app: App) => (await listOperatorActions(app.service, { limit: 100 })).items

describe.each(everyEngine)('recordAction on %s', (engine) => {
  test('records the operator, action, subject and reason', async () => {
    const app = await startApp(engine)
    await recordAction(app.service, actionWithReason, (service) => pauseSubmissions(service, { rail: 'sandbox' }))
    expect(await recordedActions(app)).toMatchObject([actionWithReason])
  })

  test('records nothing and changes nothing if the action is rejected', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { id: payoutId } = await createRailPayout(app.context())
    const before = await readStoredRows(app)
    const settle = () =>
      recordAction(app.service, actionWithReason, (service) =>
        settlePayout(createContext(service, app.merchant.id), { payoutId, status: 'COMPLETED' }),
      )
    expect(await domainErrorOf(settle)).toMatchObject({ code: 'PAYOUT_STATUS_CONFLICT' })
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('does not apply an action if recording the action fails', async () => {
    const app = await startApp(engine)
    const invalidAction = { ...actionWithReason, operator: null as unknown as string }
    await expect(
      recordAction(app.service, invalidAction, (service) => pauseSubmissions(service, { rail: 'sandbox' })),
    ).rejects.toThrow()
    expect(await domainErrorOf(() => resumeSubmissions(app.service, { rail: 'sandbox' }))).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    })
  })

  test('runs the action of a form once when the form is submitted eight times concurrently', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { id: payoutId } = await createRailPayout(app.context())
    const formId = app.service.newId()
    const submitForm = () =>
      recordAction(app.service, { ...actionWithReason, formId }, (service) =>
        settlePayout(createContext(service, app.merchant.id), { payoutId, status: 'FAILED', override: true }),
      )
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, submitForm))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const reasons = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as DomainError] : []))
    expect(reasons.every((reason) => reason instanceof AlreadyDoneError)).toBe(true)
    expect(await recordedActions(app)).toHaveLength(1)
    expect(await getPayout(app.context(), { payoutId })).toMatchObject({ status: 'FAILED' })
    await app.expectBooksToBalance()
  })

  test('listOperatorActions returns pages of actions, latest first, and can filter them by subject', async () => {
    const app = await startApp(engine)
    for (const rail of ['a', 'b', 'a', 'b', 'a']) {
      await recordAction(app.service, { ...actionWithReason, subject: rail }, (service) =>
        pauseSubmissions(service, { rail }),
      )
    }
    const first = await listOperatorActions(app.service, { limit: 2 })
    expect(first.items.map(({ subject }) => subject)).toEqual(['a', 'b'])
    const second = await listOperatorActions(app.service, { limit: 3, before: first.next })
    expect(second.items.map(({ subject }) => subject)).toEqual(['a', 'b', 'a'])
    expect(second.next).toBe(null)
    const firstPageOfA = await listOperatorActions(app.service, { subject: 'a', limit: 2 })
    expect([
      firstPageOfA.items.length,
      (await listOperatorActions(app.service, { subject: 'a', before: firstPageOfA.next })).items.length,
    ]).toEqual([2, 1])
  })
})
