import * as fc from 'fast-check'
import { DomainError } from '../../../src/core/errors.ts'
import { createMerchant } from '../../../src/modules/merchants/create-merchant.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import type { FeeSource } from '../../../src/modules/pricing/fees.ts'
import { feeSources } from '../../../src/modules/pricing/fees.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { Context } from '../../../src/operations/context.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { nigerian } from '../payouts/payout-places.ts'

/**
 * A step of a history and the milliseconds before it. A settlement chooses among earlier payouts, a fee applies to all
 * merchants.
 */
export type Step = {
  readonly laterMs: number
  readonly wallet: 0 | 1
} & (
  | { readonly kind: 'deposit' | 'payout'; readonly units: number }
  | { readonly kind: 'fee'; readonly deductedFrom: FeeSource }
  | { readonly kind: 'settle'; readonly which: number; readonly status: 'COMPLETED' | 'FAILED' | 'RETURNED' }
)

const units = fc.oneof(fc.integer({ min: 1, max: 300_000_000 }), fc.constantFrom(1, 99_999_999, 100_000_001))
const commonFields = { laterMs: fc.constantFrom(0, 0, 1, 7, 60_001), wallet: fc.constantFrom(0 as const, 1 as const) }

export const history: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      ...commonFields,
      kind: fc.constantFrom('deposit' as const, 'payout' as const, 'payout' as const),
      units,
    }),
    fc.record({ ...commonFields, kind: fc.constant('fee' as const), deductedFrom: fc.constantFrom(...feeSources) }),
    fc.record({
      ...commonFields,
      kind: fc.constant('settle' as const),
      which: fc.nat(20),
      status: fc.constantFrom('COMPLETED' as const, 'FAILED' as const, 'RETURNED' as const),
    }),
  ),
  { minLength: 3, maxLength: 25, size: 'max' },
)

export function movableClock() {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  return {
    now: () => nowMs,
    pass: (ms: number) => {
      nowMs += ms
    },
  }
}

/** Runs a history for a new merchant with two wallets, ignoring rejected steps. */
export async function runHistory(app: App, clock: ReturnType<typeof movableClock>, steps: readonly Step[]) {
  const { id } = await createMerchant(app.service, { name: 'Of a history' })
  const context = createContext(app.service, id)
  const walletIds = [await newWallet(context), await newWallet(context)]
  const payouts: string[] = []
  const moments = new Set<string>()
  for (const step of steps) {
    clock.pass(step.laterMs)
    moments.add(new Date(clock.now()).toISOString())
    await runStep(app, context, step, { walletId: walletIds[step.wallet] ?? '', payouts }).catch(ignoreDomainError)
  }
  return { context, walletIds, moments: [...moments] }
}

const recipient = { assetCode: 'USDC', ...nigerian } as const

async function newWallet(context: Context): Promise<string> {
  const input = { currency: 'USDC', description: 'Of a history', network: 'solana' } as const
  return (await createWallet(context, input)).result.id
}

async function runStep(
  app: App,
  context: Context,
  step: Step,
  { walletId, payouts }: { walletId: string; payouts: string[] },
) {
  if (step.kind === 'fee') return app.fee('0.00000007', '0.3', step.deductedFrom)
  if (step.kind === 'settle') {
    const payoutId = payouts[step.which % Math.max(payouts.length, 1)]
    if (payoutId !== undefined) await settlePayout(context, { payoutId, status: step.status })
    return
  }
  const amount = amountOf(step.units)
  if (step.kind === 'deposit') await depositToWallet(context, { walletId, amount, reference: context.newId() })
  else payouts.push((await createPayout(context, { ...recipient, walletId, amount })).result.id)
}

function amountOf(units: number): string {
  return `${Math.floor(units / 100_000_000)}.${String(units % 100_000_000).padStart(8, '0')}`
}

function ignoreDomainError(error: unknown): void {
  if (!(error instanceof DomainError)) throw error
}
