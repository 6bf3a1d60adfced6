import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import { createSecrets } from '../../src/core/secrets/secrets.ts'
import { demoKey, seedDemo } from '../../src/demo/demo.ts'
import { wallets } from '../../src/demo/demo-data.ts'
import { dayMs, demoPayoutCount, historyDays, planDeposits, planPayouts } from '../../src/demo/demo-history.ts'
import { createRandom } from '../../src/demo/load/fake-data.ts'
import { auditBooks } from '../../src/modules/audit/audit.ts'
import { walletEntriesOfTransfers } from '../../src/modules/ledger/repository.ts'
import { apiKeyById } from '../../src/modules/merchants/repository.ts'
import { payouts } from '../../src/modules/payouts/list.ts'
import type { Payout } from '../../src/modules/payouts/payout.ts'
import { findRailOrders } from '../../src/modules/payouts/payout-timeline.ts'
import { currentRailRoutes } from '../../src/modules/rail-orders/repository.ts'
import { webhookEndpoints } from '../../src/modules/webhooks/endpoints/list.ts'
import { webhookDeliveries } from '../../src/modules/webhooks/endpoints/list-webhook-deliveries.ts'
import type { Context } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, newDatabase } from '../support/app.ts'

async function startDemo(engine: Engine): Promise<Context> {
  const { url, remove } = await newDatabase(engine)
  onTestFinished(remove)
  const db = await openDatabase({ url, onFatal: () => {} })
  onTestFinished(() => db.close())
  const service = createService({ db, mode: 'sandbox', secrets: createSecrets([Buffer.alloc(32, 7)]) })
  expect(await seedDemo(service)).toBe(true)
  return createContext(service, (await apiKeyById(db, { id: demoKey.id }))?.merchantId ?? '')
}

async function everyPayout(context: Context): Promise<Payout[]> {
  const all: Payout[] = []
  for (let after: string | undefined; ; ) {
    const { items, hasNextPage, cursorOf } = await payouts.slice(context, { first: 100, owner: 'any', after })
    all.push(...items)
    const last = items.at(-1)
    if (!hasNextPage || !last) return all
    after = cursorOf(last)
  }
}

describe.each(everyEngine)('the demo on %s', (engine) => {
  test('has payouts of ninety days in every status, each debited at its creation, and books that balance', async () => {
    const context = await startDemo(engine)
    const all = await everyPayout(context)
    expect(all).toHaveLength(demoPayoutCount)

    const days = all.map(({ createdAt }) => (context.now() - Date.parse(createdAt)) / dayMs)
    expect(Math.min(...days)).toBeGreaterThan(0)
    expect(Math.max(...days)).toBeLessThan(historyDays)
    expect(new Set(all.map(({ createdAt }) => createdAt)).size).toBe(all.length)
    const counts = Map.groupBy(all, ({ status }) => status)
    expect(counts.get('PROCESSING')).toHaveLength(2)
    expect(counts.get('FAILED')?.length).toBeGreaterThan(8)
    expect(counts.get('RETURNED')?.length).toBeGreaterThan(2)

    const latest = all.slice(0, 100)
    const entries = await walletEntriesOfTransfers(context.db, {
      merchantId: context.merchantId,
      transferIds: latest.map((each) => each.transferId),
    })
    const debitedAt = new Map(entries.map(({ payoutId, createdAt }) => [payoutId, createdAt]))
    for (const { id, createdAt } of latest) expect([id, debitedAt.get(id)]).toEqual([id, createdAt])

    const { balanced, findings } = await auditBooks(context)
    expect([balanced, findings.filter(({ contradictions }) => contradictions > 0)]).toEqual([true, []])
  })

  test('leaves no open rail order and no route, so the two latest payouts wait for an operator', async () => {
    const context = await startDemo(engine)
    const all = await everyPayout(context)
    const orders = await findRailOrders(
      context,
      all.map(({ referenceId }) => referenceId),
    )
    expect(new Set([...orders.values()].map(({ rail }) => rail))).toEqual(new Set(['sandbox', 'za-eft']))
    expect([...orders.values()].filter(({ dueAt }) => dueAt !== null)).toEqual([])
    const undecided = all.filter(({ referenceId }) => !orders.has(referenceId))
    expect(undecided.map(({ status }) => status)).toEqual(['PROCESSING', 'PROCESSING'])
    expect(undecided).toEqual(all.slice(0, 2))
    expect(await currentRailRoutes(context.db, {})).toEqual([])
  })

  test('has a webhook endpoint with deliveries that failed and were retried', async () => {
    const context = await startDemo(engine)
    const { items } = await webhookEndpoints.slice(context, { first: 10 })
    expect(items).toMatchObject([{ status: 'enabled', failures: 0, failingSince: null }])
    const ids = items.map(({ id }) => id)
    const slices = await webhookDeliveries.slicesOf('endpoint')(context, ids, { first: 100 })
    const deliveries = [...slices.values()].flatMap((slice) => slice.items)
    expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(['delivered']))
    expect(deliveries.some(({ attempts }) => attempts > 1)).toBe(true)
  })
})

/** A Thursday. */
const now = Date.parse('2026-11-26T15:00:00.000Z')

test('the plan of the demo depends only on its seed and the time', () => {
  expect(planPayouts(createRandom(1), now)).toEqual(planPayouts(createRandom(1), now))
  expect(planPayouts(createRandom(1), now)).not.toEqual(planPayouts(createRandom(2), now))
})

test('the plan of the demo has fewer payouts at weekends than on other days, and more payouts towards its end', () => {
  const planned = planPayouts(createRandom(1), now)
  const ofWeekend = planned.filter(({ at }) => [0, 6].includes(new Date(at).getUTCDay()))
  expect(ofWeekend.length / planned.length).toBeLessThan(0.12)
  expect(ofWeekend.length).toBeGreaterThan(0)
  const recent = planned.filter(({ at }) => at > now - 30 * dayMs)
  const early = planned.filter(({ at }) => at < now - 60 * dayMs)
  expect(recent.length).toBeGreaterThan(1.5 * early.length)
})

test.each(['2026-11-26T15:00:00.000Z', '2026-11-23T00:00:00.000Z', '2024-02-29T23:59:59.999Z'])(
  'the plan of the demo at %s has the fixed number of payouts, all settled before that time and covered by deposits',
  (time) => {
    const at = Date.parse(time)
    const planned = planPayouts(createRandom(1), at)
    expect(planned).toHaveLength(demoPayoutCount)
    for (const { reports, ...payout } of planned) {
      const times = [payout.at, ...reports.map((report) => report.at)]
      expect(times).toEqual(times.toSorted((one, other) => one - other))
      expect(times.at(-1)).toBeLessThan(at)
    }
    const spent = new Map(wallets.map(({ owner, currency, deposit }) => [`${owner} ${currency}`, -Number(deposit)]))
    const steps = [
      ...planned.map((each) => ({ ...each, ...each.payout, sign: 1 })),
      ...planDeposits(planned, at).map((each) => ({ ...each, sign: -1 })),
    ].toSorted((one, other) => one.at - other.at)
    for (const { owner, assetCode, amount, sign } of steps) {
      const wallet = `${owner} ${assetCode}`
      spent.set(wallet, (spent.get(wallet) ?? 0) + sign * Number(amount))
      expect(spent.get(wallet)).toBeLessThanOrEqual(0)
    }
  },
)
