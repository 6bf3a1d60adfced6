import type { ErrorCode } from '../../../src/core/errors.ts'
import type { PayoutStatus } from '../../../src/modules/payouts/payout.ts'
import type { settledStatuses } from '../../../src/modules/payouts/settle-payout.ts'
import type { WalletStatus } from '../../../src/modules/wallets/wallet.ts'

export const assets = ['USDC', 'USDT'] as const
export const currencies = ['NGN', 'ZAR'] as const
export type Pair = { asset: (typeof assets)[number]; currency: (typeof currencies)[number] }

export const owners = ['merchant', 'first customer', 'second customer', 'nobody'] as const
export type Owner = (typeof owners)[number]

/** A step in plain values. Indexes are taken modulo the number of objects; amounts are in units of 10⁻⁸. */
export type Step =
  | { kind: 'open wallet'; owner: Owner; asset: Pair['asset'] }
  | { kind: 'deposit'; wallet: number; amount: bigint; reference: string }
  | { kind: 'reverse'; reference: string }
  | { kind: 'payout'; owner: Owner; pair: Pair; amount: bigint; key: string | null }
  | { kind: 'settle'; payout: number; status: (typeof settledStatuses)[number] }
  | { kind: 'set fee'; pair: Pair; flat: bigint; percent: bigint }
  | { kind: 'close customer'; owner: Owner }
  | { kind: 'change status'; wallet: number; status: WalletStatus }

/** The result of a step: an error code or what moved. `wallet` is an index, oldest first. */
export type Outcome =
  | { refusal: ErrorCode; available?: bigint; required?: bigint }
  | { opened: number }
  | { deposited: number; balanceAfter: bigint }
  | { reversed: number; balanceAfter: bigint }
  | { paid: number; wallet: number; amount: bigint; fee: bigint | null; balanceAfter: bigint; isReplayed: boolean }
  | { settled: number; status: PayoutStatus }
  | 'done'

type Wallet = { owner: Owner; asset: Pair['asset']; balance: bigint; deposited: bigint; status: WalletStatus }
type Payout = { wallet: number; amount: bigint; fee: bigint | null; status: PayoutStatus }
type Paid = Extract<Outcome, { paid: number }>

/** The books in memory: sums in variables, and the rulings as plain conditions. */
export type Model = {
  wallets: Wallet[]
  payouts: Payout[]
  deposits: Map<string, { wallet: number; amount: bigint; outcome: Outcome; isReversed: boolean }>
  keys: Map<string, { body: string; outcome: Paid }>
  fees: Map<string, { flat: bigint; percent: bigint }>
  closed: Set<Owner>
}

const maxBalance = 2n ** 63n - 1n

/** The rates of the service that the model is compared with. */
export const rates = { NGN: 1_500n, ZAR: 18n }

export function newModel(fees: Model['fees']): Model {
  return { wallets: [], payouts: [], deposits: new Map(), keys: new Map(), fees, closed: new Set() }
}

/** Applies a step to the model and returns its result by the rulings. */
export function expectedOutcome(model: Model, step: Step): Outcome {
  switch (step.kind) {
    case 'open wallet':
      return ownerRefusal(model, step.owner) ?? openWallet(model, step)
    case 'deposit':
      return deposit(model, step)
    case 'reverse':
      return reverse(model, step)
    case 'payout':
      return payout(model, step)
    case 'settle':
      return settle(model, step)
    case 'set fee':
      model.fees.set(pairName(step.pair), { flat: step.flat, percent: step.percent })
      return 'done'
    case 'close customer': {
      const refusal = ownerRefusal(model, step.owner)
      if (refusal || step.owner === 'merchant') return refusal ?? { refusal: 'RESOURCE_NOT_FOUND' }
      model.closed.add(step.owner)
      return 'done'
    }
    case 'change status': {
      const wallet = model.wallets[step.wallet % model.wallets.length]
      if (!wallet) return { refusal: 'RESOURCE_NOT_FOUND' }
      wallet.status = step.status
      return 'done'
    }
  }
}

function ownerRefusal({ closed }: Model, owner: Owner): Outcome | null {
  if (owner === 'nobody') return { refusal: 'RESOURCE_NOT_FOUND' }
  return closed.has(owner) ? { refusal: 'CUSTOMER_CLOSED' } : null
}

function openWallet({ wallets }: Model, { owner, asset }: { owner: Owner; asset: Pair['asset'] }): Outcome {
  return { opened: wallets.push({ owner, asset, balance: 0n, deposited: 0n, status: 'active' }) - 1 }
}

function deposit(model: Model, { wallet: index, amount, reference }: Extract<Step, { kind: 'deposit' }>): Outcome {
  const number = index % model.wallets.length
  const wallet = model.wallets[number]
  if (!wallet) return { refusal: 'RESOURCE_NOT_FOUND' }
  const earlier = model.deposits.get(reference)
  if (earlier) {
    const isSame = !earlier.isReversed && earlier.wallet === number && earlier.amount === amount
    return isSame ? earlier.outcome : { refusal: 'DEPOSIT_REFERENCE_REUSED' }
  }
  if (wallet.deposited + amount > maxBalance) return { refusal: 'BALANCE_LIMIT_EXCEEDED' }
  wallet.balance += amount
  wallet.deposited += amount
  const outcome = { deposited: number, balanceAfter: wallet.balance }
  model.deposits.set(reference, { wallet: number, amount, outcome, isReversed: false })
  return outcome
}

function reverse(model: Model, { reference }: Extract<Step, { kind: 'reverse' }>): Outcome {
  const deposit = model.deposits.get(reference)
  const wallet = deposit && model.wallets[deposit.wallet]
  if (!wallet) return { refusal: 'RESOURCE_NOT_FOUND' }
  if (deposit.isReversed) return { refusal: 'INVALID_INPUT' }
  const { amount } = deposit
  if (wallet.balance < amount) return { refusal: 'INSUFFICIENT_FUNDS', available: wallet.balance, required: amount }
  wallet.balance -= amount
  wallet.deposited -= amount
  deposit.isReversed = true
  return { reversed: deposit.wallet, balanceAfter: wallet.balance }
}

function payout(model: Model, { owner, pair, amount, key }: Extract<Step, { kind: 'payout' }>): Outcome {
  const body = `${owner} ${pairName(pair)} ${amount}`
  const earlier = key === null ? undefined : model.keys.get(key)
  if (earlier) {
    return earlier.body === body ? { ...earlier.outcome, isReplayed: true } : { refusal: 'IDEMPOTENCY_KEY_REUSED' }
  }
  const refusal = ownerRefusal(model, owner)
  if (refusal) return refusal
  // The recipient would receive nothing (ruling 47): less than a hundredth of a unit.
  if (amount * rates[pair.currency] * 100n < 10n ** 8n) return { refusal: 'INVALID_INPUT' }

  const fee = feeOf(model, pair, amount)
  const total = amount + (fee ?? 0n)
  const ownedWallets = [...model.wallets.entries()].filter(
    ([, each]) => each.owner === owner && each.asset === pair.asset && each.status === 'active',
  )
  const [oldest] = ownedWallets
  if (!oldest) return { refusal: 'WALLET_NOT_FOUND' }
  const payingWallet = ownedWallets.find(([, { balance }]) => balance >= total)
  if (!payingWallet) return { refusal: 'INSUFFICIENT_FUNDS', available: oldest[1].balance, required: total }

  const [number, wallet] = payingWallet
  wallet.balance -= total
  const paid = model.payouts.push({ wallet: number, amount, fee, status: 'PROCESSING' }) - 1
  const outcome = { paid, wallet: number, amount, fee, balanceAfter: wallet.balance, isReplayed: false }
  if (key !== null) model.keys.set(key, { body, outcome })
  return outcome
}

/** The percentage is in millionths of a per cent; a fraction of a unit is rounded up. */
function feeOf({ fees }: Model, pair: Pair, amount: bigint): bigint | null {
  const tariff = fees.get(pairName(pair))
  return tariff ? tariff.flat + (amount * tariff.percent + 99_999_999n) / 100_000_000n : null
}

function settle(model: Model, { payout: index, status }: Extract<Step, { kind: 'settle' }>): Outcome {
  const number = model.payouts.length === 0 ? -1 : index % model.payouts.length
  const payout = model.payouts[number]
  if (!payout) return { refusal: 'RESOURCE_NOT_FOUND' }
  if (payout.status === status) return { settled: number, status }
  const isLegal =
    payout.status === 'PROCESSING' ? status !== 'RETURNED' : payout.status === 'COMPLETED' && status === 'RETURNED'
  if (!isLegal) return { refusal: 'PAYOUT_STATUS_CONFLICT' }

  const wallet = model.wallets[payout.wallet]
  if (status !== 'COMPLETED' && wallet) {
    // Refunds always succeed (ruling 53) and fit the engines' integers.
    wallet.balance += payout.amount + (payout.fee ?? 0n)
    if (wallet.balance > maxBalance) throw new Error('the model has more in a wallet than 63 bits hold')
  }
  payout.status = status
  return { settled: number, status }
}

export function pairName({ asset, currency }: Pair): string {
  return `${asset} to ${currency}`
}
