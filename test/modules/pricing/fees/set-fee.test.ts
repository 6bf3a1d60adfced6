import { describe, expect, test } from 'vitest'
import { fees, setFee } from '../../../../src/modules/pricing/fees.ts'
import { feeInForce } from '../../../../src/modules/pricing/repository.ts'
import { everyEngine, startApp } from '../../../support/app.ts'
import { domainErrorOf } from '../../../support/domain-error-of.ts'
import { readStoredRows } from '../../../support/stored.ts'

const pair = { assetCode: 'USDC', recipientCurrency: 'NGN' }

describe.each(everyEngine)('setFee on %s', (engine) => {
  const start = () => startApp(engine, { clock: () => Date.parse('2026-03-01T00:00:00.000Z') })

  test('sets a fee that is effective from now on, but not earlier', async () => {
    const app = await start()
    const fee = await setFee(app.service, { ...pair, flat: '0.5', percent: '1.250' })
    const effectiveAt = '2026-03-01T00:00:00.000Z'
    const row = {
      ...pair,
      flat: 50_000_000n,
      percent: '1.25',
      effectiveAt,
      revision: 1,
      cancelledAt: null,
      deductedFrom: 'BALANCE',
    }
    expect(fee).toEqual({ ...row, later: [] })
    expect(await feeInForce(app.db, { ...pair, at: '2026-03-01T00:00:00.000Z' })).toEqual(row)
    expect(await feeInForce(app.db, { ...pair, at: '2026-02-28T23:59:59.999Z' })).toBeNull()
  })

  test('sets a fee that is effective from a given time on', async () => {
    const app = await start()
    await setFee(app.service, { ...pair, flat: '1', percent: '0' })
    await setFee(app.service, { ...pair, flat: '2', effectiveAt: '2026-04-01T00:00:00Z' })
    const flatAt = async (at: string) => (await feeInForce(app.db, { ...pair, at }))?.flat
    expect(await flatAt('2026-03-31T23:59:59.999Z')).toBe(100_000_000n)
    expect(await flatAt('2026-04-01T00:00:00.000Z')).toBe(200_000_000n)
  })

  test('treats a missing `flat` or `percent` as zero, and rejects a fee in which both are missing', async () => {
    const app = await start()
    expect(await setFee(app.service, { ...pair, flat: '0' })).toMatchObject({ flat: 0n, percent: '0' })
    const before = await readStoredRows(app)
    const error = await domainErrorOf(() => setFee(app.service, { ...pair, effectiveAt: '2026-04-01T00:00:00Z' }))
    expect(error.details.fields).toMatchObject([{ field: 'flat', code: 'MISSING_REQUIRED_FIELD' }])
    expect(await readStoredRows(app)).toEqual(before)
    const proportional = { ...pair, percent: '1', effectiveAt: '2026-04-01T00:00:00Z' }
    expect(await setFee(app.service, proportional)).toMatchObject({ flat: 0n, percent: '1' })
  })

  test('deducts a fee from the same source as the preceding fee by default, and the first fee from the balance', async () => {
    const app = await start()
    const set = async (effectiveAt: string, deductedFrom?: 'AMOUNT' | 'BALANCE') =>
      (await setFee(app.service, { ...pair, flat: '1', deductedFrom, effectiveAt })).deductedFrom
    expect(await set('2026-04-02T00:00:00Z')).toBe('BALANCE')
    expect(await set('2026-04-04T00:00:00Z', 'AMOUNT')).toBe('AMOUNT')
    expect(await set('2026-04-05T00:00:00Z')).toBe('AMOUNT')
    expect(await set('2026-04-03T00:00:00Z')).toBe('BALANCE')
    await fees.cancel(app.service, { ...pair, effectiveAt: '2026-04-05T00:00:00Z' })
    await fees.cancel(app.service, { ...pair, effectiveAt: '2026-04-04T00:00:00Z' })
    expect(await set('2026-04-06T00:00:00Z')).toBe('BALANCE')
  })

  test('returns every later fee that will replace the new fee', async () => {
    const app = await start()
    const set = (flat: string, effectiveAt?: string) => setFee(app.service, { ...pair, flat, effectiveAt })
    await set('2', '2026-04-01T00:00:00Z')
    await set('3', '2026-05-01T00:00:00Z')
    await fees.cancel(app.service, { ...pair, effectiveAt: '2026-05-01T00:00:00Z' })
    expect((await set('1')).later).toMatchObject([{ flat: 200_000_000n, effectiveAt: '2026-04-01T00:00:00.000Z' }])
  })

  test.each([
    ['assetCode', { assetCode: 'NGN' }],
    ['assetCode', { assetCode: 'BTC' }],
    ['recipientCurrency', { recipientCurrency: 'USDT' }],
    ['recipientCurrency', { recipientCurrency: 'XXX' }],
    ['flat', { flat: '-1' }],
    ['flat', { flat: '1,5' }],
    ['flat', { flat: '10000000000' }],
    ['flat', { flat: '0.000000001' }],
    ['percent', { percent: '100.000000001' }],
    ['percent', { percent: '1%' }],
    ['percent', { percent: '' }],
    ['deductedFrom', { deductedFrom: 'RECIPIENT' as 'AMOUNT' }],
    ['effectiveAt', { effectiveAt: 'soon' }],
    ['effectiveAt', { effectiveAt: '2026-03-01T00:00:00Z' }],
  ])('rejects an invalid %s: %j', async (field, changes) => {
    const app = await start()
    await setFee(app.service, { ...pair, flat: '1', percent: '1' })
    const before = await readStoredRows(app)

    const error = await domainErrorOf(() => setFee(app.service, { ...pair, flat: '2', percent: '0', ...changes }))

    expect(error.code).toBe('INVALID_INPUT')
    expect(error.details.fields?.map((each) => each.field)).toEqual([field])
    expect(await readStoredRows(app)).toEqual(before)
  })
})
