import { expect, test } from 'vitest'
import type { CallHeaders, PaymentInstruction, Rail } from '../../../src/modules/rails/adapters/rail.ts'
import { observeRail, railCallOutcomeOf } from '../../../src/modules/rails/adapters/rail.ts'
import { createBank } from './support/bank.ts'
import { sampleOrder } from './support/orders.ts'

test('observeRail passes each call to the observer, and sends the observer’s headers if there are any and otherwise the caller’s headers', async () => {
  const order = sampleOrder()
  const sentHeaders: unknown[] = []
  const respondWith =
    <Answer>(result: Answer) =>
    async (_: PaymentInstruction, headers?: CallHeaders) => {
      sentHeaders.push(headers)
      return result
    }
  const rail: Rail = {
    ...createBank().rail,
    submit: respondWith({ state: 'ACCEPTED' as const }),
    find: respondWith('NOT_FOUND' as const),
    cancel: respondWith('TOO_LATE' as const),
  }
  const observedCalls: unknown[] = []
  for (const ownHeaders of [undefined, { traceparent: 'own' }]) {
    const observed = observeRail(rail, async (call, instruction, callRail) => {
      const result = await callRail(ownHeaders)
      observedCalls.push([call, instruction.id, railCallOutcomeOf(result)])
      return result
    })
    const callerHeaders = { traceparent: 'given' }
    await observed.submit(order, callerHeaders)
    await observed.find(order, callerHeaders)
    await observed.cancel?.(order, callerHeaders)
    expect(observed).toMatchObject({ name: 'bank', maxConcurrentCalls: 4 })
  }
  expect(sentHeaders).toEqual(['given', 'given', 'given', 'own', 'own', 'own'].map((traceparent) => ({ traceparent })))
  const calls = [
    ['submit', order.id, 'ACCEPTED'],
    ['find', order.id, 'NOT_FOUND'],
    ['cancel', order.id, 'TOO_LATE'],
  ]
  expect(observedCalls).toEqual([...calls, ...calls])
})

test('observeRail does not add `cancel` to a rail that has no `cancel`', () => {
  expect(observeRail(createBank().rail, (_, __, callRail) => callRail()).cancel).toBe(undefined)
})
