import { describe, expect, test } from 'vitest'
import { lockRailOrder } from '../../../src/modules/rail-orders/repository.ts'
import {
  noteOnRailOrder,
  transitionRailOrder,
  updateRailOrder,
} from '../../../src/modules/rail-orders/transition-order.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { dueTime } from '../../support/times.ts'
import { createRailPayout, railOrderOf } from '../rails/support/rail-payouts.ts'

const start = Date.parse('2026-03-01T12:00:00.000Z')
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString()

describe.each(everyEngine)('the history of an order on %s', (engine) => {
  async function startWithOrder() {
    let now = start
    const app = await startApp(engine, { clock: () => now })
    await app.wallet({ balance: '100' })
    const context = app.context()
    const { id } = await createRailPayout(context)
    return {
      pass: (seconds: number) => (now += seconds * 1_000),
      app,
      context,
      stored: () => railOrderOf(context, id),
      write: <Result>(run: Parameters<typeof app.db.write<Result>>[0]) =>
        app.db.write(run, { merchantId: app.merchant.id }),
    }
  }

  test('has each state with its time and cause, and notes keep the state and its time', async () => {
    const { context, stored, write, pass } = await startWithOrder()
    const queued = await stored()
    expect(queued).toMatchObject({
      ...{ rail: 'sandbox', state: 'QUEUED', asked: 0, attempts: 0, history: [] },
      ...{ submittedAt: null, reference: null, cancelAskedAt: null, createdAt: at(0), updatedAt: at(0) },
    })

    pass(1)
    const moved = await write((tx) =>
      transitionRailOrder(tx, context, queued, {
        state: 'SUBMITTING',
        attempts: 1,
        submittedAt: at(1),
        dueAt: dueTime(7),
      }),
    )
    const submitting = { state: 'SUBMITTING', at: at(1), cause: null }
    expect(moved).toEqual({
      ...queued,
      ...{ state: 'SUBMITTING', attempts: 1, submittedAt: at(1), dueAt: dueTime(7), updatedAt: at(1) },
      history: [submitting],
    })
    expect(await stored()).toEqual(moved)

    pass(1)
    const noted = await write((tx) => noteOnRailOrder(tx, context, moved, { reference: 'BANK-1', cause: 'it is slow' }))
    const note = { state: 'SUBMITTING', at: at(2), cause: 'it is slow' }
    expect(noted).toEqual({ ...moved, reference: 'BANK-1', history: [submitting, note] })
    expect(await stored()).toEqual(noted)

    pass(1)
    const changed = await write((tx) => updateRailOrder(tx, noted, { asked: 3, dueAt: null, cancelAskedAt: at(3) }))
    expect(changed).toEqual({ ...noted, asked: 3, dueAt: null, cancelAskedAt: at(3) })
    expect(await stored()).toEqual(changed)
  })

  test('has the notes of all transactions that lock the order at the same time', async () => {
    const { app, context, stored } = await startWithOrder()
    const { orderId, merchantId } = await stored()
    const causes = Array.from({ length: 10 }, (_, place) => `note ${place}`)
    await Promise.all(
      causes.map((cause) =>
        // Without a merchant, so that each has a transaction of its own.
        app.db.write(async (tx) => {
          const transfer = await lockRailOrder(tx, { merchantId, orderId })
          if (transfer) await noteOnRailOrder(tx, context, transfer, { cause })
        }),
      ),
    )
    expect((await stored()).history.map(({ cause }) => cause).sort()).toEqual(causes)
  })

  test('keeps the first fifty and the latest fifty steps', async () => {
    const { context, stored, write } = await startWithOrder()
    const queued = await stored()
    await write(async (tx) => {
      let transfer = queued
      for (let step = 1; step <= 103; step++) {
        const how = { state: step % 2 ? 'SUBMITTING' : 'UNKNOWN', cause: `step ${step}` } as const
        transfer = await transitionRailOrder(tx, context, transfer, how)
        expect(transfer.history).toHaveLength(Math.min(step, 100))
      }
    })
    const causes = (await stored()).history.map(({ cause }) => cause)
    const steps = Array.from({ length: 103 }, (_, index) => `step ${index + 1}`)
    expect(causes).toEqual([...steps.slice(0, 50), ...steps.slice(-50)])
  })
})
