import { describe, expect, test } from 'vitest'
import { setFee } from '../../../src/modules/pricing/fees.ts'
import { setRate } from '../../../src/modules/pricing/rates.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'

const path = '/api/payouts/banks'

describe.each(everyEngine)('ruling 43: the price of a payout on %s', (engine) => {
  /** An app with a clock that tests set, and a wallet with a million. */
  async function startClockedApp(time: string) {
    let nowMs = Date.parse(time)
    const app = await startApp(engine, { clock: () => nowMs, rates: [] })
    await app.wallet({ balance: '1000000' })
    return {
      ...app,
      setClock: (time: string) => {
        nowMs = Date.parse(time)
      },
      price: async (amount = '1') => {
        const { body } = await app.rest('POST', path, { body: { ...payoutBody, amount } })
        return body.error?.code ?? [body.data.exchange_rate, body.data.amount_fiat, body.data.fee]
      },
    }
  }

  const rate = { fromCode: 'USDC', toCode: 'NGN' }
  const fee = { assetCode: 'USDC', recipientCurrency: 'NGN' }

  test('uses the rate that is effective at its creation, to the millisecond', async () => {
    const app = await startClockedApp('2026-03-01T00:00:00.000Z')
    expect(await app.price()).toBe('RATE_UNAVAILABLE')

    // Set out of order, because only effectiveAt counts.
    await setRate(app.service, { ...rate, rate: '1700', effectiveAt: '2026-03-03T00:00:00.000Z' })
    await setRate(app.service, { ...rate, rate: '1600', effectiveAt: '2026-03-02T00:00:00.000Z' })
    expect(await app.price()).toBe('RATE_UNAVAILABLE')

    app.setClock('2026-03-01T23:59:59.999Z')
    expect(await app.price()).toBe('RATE_UNAVAILABLE')
    app.setClock('2026-03-02T00:00:00.000Z')
    expect(await app.price()).toEqual(['1600', '1600.00000000', null])
    app.setClock('2026-03-02T23:59:59.999Z')
    expect(await app.price()).toEqual(['1600', '1600.00000000', null])
    app.setClock('2026-03-03T00:00:00.000Z')
    expect(await app.price()).toEqual(['1700', '1700.00000000', null])

    await app.expectBooksToBalance()
  })

  test('includes the fee that is effective at its creation, and no fee before the first fee is effective', async () => {
    const app = await startClockedApp('2026-03-01T00:00:00.000Z')
    await setRate(app.service, { ...rate, rate: '1500' })
    await setFee(app.service, { ...fee, flat: '0', percent: '0', effectiveAt: '2026-03-02T00:00:00.000Z' })
    await setFee(app.service, { ...fee, flat: '0.3', percent: '1.5', effectiveAt: '2026-03-03T00:00:00.000Z' })

    expect(await app.price()).toEqual(['1500', '1500.00000000', null])
    app.setClock('2026-03-02T00:00:00.000Z')
    expect(await app.price()).toEqual(['1500', '1500.00000000', '0.00000000'])
    app.setClock('2026-03-03T00:00:00.000Z')
    expect(await app.price()).toEqual(['1500', '1500.00000000', '0.31500000'])
    await app.expectBooksToBalance()
  })

  test('never changes for an existing payout or in its replayed response', async () => {
    const app = await startClockedApp('2026-03-01T00:00:00.000Z')
    await setRate(app.service, { ...rate, rate: '1500' })
    const headers = { 'idempotency-key': 'once' }
    const created = await app.rest('POST', path, { body: payoutBody, headers })

    app.setClock('2026-03-02T00:00:00.000Z')
    await setRate(app.service, { ...rate, rate: '1600' })
    await setFee(app.service, { ...fee, flat: '1', percent: '0' })
    const replayed = await app.rest('POST', path, { body: payoutBody, headers })

    expect(replayed.text).toBe(created.text)
    expect(created.body.data).toMatchObject({ exchange_rate: '1500', fee: null, balance: '999960.00000000' })
  })

  test.each([
    // Rounded down to the kobo: 0.00001999 at 1500 is 0.029985.
    ['1500', '0.00001999', '0.02000000'],
    ['1500', '0.00000667', '0.01000000'],
    ['1545.555555555', '33.33333333', '51518.51000000'],
    ['999999999.999999999', '1', '999999999.99000000'],
  ])('at a rate of %s converts %s to %s', async (value, amount, amountFiat) => {
    const app = await startClockedApp('2026-03-01T00:00:00.000Z')
    await setRate(app.service, { ...rate, rate: value })
    expect(await app.price(amount)).toEqual([value, amountFiat, null])
  })

  test.each([
    ['0', '0', '1', '0.00000000'],
    ['2', '0', '1', '2.00000000'],
    ['0', '1', '0.00000667', '0.00000007'],
    ['0', '0.000000001', '0.00000667', '0.00000001'],
    ['0', '33.333333333', '0.1', '0.03333334'],
    ['0.00000001', '100', '5', '5.00000001'],
  ])(
    'with a flat fee of %s plus %s per cent of %s includes a fee of %s',
    async (flat, percent, amount, expectedFee) => {
      const app = await startClockedApp('2026-03-01T00:00:00.000Z')
      await setRate(app.service, { ...rate, rate: '1500' })
      await setFee(app.service, { ...fee, flat, percent })
      expect((await app.price(amount))[2]).toBe(expectedFee)
      await app.expectBooksToBalance()
    },
  )

  test('ignores the fees and rates of other pairs', async () => {
    const app = await startClockedApp('2026-03-01T00:00:00.000Z')
    await setRate(app.service, { ...rate, rate: '1500' })
    await setRate(app.service, { fromCode: 'USDC', toCode: 'ZAR', rate: '18' })
    await setRate(app.service, { fromCode: 'USDT', toCode: 'NGN', rate: '1499' })
    await setFee(app.service, { assetCode: 'USDC', recipientCurrency: 'ZAR', flat: '1', percent: '0' })
    await setFee(app.service, { assetCode: 'USDT', recipientCurrency: 'NGN', flat: '2', percent: '0' })
    expect(await app.price()).toEqual(['1500', '1500.00000000', null])
  })
})
