import { describe, expect, test } from 'vitest'
import { rates, setRate } from '../../../../src/modules/pricing/rates.ts'
import { rateInForce } from '../../../../src/modules/pricing/repository.ts'
import { everyEngine, startApp } from '../../../support/app.ts'
import { domainErrorOf } from '../../../support/domain-error-of.ts'
import { readStoredRows } from '../../../support/stored.ts'

const pair = { fromCode: 'USDC', toCode: 'NGN' }

describe.each(everyEngine)('setRate on %s', (engine) => {
  const start = () => startApp(engine, { clock: () => Date.parse('2026-03-01T00:00:00.000Z'), rates: [] })

  test('sets a rate that is effective from now on, and removes trailing zeros', async () => {
    const app = await start()
    const rate = await setRate(app.service, { ...pair, rate: '1545.500' })
    const row = { ...pair, rate: '1545.5', effectiveAt: '2026-03-01T00:00:00.000Z', revision: 1, cancelledAt: null }
    expect(rate).toEqual({ ...row, later: [] })
    expect(await rateInForce(app.db, { ...pair, at: '2026-03-01T00:00:00.000Z' })).toMatchObject(row)
    expect(await rateInForce(app.db, { ...pair, at: '2026-02-28T23:59:59.999Z' })).toBeNull()
  })

  test('sets a rate that is effective from a given time on, and rejects a time in the past', async () => {
    const app = await start()
    await setRate(app.service, { ...pair, rate: '3', effectiveAt: '2026-04-01T00:00:00Z' })
    const past = setRate(app.service, { ...pair, rate: '1', effectiveAt: '2026-02-28T23:59:59.999Z' })
    await expect(past).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { fields: [{ field: 'effectiveAt' }] } })
    await setRate(app.service, { ...pair, rate: '2' })

    const inForce = async (at: string) => (await rateInForce(app.db, { ...pair, at }))?.rate ?? null
    expect(await inForce('2026-02-28T23:59:59.999Z')).toBeNull()
    expect(await inForce('2026-03-01T00:00:00.000Z')).toBe('2')
    expect(await inForce('2026-03-31T23:59:59.999Z')).toBe('2')
    expect(await inForce('2026-04-01T00:00:00.000Z')).toBe('3')
  })

  test('makes a rate effective exactly at the given time, even if several rates start in one minute', async () => {
    const app = await start()
    for (const [rate, time] of [
      ['3', '00:00:00.000'],
      ['4', '00:00:30.000'],
      ['5', '00:00:30.001'],
      ['6', '00:01:00.000'],
    ]) {
      await setRate(app.service, { ...pair, rate: rate ?? '', effectiveAt: `2026-04-01T${time}Z`, isForced: true })
    }
    const inForce = async (time: string) => (await rateInForce(app.db, { ...pair, at: `2026-04-01T${time}Z` }))?.rate
    for (const [time, rate] of [
      ['00:00:30.001', '5'],
      ['00:00:30.000', '4'],
      ['00:00:29.999', '3'],
      ['00:00:59.999', '5'],
      ['00:01:00.000', '6'],
      ['00:01:59.999', '6'],
    ] as const) {
      expect([time, await inForce(time)]).toEqual([time, rate])
    }
  })

  // A clock that was ahead may have set a later rate that nobody remembers.
  test('returns every later rate that will replace the new rate', async () => {
    const app = await start()
    const set = (rate: string, effectiveAt?: string) => setRate(app.service, { ...pair, rate, effectiveAt })
    await set('1600', '2026-03-01T02:00:00Z')
    await set('1700', '2026-05-01T00:00:00Z')
    await set('1650', '2026-04-01T00:00:00Z')
    await rates.cancel(app.service, { ...pair, effectiveAt: '2026-05-01T00:00:00Z' })
    await setRate(app.service, { fromCode: 'USDT', toCode: 'NGN', rate: '1500', effectiveAt: '2026-04-01T00:00:00Z' })
    expect((await set('1500')).later).toMatchObject([
      { rate: '1600', effectiveAt: '2026-03-01T02:00:00.000Z' },
      { rate: '1650', effectiveAt: '2026-04-01T00:00:00.000Z' },
    ])
    expect((await set('1510', '2026-03-20T00:00:00Z')).later).toMatchObject([{ rate: '1650' }])
  })

  test.each([
    ['1800', '1200', '1800.000000001', '+20.00'],
    ['1800', '1200', '1199.999999999', '-20.00'],
    ['1800', '1200', '150000000', '+9999900.00'],
  ])(
    'accepts a change from 1500 to %s or %s, but requires isForced for a change to %s (%s %%)',
    async (highest, lowest, outlier, percent) => {
      const app = await start()
      const set = (rate: string, effectiveAt: string, isForced?: boolean) =>
        setRate(app.service, { ...pair, rate, effectiveAt, isForced })
      // The first rate of a pair has no predecessor to compare with.
      await set('1500', '2026-04-01T00:00:00Z')
      await set('9', '2026-03-01T00:00:00Z')
      await set(highest, '2026-04-02T00:00:00Z')
      await set('1500', '2026-04-03T00:00:00Z')
      await set(lowest, '2026-04-04T00:00:00Z')
      await set('1500', '2026-04-05T00:00:00Z', true)
      const before = await readStoredRows(app)

      const error = await domainErrorOf(() => set(outlier, '2026-04-06T00:00:00Z'))

      const message = `of ${outlier} differs by ${percent} % from 1500, the rate until then: more than 20 % requires --force`
      expect(error).toMatchObject({ code: 'INVALID_INPUT', details: { fields: [{ field: 'rate', message }] } })
      expect(await readStoredRows(app)).toEqual(before)
      expect(await set(outlier, '2026-04-06T00:00:00Z', true)).toMatchObject({ rate: outlier })
    },
  )

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
    ['effectiveAt', { effectiveAt: '2026-03-01T00:00:00Z' }],
  ])('rejects an invalid %s: %j', async (field, changes) => {
    const app = await start()
    await setRate(app.service, { ...pair, rate: '1500' })
    const before = await readStoredRows(app)

    const error = await domainErrorOf(() => setRate(app.service, { ...pair, rate: '1600', ...changes }))

    expect(error.code).toBe('INVALID_INPUT')
    expect(error.details.fields?.map((each) => each.field)).toEqual([field])
    expect(await readStoredRows(app)).toEqual(before)
  })
})
