import { expect, test } from 'vitest'
import type { CallHeaders, PaymentInstruction, Rail } from '../../../src/modules/rails/adapters/rail.ts'
import { observeRail, railCallOutcomeOf } from '../../../src/modules/rails/adapters/rail.ts'
import { createBank } from './support/bank.ts'
import { sampleOrder } from './support/orders.ts'

test('each call of an observed rail is seen, and made with the headers of who sees it or else of the caller', async () => {
  const order = sampleOrder()
  const sent: unknown[] = []
  const answering =
    <Answer>(answer: Answer) =>
    async (_: PaymentInstruction, headers?: CallHeaders) => {
      sent.push(headers)
      return answer
    }
  const rail: Rail = {
    ...createBank().rail,
    submit: answering({ state: 'ACCEPTED' as const }),
    find: answering('NOT_FOUND' as const),
    cancel: answering('TOO_LATE' as const),
  }
  const seen: unknown[] = []
  for (const own of [undefined, { traceparent: 'own' }]) {
    const observed = observeRail(rail, async (call, about, ask) => {
      const answer = await ask(own)
      seen.push([call, about.id, railCallOutcomeOf(answer)])
      return answer
    })
    const given = { traceparent: 'given' }
    await observed.submit(order, given)
    await observed.find(order, given)
    await observed.cancel?.(order, given)
    expect(observed).toMatchObject({ name: 'bank', maxConcurrentCalls: 4 })
  }
  expect(sent).toEqual(['given', 'given', 'given', 'own', 'own', 'own'].map((traceparent) => ({ traceparent })))
  const calls = [
    ['submit', order.id, 'ACCEPTED'],
    ['find', order.id, 'NOT_FOUND'],
    ['cancel', order.id, 'TOO_LATE'],
  ]
  expect(seen).toEqual([...calls, ...calls])
})

test('an observed rail takes nothing back where the rail takes nothing back', () => {
  expect(observeRail(createBank().rail, (_, __, ask) => ask()).cancel).toBe(undefined)
})
