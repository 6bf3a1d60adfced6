import { customers } from './demo-data.ts'
import { latestPayouts, payers, type railsByCurrency, rejections, returns } from './demo-payouts.ts'
import type { SeededRandom } from './load/fake-data.ts'

export const historyDays = 90
export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** If `reports` is empty, the payout waits for an operator. */
export type PlannedPayout = {
  readonly at: number
  readonly owner: string | null
  readonly payout: {
    readonly assetCode: 'USDC' | 'USDT'
    readonly amount: string
    readonly recipientName: string
    readonly recipientCurrency: keyof typeof railsByCurrency
    readonly recipientCountry: string
    readonly accountNumber: string
    readonly bankName: string
    readonly bankCode: string
    readonly paymentPurpose: string
    readonly narration?: string
  }
  readonly reports: readonly PlannedReport[]
}

export type PlannedReport = {
  readonly at: number
  readonly state: 'COMPLETED' | 'REJECTED' | 'RETURNED'
  readonly code: string | null
}

export type PlannedDeposit = {
  readonly at: number
  readonly owner: string | null
  readonly assetCode: string
  readonly amount: string
}

/** Tests count the payouts, so their number is fixed. */
const plannedPayouts = 394
export const demoPayoutCount = plannedPayouts + latestPayouts.length

/** The relative numbers of payouts per weekday (from Sunday) and per hour of the day (from 6 to 17 UTC). */
const weekdayWeights = [12, 100, 112, 106, 104, 124, 34]
const firstHour = 6
const hourWeights = [2, 5, 9, 12, 12, 10, 7, 9, 10, 9, 6, 3]

/** Every planned payout is older than `latestMs`, so that the bank has completed or rejected the payout. */
const latestMs = 4 * hourMs

export function planPayouts(random: SeededRandom, now: number): readonly PlannedPayout[] {
  const today = Math.floor(now / dayMs) * dayMs
  const days = Array.from({ length: historyDays }, (_, place) => ({
    start: today - (historyDays - 1 - place) * dayMs,
    growth: historyDays + 2 * place,
  }))
  const weightOfDay = ({ start, growth }: (typeof days)[number]) =>
    (weekdayWeights[new Date(start).getUTCDay()] ?? 0) * growth
  const payouts: PlannedPayout[] = []
  while (payouts.length < plannedPayouts) {
    const { start } = pickWeighted(random, days, weightOfDay)
    const hour = firstHour + pickWeighted(random, [...hourWeights.entries()], ([, weight]) => weight)[0]
    const at = start + hour * hourMs + random.integer(0, hourMs - 1)
    if (at > now - latestMs || at < now - (historyDays - 1) * dayMs) continue
    payouts.push(planPayout(random, at, now))
  }
  return [...payouts, ...latestPayouts.map((each) => planLatest(each, now))].toSorted((one, other) => one.at - other.at)
}

function planPayout(random: SeededRandom, at: number, now: number): PlannedPayout {
  const joined = payers.filter(({ owner }) => owner === null || at > joinedAt(owner, now) + dayMs)
  const { owner, assetCode, amount, purpose, recipients } = pickWeighted(random, joined, ({ weight }) => weight)
  const recipient = random.pick<(typeof recipients)[number]>(recipients)
  const invoice = purpose === 'PAYMENT_FOR_GOODS_AND_SERVICES' && random.chance(0.6)
  return {
    at,
    owner,
    payout: {
      ...{ ...recipient, assetCode, paymentPurpose: purpose, amount: planAmount(random, amount) },
      ...(invoice && { narration: `Invoice ${random.integer(1_000, 9_999)}` }),
    },
    reports: planReports(random, { at, currency: recipient.recipientCurrency, now }),
  }
}

export function joinedAt(owner: string, now: number): number {
  const { joinedDaysAgo } = customers.find(({ name }) => name === owner) ?? { joinedDaysAgo: historyDays }
  return now - joinedDaysAgo * dayMs
}

function planAmount(random: SeededRandom, [min, max]: readonly [min: number, max: number]): string {
  const units = min + Math.floor(((max - min) * random.integer(0, 1_000) * random.integer(0, 1_000)) / 1_000_000)
  return random.chance(0.35) ? `${units}.${random.digits(2)}` : `${Math.max(min, Math.round(units / 5) * 5)}`
}

function planReports(
  random: SeededRandom,
  { at, currency, now }: { at: number; currency: keyof typeof railsByCurrency; now: number },
): PlannedReport[] {
  const seconds = {
    NGN: () => random.integer(6, random.chance(0.12) ? 1_200 : 75),
    ZAR: () => random.integer(900, 9_000),
  }
  const decidedAt = at + seconds[currency]() * 1_000
  if (random.chance(0.035)) return [{ at: decidedAt, state: 'REJECTED', code: random.pick(rejections) }]
  const completed = { at: decidedAt, state: 'COMPLETED', code: null } as const
  const returnedAt = decidedAt + random.integer(18, 70) * hourMs
  const isReturned = random.chance(0.015) && returnedAt < now - hourMs
  return isReturned ? [completed, { at: returnedAt, state: 'RETURNED', code: random.pick(returns) }] : [completed]
}

function planLatest(
  { owner, outcome, hoursAgo, cause: code, ...payout }: (typeof latestPayouts)[number],
  now: number,
): PlannedPayout {
  const at = now - hoursAgo * hourMs
  const [decidedAt, returnedAt] = [at + 0.4 * hourMs, at + 20 * hourMs]
  const reports = {
    COMPLETED: [{ at: decidedAt, state: 'COMPLETED', code: null }],
    FAILED: [{ at: decidedAt, state: 'REJECTED', code }],
    RETURNED: [
      { at: decidedAt, state: 'COMPLETED', code: null },
      { at: returnedAt, state: 'RETURNED', code },
    ],
  } as const
  return { at, owner, payout, reports: outcome === null ? [] : reports[outcome] }
}

/** Plans one deposit per week and wallet, before the week's first payout. */
export function planDeposits(payouts: readonly PlannedPayout[], now: number): readonly PlannedDeposit[] {
  const weeks = new Map<string, { readonly first: PlannedPayout; total: number }>()
  for (const each of payouts) {
    const { at, owner, payout } = each
    if (!payers.some((payer) => payer.owner === owner && payer.assetCode === payout.assetCode)) continue
    const key = `${owner} ${payout.assetCode} ${Math.floor((now - at) / (7 * dayMs))}`
    const week = weeks.get(key) ?? { first: each, total: 0 }
    week.total += Number(payout.amount) * 1.003 + 1
    weeks.set(key, week)
  }
  return [...weeks.values()].map(({ first: { at, owner, payout }, total }) => ({
    ...{ at: at - 2 * hourMs, owner, assetCode: payout.assetCode },
    amount: `${Math.ceil(total / 50) * 50}`,
  }))
}

function pickWeighted<Item>(random: SeededRandom, items: readonly Item[], weightOf: (item: Item) => number): Item {
  const total = items.reduce((sum, item) => sum + weightOf(item), 0)
  let rest = random.integer(1, total)
  const picked = items.find((item) => {
    rest -= weightOf(item)
    return rest <= 0
  })
  return picked as Item
}
