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

describe.each(everyEngine)('the history of a rail order on %s', (engine) => {
  async function startWithOrder() {
    let nowMs = start
    const app = await startApp(engine, { clock: () => nowMs })
    await app.wallet({ balance: '100' })
    const context = app.context()
    const { id } = await createRailPayout(context)
    return {
      advance: (seconds: number) => (nowMs += seconds * 1_000),
      app,
      context,
      readOrder: () => railOrderOf(context, id),
      write: <Result>(run: Parameters<typeof app.db.write<Result>>[0]) =>
        app.db.write(run, { merchantId: app.merchant.id }),
    }
  }

  test('contains each state with its time and cause, and a note does not change the state or its time', async () => {
    const { context, readOrder, write, advance } = await startWithOrder()
    const queued = await readOrder()
    expect(queued).toMatchObject({
      ...{ rail: 'sandbox', state: 'QUEUED', asked: 0, attempts: 0, history: [] },
      ...{ submittedAt: null, reference: null, cancelAskedAt: null, createdAt: at(0), updatedAt: at(0) },
    })

    advance(1)
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
    expect(await readOrder()).toEqual(moved)

    advance(1)
    const noted = await write((tx) => noteOnRailOrder(tx, context, moved, { reference: 'BANK-1', cause: 'it is slow' }))
    const note = { state: 'SUBMITTING', at: at(2), cause: 'it is slow' }
    expect(noted).toEqual({ ...moved, reference: 'BANK-1', history: [submitting, note] })
    expect(await readOrder()).toEqual(noted)

    advance(1)
    const changed = await write((tx) => updateRailOrder(tx, noted, { asked: 3, dueAt: null, cancelAskedAt: at(3) }))
    expect(changed).toEqual({ ...noted, asked: 3, dueAt: null, cancelAskedAt: at(3) })
    expect(await readOrder()).toEqual(changed)
  })

  test('contains the notes of all transactions that lock the order concurrently', async () => {
    const { app, context, readOrder } = await startWithOrder()
    const { orderId, merchantId } = await readOrder()
    const causes = Array.from({ length: 10 }, (_, index) => `note ${index}`)
    await Promise.all(
      causes.map((cause) =>
        // Without a merchant, each write has its own transaction.
        app.db.write(async (tx) => {
          const transfer = await lockRailOrder(tx, { merchantId, orderId })
          if (transfer) await noteOnRailOrder(tx, context, transfer, { cause })
        }),
      ),
    )
    expect((await readOrder()).history.map(({ cause }) => cause).sort()).toEqual(causes)
  })

  test('keeps the first fifty and the latest fifty entries', async () => {
    const { context, readOrder, write } = await startWithOrder()
    const queued = await readOrder()
    await write(async (tx) => {
      let transfer = queued
      for (let step = 1; step <= 103; step++) {
        const change = { state: step % 2 ? 'SUBMITTING' : 'UNKNOWN', cause: `step ${step}` } as const
        transfer = await transitionRailOrder(tx, context, transfer, change)
        expect(transfer.history).toHaveLength(Math.min(step, 100))
      }
    })
    const causes = (await readOrder()).history.map(({ cause }) => cause)
    const steps = Array.from({ length: 103 }, (_, index) => `step ${index + 1}`)
    expect(causes).toEqual([...steps.slice(0, 50), ...steps.slice(-50)])
  })
})
