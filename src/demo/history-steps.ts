import { dueTimeAfter } from '../core/ids-and-clock.ts'
import { closeCustomer } from '../modules/customers/close-customer.ts'
import { createCustomer } from '../modules/customers/create-customer.ts'
import { createBankPayoutMethod, createWalletPayoutMethod } from '../modules/payout-methods/create-payout-method.ts'
import { createPayout } from '../modules/payouts/create-payout.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { beginCall } from '../modules/rails/orders/claim-order.ts'
import { deleteRoute, setRoute } from '../modules/rails/orders/rail-routes.ts'
import { recordResponse } from '../modules/rails/orders/record-response.ts'
import { createWallet } from '../modules/wallets/create-wallet.ts'
import { depositToWallet } from '../modules/wallets/deposit-to-wallet.ts'
import type { Context } from '../operations/context.ts'
import { bankMethods, customers, walletMethods, wallets } from './demo-data.ts'
import type { PlannedDeposit, PlannedPayout, PlannedReport } from './demo-history.ts'
import { dayMs, historyDays, hourMs, joinedAt, planDeposits, planPayouts } from './demo-history.ts'
import { railsByCurrency } from './demo-payouts.ts'
import { createRandom } from './load/fake-data.ts'

export type SeedStep = { readonly at: number; readonly run: () => Promise<unknown> }

const minuteMs = 60_000
const seed = 2026

const railLimits = { callMs: 10_000, idempotentForMs: dayMs }

export function historySteps(context: Context, now: number): readonly SeedStep[] {
  const customerIds = new Map<string, string>()
  const walletIds = new Map<string, string>()
  const customerIdOf = (name: string | null) => (name === null ? null : (customerIds.get(name) ?? ''))
  const startOf = (owner: string | null) => (owner === null ? now - historyDays * dayMs : joinedAt(owner, now))
  const payouts = planPayouts(createRandom(seed), now)

  const people = customers.map(({ name, isClosed: _, joinedDaysAgo: __, ...customer }) => ({
    at: joinedAt(name, now),
    run: async () => customerIds.set(name, (await createCustomer(context, customer)).result.id),
  }))
  const banks = bankMethods.map(({ owner, ...method }, place) => ({
    at: startOf(owner) + hourMs + place * minuteMs,
    run: () => createBankPayoutMethod(context, { type: 'BANK', ...method, customerId: customerIdOf(owner) }),
  }))
  const addresses = walletMethods.map(({ owner, ...method }, place) => ({
    at: startOf(owner) + 2 * hourMs + place * minuteMs,
    run: () => createWalletPayoutMethod(context, { type: 'WALLET', ...method, customerId: customerIdOf(owner) }),
  }))
  const openings = wallets.flatMap(({ owner, deposit: amount, ...wallet }, place) => {
    const at = startOf(owner) + 3 * hourMs + place * minuteMs
    const open = async () => {
      const { result } = await createWallet(context, { ...wallet, customerId: customerIdOf(owner) })
      walletIds.set(`${owner} ${wallet.currency}`, result.id)
    }
    const fund = (amount: string) => () =>
      depositTo(`${owner} ${wallet.currency}`, { amount, reference: `First deposit ${place + 1}` })
    return [{ at, run: open }, ...(amount === null ? [] : [{ at: at + 4 * hourMs, run: fund(amount) }])]
  })
  const depositTo = (wallet: string, deposit: { amount: string; reference: string }) =>
    depositToWallet(context, { walletId: walletIds.get(wallet) ?? '', ...deposit })
  const topUps = planDeposits(payouts, now).map(({ at, owner, assetCode, amount }: PlannedDeposit, place) => ({
    at,
    run: () => depositTo(`${owner} ${assetCode}`, { amount, reference: `Transfer ${1_000 + place}` }),
  }))
  // Nothing can be created for a closed customer, so customers are closed near the end of the history.
  const closings = customers
    .filter(({ isClosed }) => isClosed)
    .map(({ name }) => ({
      at: now - 20 * dayMs,
      run: () => closeCustomer(context, { customerId: customerIdOf(name) ?? '' }),
    }))
  const paid = payouts.flatMap((planned) => payoutSteps(context, planned, customerIdOf))
  return [
    ...people,
    ...banks,
    ...addresses,
    ...openings,
    ...topUps,
    ...closings,
    ...routeSteps(context, payouts),
    ...paid,
  ]
}

/** The demo deletes the routes before it creates the last payouts, so that the last payouts wait for an operator. */
function routeSteps(context: Context, payouts: readonly PlannedPayout[]): readonly SeedStep[] {
  const first = payouts[0]?.at ?? 0
  const firstUndecided = payouts.find(({ reports }) => reports.length === 0)?.at ?? 0
  return Object.entries(railsByCurrency).flatMap(([currency, rail]) => [
    { at: first - 1, run: () => setRoute(context, { rail, currency }) },
    { at: firstUndecided - 1, run: () => deleteRoute(context, { currency }) },
  ])
}

function payoutSteps(
  context: Context,
  { at, owner, payout, reports }: PlannedPayout,
  customerIdOf: (owner: string | null) => string | null,
): readonly SeedStep[] {
  let created: Payout
  const create = async () => {
    created = (await createPayout(context, { ...payout, customerId: customerIdOf(owner) })).result
  }
  const submit = () => beginCall(context, { orderId: created.referenceId, rail: railLimits })
  const record = ({ state, code }: PlannedReport) =>
    recordResponse(context, {
      orderId: created.referenceId,
      dueAt: dueTimeAfter(0, context.wallClock()),
      response: { state, code, reference: `${payout.bankCode}-${created.transactionId.slice(-8)}` },
      idempotentForMs: railLimits.idempotentForMs,
    })
  if (reports.length === 0) return [{ at, run: create }]
  return [
    { at, run: create },
    { at: at + submissionMs, run: submit },
    ...reports.map((report) => ({ at: report.at, run: () => record(report) })),
  ]
}

const submissionMs = 400
