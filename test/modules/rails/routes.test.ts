import { describe, expect, test } from 'vitest'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import {
  deleteRoute,
  listRails,
  pauseSubmissions,
  resumeSubmissions,
  setRoute,
} from '../../../src/modules/rails/orders/rail-routes.ts'
import { startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { everyEngineAndMode, setAddressKey } from '../../support/modes.ts'
import { perform } from '../../support/perform.ts'
import { nigerian } from '../payouts/payout-places.ts'
import { makeDueCall } from './support/rail-payouts.ts'

describe.each(everyEngineAndMode)('the rails of an installation on %s in %s', (engine, mode) => {
  test('are listed if they are configured, routed, paused or in use, with their routes and open orders', async () => {
    const nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { mode, clock: () => nowMs })
    await setAddressKey(app)
    await app.wallet({ network: 'erc20', balance: '100' })
    const builtInRails = mode === 'sandbox' ? ['sandbox'] : []
    const idle = { isConfigured: true, pausedAt: null, routes: [], open: [] }
    expect(await listRails(app.service, ['bank'])).toEqual([...builtInRails, 'bank'].map((rail) => ({ rail, ...idle })))

    await setRoute(app.service, { rail: 'old' })
    const payouts = []
    for (let each = 0; each < 3; each++) {
      payouts.push(await perform(createPayout, app.context(), { assetCode: 'USDC', amount: '1', ...nigerian }))
    }
    await makeDueCall(app.context(), payouts[0]?.id ?? '', { state: 'ACCEPTED' })
    expect(await setRoute(app.service, { rail: 'bank' })).toEqual({
      ...{ rail: 'bank', assetCode: '*', currency: '*', country: '*' },
    })
    await setRoute(app.service, { rail: 'bank', assetCode: 'USDC', currency: 'ZAR', country: 'South Africa' })
    expect(await pauseSubmissions(app.service, { rail: 'held' })).toEqual({ rail: 'held', paused: true })
    expect(await listRails(app.service, ['bank'])).toEqual([
      ...builtInRails.map((rail) => ({ rail, ...idle })),
      { rail: 'bank', ...idle, routes: ['* * *', 'USDC ZAR South Africa'] },
      { rail: 'held', ...idle, isConfigured: false, pausedAt: '2026-03-01T12:00:00.000Z' },
      { rail: 'old', ...idle, isConfigured: false, open: ['ACCEPTED 1', 'QUEUED 2'] },
    ])

    expect(await deleteRoute(app.service, {})).toMatchObject({ rail: 'bank', assetCode: '*' })
    expect(await resumeSubmissions(app.service, { rail: 'held' })).toEqual({ rail: 'held', paused: false })
    const remaining = (await listRails(app.service, [])).filter(({ rail }) => rail !== 'sandbox')
    expect(remaining.map(({ rail, routes }) => [rail, routes])).toEqual([
      ['bank', ['USDC ZAR South Africa']],
      ['old', []],
    ])
    expect(await domainErrorOf(() => deleteRoute(app.service, {}))).toMatchObject({ message: 'Route not found.' })
    expect(await domainErrorOf(() => resumeSubmissions(app.service, { rail: 'held' }))).toMatchObject({
      message: 'Paused rail not found.',
    })
  })

  test('must have names in the allowed format, and routes with known asset, currency and country codes', async () => {
    const app = await startApp(engine, { mode })
    const fieldsOf = async (operation: () => unknown) => (await domainErrorOf(operation)).details.fields
    const message = 'must be 1 to 32 lowercase letters, digits and hyphens, beginning with a letter'
    for (const rail of ['', 'Bank', '1bank', '-bank', 'b'.repeat(33), 'bank!', 'a_b', ' bank', 'bank\n']) {
      const rejection = [{ field: 'rail', code: 'INVALID_FORMAT', message }]
      for (const operation of [setRoute, pauseSubmissions, resumeSubmissions]) {
        expect(await fieldsOf(() => operation(app.service, { rail }))).toEqual(rejection)
      }
    }
    for (const rail of ['b', 'b'.repeat(32), 'b-1']) await setRoute(app.service, { rail })
    const invalidRoute = { assetCode: 'NGN', currency: 'USD', country: 'Ghana' }
    const rejection = [
      ['assetCode', 'must be one of USDC, USDT'],
      ['currency', 'must be one of NGN, ZAR'],
      ['country', 'must be one of Nigeria, South Africa'],
    ].map(([field, message]) => ({ field, code: 'INVALID_PARAMETER', message }))
    expect(await fieldsOf(() => setRoute(app.service, { rail: 'bank', ...invalidRoute }))).toEqual(rejection)
    expect(await fieldsOf(() => deleteRoute(app.service, invalidRoute))).toEqual(rejection)
    const setSandbox = () => setRoute(app.service, { rail: 'sandbox' })
    if (mode === 'sandbox') expect(await setSandbox()).toMatchObject({ rail: 'sandbox' })
    else {
      expect(await fieldsOf(setSandbox)).toEqual([
        {
          ...{ field: 'rail', code: 'INVALID_PARAMETER' },
          message: 'must be another rail: sandbox makes no payments and exists in MODE=sandbox only',
        },
      ])
    }
  })
})
