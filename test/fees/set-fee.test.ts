import { describe, expect, test } from 'vitest'
import { feeInForce } from '../../src/fees/repository.ts'
import { setFee } from '../../src/fees/set-fee.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { refusalOf } from '../support/refusal-of.ts'
import { whatIsStored } from '../support/stored.ts'

const pair = { assetCode: 'USDC', recipientCurrency: 'NGN' }

describe.each(everyEngine)('setFee on %s', (engine) => {
  const start = () => startApp(engine, { clock: () => Date.parse('2026-03-01T00:00:00.000Z') })

  test('sets a fee from now on, and there is none before', async () => {
    const app = await start()
    const fee = await setFee(app.service, { ...pair, flat: '0.5', percent: '1.250' })
    expect(fee).toEqual({ ...pair, flat: 50_000_000n, percent: '1.25', effectiveAt: '2026-03-01T00:00:00.000Z' })
    expect(await feeInForce(app.db, { ...pair, at: '2026-03-01T00:00:00.000Z' })).toEqual(fee)
    expect(await feeInForce(app.db, { ...pair, at: '2026-02-28T23:59:59.999Z' })).toBeNull()
  })

  test('sets one from a time on', async () => {
    const app = await start()
    await setFee(app.service, { ...pair, flat: '1', percent: '0' })
    await setFee(app.service, { ...pair, flat: '2', percent: '0', effectiveAt: '2026-04-01T00:00:00Z' })
    const flatAt = async (at: string) => (await feeInForce(app.db, { ...pair, at }))?.flat
    expect(await flatAt('2026-03-31T23:59:59.999Z')).toBe(100_000_000n)
    expect(await flatAt('2026-04-01T00:00:00.000Z')).toBe(200_000_000n)
  })

  test.each([
    ['assetCode', { assetCode: 'NGN' }],
    ['assetCode', { assetCode: 'BTC' }],
    ['recipientCurrency', { recipientCurrency: 'USDT' }],
    ['recipientCurrency', { recipientCurrency: 'USD' }],
    ['flat', { flat: '-1' }],
    ['flat', { flat: '.5' }],
    ['flat', { flat: '10000000000' }],
    ['flat', { flat: '0.000000001' }],
    ['percent', { percent: '100.000000001' }],
    ['percent', { percent: '1%' }],
    ['percent', { percent: '' }],
    ['effectiveAt', { effectiveAt: 'soon' }],
    ['effectiveAt', { effectiveAt: '2026-03-01T00:00:00Z' }],
  ])('refuses a wrong %s: %j', async (field, changes) => {
    const app = await start()
    await setFee(app.service, { ...pair, flat: '1', percent: '1' })
    const before = await whatIsStored(app)

    const refusal = await refusalOf(() => setFee(app.service, { ...pair, flat: '2', percent: '0', ...changes }))

    expect(refusal.code).toBe('INVALID_INPUT')
    expect(refusal.details.fields?.map((fault) => fault.field)).toEqual([field])
    expect(await whatIsStored(app)).toEqual(before)
  })
})
