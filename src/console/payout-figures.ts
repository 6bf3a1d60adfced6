import { formatAmount } from '../core/money/amount.ts'
import { estimateQuantile } from '../modules/payout-statistics/duration-buckets.ts'
import type { CorridorSum } from '../modules/payout-statistics/read-statistics.ts'
import type { PayoutStatus } from '../modules/payouts/payout.ts'
import { payoutAssetCodes } from '../modules/payouts/payout.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { emptyValue } from './components.ts'
import { formatDuration, groupThousands } from './phrases.ts'

/** Amounts are in 10⁻⁸ units. `durations` counts completed payouts by duration bucket. */
export type Figures = {
  readonly created: number
  readonly volume: bigint
  readonly fees: bigint
  readonly completed: number
  readonly failed: number
  readonly returned: number
  readonly durations: ReadonlyMap<number, number>
}

/**
 * Amounts of different stablecoins must not be added. If `sums` contains several stablecoins, use only counts and
 * durations.
 */
export function figuresOf(sums: readonly CorridorSum[]): Figures {
  const ofStatus = (wanted: PayoutStatus) => sums.filter(({ status }) => status === wanted)
  const count = (some: readonly CorridorSum[]) => some.reduce((total, { payoutCount }) => total + payoutCount, 0)
  const created = ofStatus('PROCESSING')
  const completed = ofStatus('COMPLETED')
  const durations = new Map<number, number>()
  for (const { durationBucket, payoutCount } of completed)
    durations.set(durationBucket, (durations.get(durationBucket) ?? 0) + payoutCount)
  return {
    created: count(created),
    volume: created.reduce((total, { amount }) => total + amount, 0n),
    fees: created.reduce((total, { fee }) => total + fee, 0n),
    completed: count(completed),
    failed: count(ofStatus('FAILED')),
    returned: count(ofStatus('RETURNED')),
    durations,
  }
}

export function successText({ completed, failed }: Figures): Html {
  if (completed + failed === 0) return emptyValue
  return html`${((100 * completed) / (completed + failed)).toFixed(1)} %`
}

export function timeText({ durations }: Figures, share: number): Html {
  const durationMs = estimateQuantile(durations, share)
  return durationMs === null
    ? emptyValue
    : html`${durationMs <= 1_000 ? '< 1 second' : formatDuration(durationMs / 1_000)}`
}

export function moneyText(amount: bigint): Html {
  const [whole = '', places = ''] = formatAmount(amount).split('.')
  return html`<span class="money">${groupThousands(BigInt(whole))}.${places.slice(0, 2)}</span>`
}

export function assetsOf(sums: readonly { readonly assetCode: string }[]): readonly string[] {
  return payoutAssetCodes.filter((asset) => sums.some(({ assetCode }) => assetCode === asset))
}

/** @param shares of completed payouts, for example 0.5 to show the median time to completion */
export function figureCells(
  name: Html,
  { sums, sumsOfToday, shares }: Record<'sums' | 'sumsOfToday', readonly CorridorSum[]> & { shares: readonly number[] },
): readonly Html[] {
  const [all, ofToday] = [figuresOf(sums), figuresOf(sumsOfToday)]
  return [
    name,
    moneyText(ofToday.volume),
    html`${groupThousands(ofToday.created)}`,
    moneyText(all.volume),
    html`${groupThousands(all.created)}`,
    successText(all),
    ...shares.map((share) => timeText(all, share)),
    moneyText(all.fees),
  ]
}
