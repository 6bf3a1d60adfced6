// The statistics are compared with a count over the payouts that the test made.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Reader } from '../../../src/database/query.ts'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { startSealer } from '../../../src/modules/hash-chain/sealer.ts'
import { countHistory, startStatisticsCatchUp } from '../../../src/modules/payout-statistics/catch-up.ts'
import { createPeriodReader } from '../../../src/modules/payout-statistics/read-statistics.ts'
import { rebuildStatistics } from '../../../src/modules/payout-statistics/rebuild-statistics.ts'
import { coverageOfMerchants, statisticsOfMerchant } from '../../../src/modules/payout-statistics/repository.ts'
import { storeStatistics } from '../../../src/modules/payout-statistics/store-statistics.ts'
import type { PayoutStatus } from '../../../src/modules/payouts/payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import type { App, Engine } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { tamperWith } from '../../support/stored.ts'
import { sealAll } from '../hash-chain/support/tamperings.ts'

const countries = { NGN: 'Nigeria', ZAR: 'South Africa' } as const

type Step =
  | { readonly pay: 'USDC' | 'USDT'; readonly currency: keyof typeof countries; readonly cents: number }
  | { readonly settle: number; readonly status: 'COMPLETED' | 'FAILED' | 'RETURNED' }
  | { readonly waitMs: number }
  | { readonly seal: true }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        pay: fc.constantFrom('USDC' as const, 'USDT' as const),
        currency: fc.constantFrom('NGN' as const, 'ZAR' as const),
        cents: fc.integer({ min: 200, max: 99_999 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({
        settle: fc.nat(9),
        status: fc.constantFrom('COMPLETED' as const, 'FAILED' as const, 'RETURNED' as const),
      }),
    },
    { weight: 2, arbitrary: fc.record({ waitMs: fc.oneof(fc.nat(3_000), fc.nat(90_000_000)) }) },
    { weight: 1, arbitrary: fc.constant({ seal: true as const }) },
  ),
  { minLength: 30, maxLength: 40 },
)

/** The sums of a day, corridor and status: payouts, amount and fee. */
type Sums = Readonly<Record<string, readonly [payouts: number, amount: bigint, fee: bigint]>>

/** A merchant whose payouts the test counts itself. */
async function startCountedApp(engine: Engine) {
  let nowMs = Date.parse('2026-03-01T23:59:50.000Z')
  const app = await startApp(engine, { clock: () => nowMs })
  await app.fee('0.5')
  await app.wallet({ balance: '1000000' })
  await app.wallet({ assetCode: 'USDT', balance: '1000000' })
  const payouts: { id: string; corridor: string; amount: bigint; status: PayoutStatus }[] = []
  const expected = new Map<string, [number, bigint, bigint]>()

  function count({ corridor, amount }: (typeof payouts)[number], status: PayoutStatus): void {
    const key = `${new Date(nowMs).toISOString().slice(0, 10)} ${corridor} ${status}`
    const [number, sum, fees] = expected.get(key) ?? [0, 0n, 0n]
    const fee = corridor === 'USDC/NGN' ? 50_000_000n : 0n
    expected.set(key, [number + 1, sum + amount, fees + fee])
  }

  async function pay(asset: 'USDC' | 'USDT', currency: keyof typeof countries, cents: number): Promise<void> {
    const destination = { currency: asset, recipient_currency: currency, recipient_country: countries[currency] }
    const body = { ...payoutBody, ...destination, amount: (cents / 100).toFixed(2) }
    const { body: response } = await app.rest('POST', '/api/payouts/banks', {
      body,
      headers: { 'idempotency-key': `payout ${payouts.length}` },
    })
    const corridor = `${asset}/${currency}`
    const payout = { id: response.data.id, corridor, amount: BigInt(cents) * 1_000_000n, status: 'PROCESSING' as const }
    payouts.push(payout)
    count(payout, 'PROCESSING')
  }

  async function settle(which: number, status: 'COMPLETED' | 'FAILED' | 'RETURNED'): Promise<void> {
    const payout = payouts[which]
    const isPossible = payout?.status === (status === 'RETURNED' ? 'COMPLETED' : 'PROCESSING')
    if (payout === undefined || !isPossible) return
    await settlePayout(app.context(), { payoutId: payout.id, status, override: true })
    payout.status = status
    count(payout, status)
  }

  return {
    app,
    expected: (): Sums => Object.fromEntries([...expected].toSorted()),
    run: async (step: Step): Promise<void> => {
      nowMs++
      if ('pay' in step) await pay(step.pay, step.currency, step.cents)
      if ('settle' in step) await settle(step.settle, step.status)
      if ('waitMs' in step) nowMs += step.waitMs
      if ('seal' in step) await sealAll(app.service)
    },
  }
}

const oneUnit = 100_000_000n

async function storedSums({ db, merchant }: App): Promise<Sums> {
  const sums = new Map<string, [number, bigint, bigint]>()
  db.refresh()
  for (const row of await statisticsOfMerchant(db, { merchantId: merchant.id })) {
    const key = `${row.day} ${row.assetCode}/${row.recipientCurrency} ${row.status}`
    const [number, amount, fees] = sums.get(key) ?? [0, 0n, 0n]
    const [more, moreFees] = [row.amountUnits * oneUnit + row.amountRest, row.feeUnits * oneUnit + row.feeRest]
    sums.set(key, [number + row.payoutCount, amount + more, fees + moreFees])
  }
  return Object.fromEntries([...sums].toSorted())
}

/** The last three days, and the three days before. */
function lastDays({ service }: App) {
  const daysUntil = (time: number) =>
    [2, 1, 0].map((back) => new Date(time - back * 86_400_000).toISOString().slice(0, 10))
  return { before: daysUntil(service.wallClock() - 3 * 86_400_000), period: daysUntil(service.wallClock()) }
}

/** The number of payouts by the key that `keyOf` returns. */
function countsBy<Row extends { readonly payoutCount: number }>(rows: readonly Row[], keyOf: (row: Row) => string) {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + row.payoutCount)
  return new Map([...counts].toSorted())
}

async function contradictions({ service }: App) {
  const { findings } = await auditBooks(service)
  return findings.filter((finding) => finding.contradictions > 0)
}

async function coverage({ db, merchant }: App) {
  db.refresh()
  const [row] = await coverageOfMerchants(db, { merchantIds: [merchant.id] })
  return row
}

const fewSteps: readonly Step[] = [
  { pay: 'USDC', currency: 'NGN', cents: 1_000 },
  { pay: 'USDC', currency: 'NGN', cents: 2_001 },
  { pay: 'USDT', currency: 'ZAR', cents: 3_000 },
  { waitMs: 60_000 },
  { settle: 0, status: 'COMPLETED' },
  { settle: 1, status: 'FAILED' },
  { settle: 0, status: 'RETURNED' },
]

/** The database as a migration leaves it: sealed history that no statistics include. */
const forgetStatistics = (app: App) =>
  tamperWith(app, 'delete from payout_statistics', 'update statistics_cursors set through = 0')

describe.each(everyEngine)('the payout statistics on %s', (engine) => {
  test('equal the sums over all payouts for any sequence of payouts and hash chain seals, before and after a rebuild', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const { app, expected, run } = await startCountedApp(engine)
        for (const step of history) await run(step)
        await sealAll(app.service)
        expect(await storedSums(app)).toEqual(expected())
        expect(await contradictions(app)).toEqual([])
        await rebuildStatistics(app.service)
        expect(await storedSums(app)).toEqual(expected())
        expect(await contradictions(app)).toEqual([])
      }),
      { numRuns: 4 },
    )
  })

  test('equal the sums over all payouts if a reader caches the sums of finished days, for any sequence of payouts', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const { app, expected, run } = await startCountedApp(engine)
        const readPeriod = createPeriodReader()
        for (const step of [...history, { seal: true } as const]) {
          await run(step)
          if (!('seal' in step)) continue
          const days = lastDays(app)
          const statistics = await readPeriod(app.service, days)
          const rows = Object.entries(expected()).map(([key, [payoutCount]]) => {
            const [day = '', corridor = '', status = ''] = key.split(' ')
            return { day, corridor, status, payoutCount }
          })
          const inPeriod = rows.filter(({ day }) => days.period.includes(day))
          const createdBefore = rows.filter(({ day, status }) => days.before.includes(day) && status === 'PROCESSING')
          expect(countsBy(statistics.sums, (sum) => `${sum.assetCode}/${sum.recipientCurrency} ${sum.status}`)).toEqual(
            countsBy(inPeriod, ({ corridor, status }) => `${corridor} ${status}`),
          )
          expect(countsBy(statistics.daily, (sum) => `${sum.day} ${sum.assetCode} ${sum.status}`)).toEqual(
            countsBy(inPeriod, ({ day, corridor, status }) => `${day} ${corridor.slice(0, 4)} ${status}`),
          )
          expect(countsBy(statistics.before, ({ assetCode }) => assetCode)).toEqual(
            countsBy(createdBefore, ({ corridor }) => corridor.slice(0, 4)),
          )
          expect(statistics).toEqual(await createPeriodReader()(app.service, days))
        }
      }),
      { numRuns: 4 },
    )
  })

  test('are summed again only if an event of a finished day was counted since the last read, or after ten minutes', async () => {
    const { app, run } = await startCountedApp(engine)
    await run({ pay: 'USDC', currency: 'NGN', cents: 1_000 })
    await sealAll(app.service)
    await run({ waitMs: 90_000_000 })
    let queries = 0
    const execute: Reader['execute'] = (query, params) => {
      queries++
      return app.db.execute(query, params)
    }
    const service = { ...app.service, db: { ...app.db, execute } }
    const readPeriod = createPeriodReader()
    const queriesOfRead = async () => {
      queries = 0
      await readPeriod(service, lastDays(app))
      return queries
    }
    const first = await queriesOfRead()
    const second = await queriesOfRead()
    expect(second).toBeLessThan(first)
    await run({ waitMs: 600_000 })
    expect(await queriesOfRead()).toBe(first)

    // A payout of the present day does not change the sums of finished days, so the reader only counts their payouts.
    await run({ pay: 'USDC', currency: 'NGN', cents: 2_000 })
    await sealAll(app.service)
    const counted = await queriesOfRead()
    expect([counted > second, counted < first]).toEqual([true, true])
    expect(await queriesOfRead()).toBe(second)

    await rebuildStatistics(app.service)
    expect(await queriesOfRead()).toBe(second)
    await forgetStatistics(app)
    app.db.refresh()
    expect(await queriesOfRead()).toBe(first)
  })

  test('count each outcome with its duration on the day of the outcome, and keep the count of created payouts', async () => {
    const { app, run } = await startCountedApp(engine)
    for (const step of fewSteps) await run(step)
    await sealAll(app.service)

    const rows = await statisticsOfMerchant(app.db, { merchantId: app.merchant.id })
    const asText = rows.map(
      ({ day, assetCode, status, durationBucket, payoutCount, amountUnits, amountRest, feeUnits, feeRest }) =>
        `${day} ${assetCode} ${status} ${durationBucket}: ${payoutCount}, ${amountUnits}.${amountRest}, fee ${feeUnits}.${feeRest}`,
    )
    expect(asText.toSorted()).toEqual([
      '2026-03-01 USDC PROCESSING 0: 2, 30.1000000, fee 1.0',
      '2026-03-01 USDT PROCESSING 0: 1, 30.0, fee 0.0',
      // A minute is in the bucket from 45.3 to 64 seconds.
      '2026-03-02 USDC COMPLETED 13: 1, 10.0, fee 0.50000000',
      '2026-03-02 USDC FAILED 0: 1, 20.1000000, fee 0.50000000',
      '2026-03-02 USDC RETURNED 0: 1, 10.0, fee 0.50000000',
    ])
  })

  test('include earlier events after a background run has counted them, and events that are sealed after that run', async () => {
    const { app, expected, run } = await startCountedApp(engine)
    for (const step of fewSteps) await run(step)
    await sealAll(app.service)
    await forgetStatistics(app)
    // This seal must not count events while earlier ones are missing.
    await run({ settle: 2, status: 'COMPLETED' })
    await sealAll(app.service)
    expect(await storedSums(app)).toEqual({})

    const catchUp = startStatisticsCatchUp({ service: app.service, onError: (error) => expect(error).toBe(null) })
    await Promise.all([catchUp.poll(), catchUp.poll()])
    await catchUp.stop()
    expect(await storedSums(app)).toEqual(expected())
    await run({ settle: 2, status: 'RETURNED' })
    await sealAll(app.service)
    expect(await storedSums(app)).toEqual(expected())
  })

  test('count each event once if two hash chain sealers, two background counts and a rebuild run concurrently', async () => {
    const { app, expected, run } = await startCountedApp(engine)
    for (const step of fewSteps) await run(step)
    await sealAll(app.service)
    await forgetStatistics(app)
    await run({ settle: 2, status: 'COMPLETED' })
    app.db.refresh()
    const sealers = [0, 1].map(() => startSealer({ service: app.service, onError: () => {} }))
    const count = () => countHistory(app.service, { hasSealer: true, restRatio: 0 })
    await Promise.all([...sealers.map(({ poll }) => poll()), count(), rebuildStatistics(app.service), count()])
    await Promise.all(sealers.map(({ stop }) => stop()))
    await sealAll(app.service)
    await count()

    expect(await storedSums(app)).toEqual(expected())
    expect(await coverage(app)).toMatchObject({ through: (await coverage(app))?.latest })
  })

  test('ignore changes for events that are already counted, or that follow uncounted events', async () => {
    const { app, expected, run } = await startCountedApp(engine)
    for (const step of fewSteps) await run(step)
    await sealAll(app.service)
    const through = (await coverage(app))?.through ?? 0
    const none = { day: '2026-03-01', assetCode: 'USDC', recipientCurrency: 'NGN', status: 'FAILED' } as const
    const amounts = { amountUnits: 1n, amountRest: 1n, feeUnits: 1n, feeRest: 1n }
    const counted = {
      changes: [{ ...none, durationBucket: 0, payoutCount: 1, ...amounts }],
      balanceChanges: [{ day: '2026-03-01', assetCode: 'USDC', changeUnits: 1n, changeRest: 1n }],
    }
    for (const [after, last] of [
      [0, through],
      [through - 1, through],
      [through + 1, through + 2],
    ] as const) {
      expect(await storeStatistics(app.context(), { after, through: last, ...counted })).toBe(false)
    }
    expect(await storedSums(app)).toEqual(expected())
  })

  test('include unsealed events after a background count only if no hash chain sealer runs', async () => {
    const { app, expected, run } = await startCountedApp(engine)
    for (const step of fewSteps) await run(step)
    await countHistory(app.service, { hasSealer: true, restRatio: 0 })
    expect(await storedSums(app)).toEqual({})
    await countHistory(app.service, { hasSealer: false, restRatio: 0 })
    expect(await storedSums(app)).toEqual(expected())
    // The sealer passes the events that are counted already.
    await sealAll(app.service)
    expect(await storedSums(app)).toEqual(expected())
  })
})
