import { describe, expect, test } from 'vitest'
import { quotePayout } from '../../../../src/modules/payouts/quote.ts'
import { fees, setFee } from '../../../../src/modules/pricing/fees.ts'
import { rates, setRate } from '../../../../src/modules/pricing/rates.ts'
import { upcomingPriceLines } from '../../../../src/modules/pricing/upcoming-prices.ts'
import type { Service } from '../../../../src/operations/context.ts'
import { createService } from '../../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../../support/app.ts'
import { domainErrorOf } from '../../../support/domain-error-of.ts'
import { readStoredRows } from '../../../support/stored.ts'

const march = '2026-03-01T00:00:00.000Z'
const april = '2026-04-01T00:00:00.000Z'

type ListedPrice = { readonly effectiveAt: string; readonly state: string; readonly cancelledAt: string | null }

/** Rates and fees are set, cancelled and listed in the same way; `value` is a rate or a percentage. */
const prices = [
  [
    'rates',
    {
      set: (service: Service, value: string, effectiveAt?: string) =>
        setRate(service, { fromCode: 'USDC', toCode: 'NGN', rate: value, effectiveAt, isForced: true }),
      cancel: (service: Service, effectiveAt: string) =>
        rates.cancel(service, { fromCode: 'USDC', toCode: 'NGN', effectiveAt }),
      list: async (service: Service, filter: object = {}) =>
        (await rates.list(service, filter)).items.map((row) => [...summaryOf(row), row.rate]),
      otherPair: { toCode: 'ZAR' },
    },
  ],
  [
    'fees',
    {
      set: (service: Service, value: string, effectiveAt?: string) =>
        setFee(service, { assetCode: 'USDC', recipientCurrency: 'NGN', percent: value, effectiveAt }),
      cancel: (service: Service, effectiveAt: string) =>
        fees.cancel(service, { assetCode: 'USDC', recipientCurrency: 'NGN', effectiveAt }),
      list: async (service: Service, filter: object = {}) =>
        (await fees.list(service, filter)).items.map((row) => [...summaryOf(row), row.percent]),
      otherPair: { recipientCurrency: 'ZAR' },
    },
  ],
] as const

const summaryOf = ({ effectiveAt, state }: ListedPrice) => [effectiveAt.slice(0, 10), state]

describe.each(everyEngine)('prices on %s', (engine) => {
  describe.each(prices)('%s', (noun, { set, cancel, list, otherPair }) => {
    const start = async () => {
      let currentTime = march
      const app = await startApp(engine, { clock: () => Date.parse(currentTime), rates: [] })
      return { app, service: app.service, setTime: (time: string) => (currentTime = time) }
    }

    test('are listed with their current state', async () => {
      const { service, setTime: goTo } = await start()
      await set(service, '10')
      await set(service, '20', april)
      await set(service, '30', '2026-05-01T00:00:00Z')
      await set(service, '40', '2026-06-01T00:00:00Z')
      await cancel(service, '2026-05-01T00:00:00Z')
      goTo('2026-04-02T00:00:00Z')

      expect(await list(service)).toEqual([
        ['2026-06-01', 'FUTURE', '40'],
        ['2026-05-01', 'CANCELLED', '30'],
        ['2026-04-01', 'IN_FORCE', '20'],
        ['2026-03-01', 'PAST', '10'],
      ])
      expect(await list(service, { state: 'IN_FORCE' })).toEqual([['2026-04-01', 'IN_FORCE', '20']])
      expect(await list(service, { first: 2 })).toHaveLength(2)
      expect(await list(service, otherPair)).toEqual([])
    })

    test('can be cancelled before they take effect and set again for the same time, and no row is deleted', async () => {
      const { app, service, setTime: goTo } = await start()
      await set(service, '10')
      await set(service, '20', april)
      const cancelled = await cancel(service, april)
      expect(cancelled).toMatchObject({ effectiveAt: april, cancelledAt: march })
      goTo('2026-03-02T00:00:00Z')
      expect(await cancel(service, april)).toEqual(cancelled)
      await set(service, '11', april)

      goTo('2026-04-02T00:00:00Z')
      expect(await list(service)).toEqual([
        ['2026-04-01', 'IN_FORCE', '11'],
        ['2026-04-01', 'CANCELLED', '20'],
        ['2026-03-01', 'PAST', '10'],
      ])
      expect((await readStoredRows(app))[noun]).toHaveLength(3)
    })

    test('are not used for payouts after they are cancelled', async () => {
      const { app, service, setTime: goTo } = await start()
      await setRate(service, { fromCode: 'USDC', toCode: 'NGN', rate: '1', effectiveAt: '2026-03-01T00:00:01Z' })
      await set(service, '10', '2026-03-02T00:00:00Z')
      await set(service, '20', april)
      await cancel(service, april)
      goTo('2026-04-02T00:00:00Z')
      const terms = { assetCode: 'USDC', recipientCurrency: 'NGN', amount: 100_00000000n }
      const { exchangeRate, fee } = await quotePayout(app.db, app.context(), terms)
      expect(noun === 'rates' ? exchangeRate : fee).toBe(noun === 'rates' ? '10' : 10_00000000n)
    })

    test('that are or were effective cannot be cancelled, because payouts may have used them', async () => {
      const { app, service, setTime: goTo } = await start()
      await set(service, '10')
      await set(service, '20', april)
      goTo(april)
      const before = await readStoredRows(app)
      for (const time of [march, april]) {
        const error = await domainErrorOf(() => cancel(service, time))
        expect(error).toMatchObject({ code: 'INVALID_INPUT', details: { fields: [{ field: 'effectiveAt' }] } })
      }
      expect((await domainErrorOf(() => cancel(service, '2026-07-01T00:00:00Z'))).code).toBe('RESOURCE_NOT_FOUND')
      expect((await domainErrorOf(() => cancel(service, 'soon'))).code).toBe('INVALID_INPUT')
      expect(await readStoredRows(app)).toEqual(before)
    })

    test('are cancelled once by concurrent cancellations, and set once by concurrent calls', async () => {
      const { service } = await start()
      await set(service, '20', april)
      const cancelled = await Promise.all(Array.from({ length: 8 }, () => cancel(service, april)))
      expect(new Set(cancelled.map(({ cancelledAt }) => cancelledAt)).size).toBe(1)
      const sets = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => set(service, `${i + 1}`, april)))
      expect(sets.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      expect(await list(service)).toHaveLength(2)
    })
  })

  test('a rate set by a clock that is two hours ahead is upcoming, and can be cancelled before it is effective', async () => {
    const hour = 3_600_000
    let nowMs = Date.parse(march)
    const app = await startApp(engine, { clock: () => nowMs })
    const pair = { fromCode: 'USDC', toCode: 'NGN' }
    const serviceAhead = createService({ db: app.db, mode: 'sandbox', clock: () => nowMs + 2 * hour })
    const rateAhead = await setRate(serviceAhead, { ...pair, rate: '1300' })
    const terms = { assetCode: 'USDC', recipientCurrency: 'NGN', amount: 100_00000000n }
    const rateNow = async () => (await quotePayout(app.db, app.context(), terms)).exchangeRate

    nowMs += hour
    expect(await rateNow()).toBe('1500')
    const { later } = await setRate(app.service, { ...pair, rate: '1510' })
    expect(later).toMatchObject([{ rate: '1300', effectiveAt: rateAhead.effectiveAt }])
    expect(await upcomingPriceLines(app.service)).toEqual([`rate USDC NGN 1300 from ${rateAhead.effectiveAt}`])
    await rates.cancel(app.service, { ...pair, effectiveAt: rateAhead.effectiveAt })
    expect(await upcomingPriceLines(app.service)).toEqual([])
    nowMs += 2 * hour
    expect(await rateNow()).toBe('1510')
  })
})
