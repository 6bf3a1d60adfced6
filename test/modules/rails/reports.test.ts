import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { createWallClock } from '../../../src/core/ids-and-clock.ts'
import { createHttpRail } from '../../../src/modules/rails/adapters/http-rail.ts'
import { setRoute } from '../../../src/modules/rails/orders/rail-routes.ts'
import { processUnreadReports, receiveReports } from '../../../src/modules/rails/orders/receive-reports.ts'
import { insertRailReport } from '../../../src/modules/rails/repository.ts'
import { createSignedHeaders, parseSigner } from '../../../src/modules/webhooks/transport/standard-webhooks.ts'
import type { Mode } from '../../../src/operations/context.ts'
import type { App, Setup } from '../../support/app.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { everyEngineAndMode, setAddressKey } from '../../support/modes.ts'
import { wallTime } from '../../support/times.ts'

const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`
const bank = createHttpRail({
  name: 'bank',
  url: 'http://127.0.0.1:9',
  secrets: [secret],
  wallClock: createWallClock(),
})

async function startWithPayout(setup: Setup, mode: Mode, clock = Date.now) {
  const app = await startApp(setup, { mode, clock, rails: [bank] })
  await setAddressKey(app)
  await app.wallet({ network: 'erc20', balance: '100' })
  await setRoute(app.service, { rail: 'bank' })
  const { body } = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
  return { app, id: body.data.id as string, orderId: body.data.reference_id as string }
}

type Posting = { readonly id?: string; readonly now?: number; readonly key?: string; readonly path?: string }

function post(app: App, body: object, { id = 'msg_1', now = Date.now(), key = secret, path = 'bank' }: Posting = {}) {
  const text = JSON.stringify(body)
  const headers = { ...createSignedHeaders(id, { body: text, signer: parseSigner([key]), now: wallTime(now) }) }
  return app.rest('POST', `/rails/${path}/reports`, { key: null, payload: text, headers })
}

function rethrow(error: unknown): void {
  throw error
}

const status = async (app: App, id: string) => (await app.rest('GET', `/api/payouts/${id}`)).body.data.status

const setups = [...everyEngineAndMode, ['workers', 'live']] as const

describe.each(setups)('a report of a bank on %s in %s', (setup, mode) => {
  test('settles a payout once, even if the report is repeated', async () => {
    const { app, id, orderId } = await startWithPayout(setup, mode)
    const report = { id: orderId, state: 'COMPLETED', reference: 'B-1' }
    for (const time of [1, 2]) {
      expect(await post(app, report), `time ${time}`).toMatchObject({
        status: 200,
        body: { status: 'success', data: { received: 1 } },
      })
    }
    expect((await app.rest('GET', `/api/payouts/${id}`)).body.data).toMatchObject({
      status: 'COMPLETED',
      fiat_reference_id: 'B-1',
    })
    await post(app, { reports: [{ id: orderId, state: 'RETURNED', code: 'CLOSED' }] }, { id: 'msg_2' })
    await post(app, { id: orderId, state: 'ACCEPTED' }, { id: 'msg_3' })
    expect(await status(app, id)).toBe('RETURNED')
    await app.expectBooksToBalance()
  })

  test('is rejected and not stored unless it has a signature of the rail that is at most five minutes old', async () => {
    const { app, id, orderId } = await startWithPayout(setup, mode)
    const report = { id: orderId, state: 'REJECTED' }
    const other = `whsec_${Buffer.alloc(32, 4).toString('base64')}`
    const minutes = 60_000
    for (const [posting, expectedStatus] of [
      [{ key: other }, 401],
      [{ now: Date.now() - 6 * minutes }, 401],
      [{ now: Date.now() + 6 * minutes }, 401],
      [{ path: 'other' }, 404],
      [{ path: 'sandbox' }, 404],
    ] as const) {
      expect([posting, (await post(app, report, posting)).status]).toEqual([posting, expectedStatus])
    }
    const unsigned = await app.rest('POST', '/rails/bank/reports', { body: report })
    expect([unsigned.status, unsigned.body.error.code]).toEqual([401, 'MISSING_TOKEN'])
    expect((await app.rest('GET', '/rails/bank/reports')).status).toBe(405)
    expect(await status(app, id)).toBe('PROCESSING')
    // A rejected request does not use up its webhook-id.
    expect((await post(app, report)).status).toBe(200)
    expect(await status(app, id)).toBe('FAILED')
  })

  test('is rejected if a field is invalid, but is accepted and ignored if the order is unknown', async () => {
    const { app, orderId } = await startWithPayout(setup, mode)
    const invalid = await post(app, { id: orderId, state: 'PAID' })
    expect([invalid.status, invalid.body.error.code]).toEqual([400, 'INVALID_INPUT'])
    for (const unknown of ['01980c60-1f2e-7d3c-8b4a-5a00000004d2', 'no-uuid']) {
      expect(await post(app, { id: unknown, state: 'COMPLETED' }, { id: `msg_${unknown.length}` })).toMatchObject({
        status: 200,
        body: { data: { received: 1 } },
      })
    }
    await app.expectBooksToBalance()
  })

  test('is rejected if it has the webhook-id of another report', async () => {
    const { app, id, orderId } = await startWithPayout(setup, mode)
    for (const time of [1, 2]) expect((await post(app, { id: orderId, state: 'ACCEPTED' })).status, `${time}`).toBe(200)
    expect(await post(app, { id: orderId, state: 'COMPLETED' })).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'INVALID_INPUT',
          message: expect.stringMatching(/^webhook-id must be unique for each message: /),
        },
      },
    })
    expect(await status(app, id)).toBe('PROCESSING')
    expect((await post(app, { id: orderId, state: 'COMPLETED' }, { id: 'msg_2' })).status).toBe(200)
    expect(await status(app, id)).toBe('COMPLETED')
  })

  test('is processed by another process if the process that received it has died', async () => {
    const { app, id, orderId } = await startWithPayout(setup, mode)
    const body = JSON.stringify({ id: orderId, state: 'COMPLETED' })
    const receivedAt = new Date(Date.now() - 60_000).toISOString()
    await app.db.write((tx) => insertRailReport(tx, { rail: 'bank', messageId: 'msg_left', body, receivedAt }))
    expect(await processUnreadReports(app.service, bank, rethrow)).toEqual([])
    expect(await status(app, id)).toBe('COMPLETED')
    expect(await processUnreadReports(app.service, bank, rethrow)).toEqual([])
  })

  test('is not processed by other processes for ten seconds, even if a clock was ahead', async () => {
    const nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(setup, { mode, clock: () => nowMs })
    for (const ageMs of [10_000, 10_001, -10_000, -10_001]) {
      const receivedAt = new Date(nowMs - ageMs).toISOString()
      const body = JSON.stringify({ id: String(ageMs), state: 'COMPLETED' })
      await app.db.write((tx) => insertRailReport(tx, { rail: 'bank', messageId: `msg ${ageMs}`, body, receivedAt }))
    }
    expect(await processUnreadReports(app.service, bank, rethrow)).toEqual(['10001', '-10001'])
    expect(await processUnreadReports(app.service, bank, rethrow)).toEqual([])
  })

  test('is retried if processing fails, and does not block other reports', async () => {
    const { app, id, orderId } = await startWithPayout(setup, mode)
    const receivedAt = new Date(Date.now() - 60_000).toISOString()
    const unknown = '01980c60-1f2e-7d3c-8b4a-5a00000004d2'
    for (const [messageId, ids] of [
      ['msg_1', [unknown, orderId]],
      ['msg_2', ['no-uuid']],
    ] as const) {
      const body = JSON.stringify({ reports: ids.map((each) => ({ id: each, state: 'COMPLETED' })) })
      await app.db.write((tx) => insertRailReport(tx, { rail: 'bank', messageId, body, receivedAt }))
    }
    for (const failure of [new Error('the disk is full'), new DomainError('UNAVAILABLE', 'The writer is not there.')]) {
      const errors: Error[] = []
      const onFault = (error: unknown) => void errors.push(error as Error)
      const perform = () => Promise.reject(failure)
      expect(await processUnreadReports({ ...app.service, perform }, bank, onFault)).toEqual([])
      expect(errors.map(({ message, cause }) => [message, cause]).toSorted()).toEqual(
        ['msg_1', 'msg_2'].map((each) => [`bank report ${each} of the rail bank could not be applied`, failure]),
      )
      expect(await status(app, id)).toBe('PROCESSING')
    }
    expect((await processUnreadReports(app.service, bank, rethrow)).toSorted()).toEqual([unknown, 'no-uuid'])
    expect(await status(app, id)).toBe('COMPLETED')
  })

  test('that cannot be parsed is dropped after one error, or ignored if the rail has no reports', async () => {
    const app = await startApp(setup, { mode })
    const receivedAt = new Date(Date.now() - 60_000).toISOString()
    await app.db.write((tx) => insertRailReport(tx, { rail: 'bank', messageId: 'msg_old', body: 'of old', receivedAt }))
    const errors: unknown[] = []
    const onFault = (error: unknown) => void errors.push(error)
    const { reports: _, ...silent } = bank
    expect(await processUnreadReports(app.service, silent, onFault)).toEqual([])
    expect(errors).toEqual([])
    for (let time = 0; time < 2; time++) expect(await processUnreadReports(app.service, bank, onFault)).toEqual([])
    expect(errors).toHaveLength(1)
  })

  test('is listed as unknown if its order does not exist or belongs to another rail', async () => {
    const { app, id, orderId } = await startWithPayout(setup, mode)
    const body = JSON.stringify({ id: orderId.toUpperCase(), state: 'COMPLETED' })
    const railNamed = (name: string) => ({ ...bank, name }) as Parameters<typeof receiveReports>[1]
    const receivedBy = (name: string) => receiveReports(app.service, railNamed(name), { messageId: 'msg_1', body })
    expect(await receivedBy('other')).toEqual({ received: 1, unknown: [orderId.toUpperCase()] })
    expect(await receivedBy('other')).toEqual({ received: 1, unknown: [] })
    expect(await status(app, id)).toBe('PROCESSING')
    expect(await receivedBy('bank')).toEqual({ received: 1, unknown: [] })
    expect(await status(app, id)).toBe('COMPLETED')
  })
})
