import { timestamp } from '../../core/ids-and-clock.ts'
import { unsealedBacklog } from '../../modules/hash-chain/repository.ts'
import { iterateMerchantIds } from '../../modules/merchants/list-merchants.ts'
import { payoutAssetCodes, recipientCurrencies } from '../../modules/payouts/payout.ts'
import { rateInForce } from '../../modules/pricing/repository.ts'
import type { Service } from '../../operations/context.ts'
import { oldestProcessingPayouts, processingPayouts, unknownOrderCount } from './repository.ts'

const maxCountedPayouts = 100_000
const maxCountedOrders = 10_000

export type DatabaseMetrics = {
  readonly processing: { readonly payouts: number; readonly oldestSeconds: number }
  readonly unsealed: { readonly events: number; readonly oldestSeconds: number }
  readonly unknown: ReadonlyMap<string, number>
  /** The age of each exchange rate in seconds, by pair such as `USDC/NGN`. */
  readonly rateAges: ReadonlyMap<string, number>
}

/**
 * Each query reads a limited part of an index. The console imports this file, so this file must not import prom-client.
 *
 * @param maxPayouts the count of payouts in progress stops at this number
 * @throws the database's error if the database is unavailable
 */
export async function measureDatabase(
  service: Service,
  rails: readonly string[],
  { maxPayouts = maxCountedPayouts }: { readonly maxPayouts?: number } = {},
): Promise<DatabaseMetrics> {
  const processing = await measureProcessing(service, maxPayouts)
  const unsealed = await measureUnsealed(service)
  const unknown = new Map<string, number>()
  for (const rail of rails) {
    const [row] = await unknownOrderCount(service.db, { rail, limit: maxCountedOrders })
    unknown.set(rail, Number(row?.rowCount ?? 0))
  }
  return { processing, unsealed, unknown, rateAges: await measureRates(service) }
}

async function measureProcessing(
  { db, wallClock }: Service,
  maxPayouts: number,
): Promise<DatabaseMetrics['processing']> {
  let payouts = 0
  let oldestAt: number = wallClock()
  for await (const merchantIds of iterateMerchantIds(db)) {
    const limit = maxPayouts - payouts
    if (limit > 0) payouts += Number((await processingPayouts(db, { merchantIds, limit }))[0]?.rowCount ?? 0)
    for (const assetCode of payoutAssetCodes) {
      for (const recipientCurrency of recipientCurrencies) {
        const rows = await oldestProcessingPayouts(db, { merchantIds, assetCode, recipientCurrency })
        for (const { oldestAt: at } of rows) if (at !== null) oldestAt = Math.min(oldestAt, Date.parse(at))
      }
    }
  }
  return { payouts, oldestSeconds: (wallClock() - oldestAt) / 1_000 }
}

async function measureUnsealed({ db, wallClock }: Service): Promise<DatabaseMetrics['unsealed']> {
  let events = 0
  let oldestAt: number = wallClock()
  for await (const merchantIds of iterateMerchantIds(db)) {
    for (const { latest, through, oldestAt: at } of await unsealedBacklog(db, { merchantIds })) {
      // PostgreSQL returns the columns of a CTE as bigints.
      events += Number(latest) - Number(through ?? 0)
      if (at !== null) oldestAt = Math.min(oldestAt, Number(at))
    }
  }
  return { events, oldestSeconds: (wallClock() - oldestAt) / 1_000 }
}

async function measureRates({ db, wallClock }: Service): Promise<DatabaseMetrics['rateAges']> {
  const ages = new Map<string, number>()
  for (const fromCode of payoutAssetCodes) {
    for (const toCode of recipientCurrencies) {
      const rate = await rateInForce(db, { fromCode, toCode, at: timestamp(wallClock()) })
      if (rate) ages.set(`${fromCode}/${toCode}`, (wallClock() - Date.parse(rate.effectiveAt)) / 1_000)
    }
  }
  return ages
}
