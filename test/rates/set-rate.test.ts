import { describe, expect, test } from 'vitest'
import { rateInForce } from '../../src/rates/repository.ts'
import { setRate } from '../../src/rates/set-rate.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { refusalOf } from '../support/refusal-of.ts'
import { whatIsStored } from '../support/stored.ts'

const pair = { fromCode: 'USDC', toCode: 'NGN' }

describe.each(everyEngine)('setRate on %s', (engine) => {
  const start = () => startApp(engine, { clock: () => Date.parse('2026-03-01T00:00:00.000Z'), rates: [] })

  test('sets a rate from now on, without needless zeros', async () => {
    const app = await start()
    const rate = await setRate(app.service, { ...pair, rate: '1545.500' })
    expect(rate).toEqual({ ...pair, rate: '1545.5', effectiveAt: '2026-03-01T00:00:00.000Z' })
    expect(await rateInForce(app.db, { ...pair, at: '2026-03-01T00:00:00.000Z' })).toMatchObject(rate)
    expect(await rateInForce(app.db, { ...pair, at: '2026-02-28T23:59:59.999Z' })).toBeNull()
  })

  test('sets one from a time on, never a past one, and the latest that has come counts', async () => {
    const app = await start()
    await setRate(app.service, { ...pair, rate: '3', effectiveAt: '2026-04-01T00:00:00Z' })
    // What was in force must stay known.
    const past = setRate(app.service, { ...pair, rate: '1', effectiveAt: '2026-02-28T23:59:59.999Z' })
    await expect(past).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { fields: [{ field: 'effectiveAt' }] } })
    await setRate(app.service, { ...pair, rate: '2' })

    const inForce = async (at: string) => (await rateInForce(app.db, { ...pair, at }))?.rate ?? null
    expect(await inForce('2026-02-28T23:59:59.999Z')).toBeNull()
    expect(await inForce('2026-03-01T00:00:00.000Z')).toBe('2')
    expect(await inForce('2026-03-31T23:59:59.999Z')).toBe('2')
    expect(await inForce('2026-04-01T00:00:00.000Z')).toBe('3')
  })

  test.each([
    ['fromCode', { fromCode: 'NGN' }],
    ['fromCode', { fromCode: 'BTC' }],
    ['fromCode', { fromCode: '' }],
    ['toCode', { toCode: 'USDT' }],
    ['toCode', { toCode: 'usd' }],
    ['rate', { rate: '0' }],
    ['rate', { rate: '-1' }],
    ['rate', { rate: '1e3' }],
    ['rate', { rate: '1.0000000001' }],
    ['rate', { rate: 1500 as unknown as string }],
    ['effectiveAt', { effectiveAt: 'tomorrow' }],
    ['effectiveAt', { effectiveAt: '2026-03-01' }],
    ['effectiveAt', { effectiveAt: '2026-03-01T00:00:00+01:00' }],
    // What was in force then is known already.
    ['effectiveAt', { effectiveAt: '2026-03-01T00:00:00Z' }],
  ])('refuses a wrong %s: %j', async (field, changes) => {
    const app = await start()
    await setRate(app.service, { ...pair, rate: '1500' })
    const before = await whatIsStored(app)

    const refusal = await refusalOf(() => setRate(app.service, { ...pair, rate: '1600', ...changes }))

    expect(refusal.code).toBe('INVALID_INPUT')
    expect(refusal.details.fields?.map((fault) => fault.field)).toEqual([field])
    expect(await whatIsStored(app)).toEqual(before)
  })
})
