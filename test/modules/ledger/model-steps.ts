import * as fc from 'fast-check'
import { settledStatuses } from '../../../src/modules/payouts/settle-payout.ts'
import { walletStatuses } from '../../../src/modules/wallets/wallet.ts'
import type { Owner, Pair, Step } from './model.ts'
import { assets, currencies, owners } from './model.ts'

const maxDeposit = 999_999_999_999_999_999n
const amount = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(1n, 1_000n, 4_000_000_000n, 10_000_000_000n) },
  { weight: 3, arbitrary: fc.bigInt({ min: 1n, max: 20_000_000_000n }) },
  { weight: 1, arbitrary: fc.bigInt({ min: 1n, max: maxDeposit }) },
  { weight: 2, arbitrary: fc.constant(maxDeposit) },
)
const owner = fc.constantFrom<Owner>('merchant', 'merchant', 'merchant', ...owners)
const pair: fc.Arbitrary<Pair> = fc.record({
  asset: fc.constantFrom(...assets),
  currency: fc.constantFrom(...currencies),
})
const payout = fc.record({
  kind: fc.constant('payout' as const),
  owner,
  pair,
  amount,
  key: fc.constantFrom(null, null, 'one', 'two'),
})

const repeated = {
  kind: 'payout',
  owner: 'merchant',
  pair: { asset: 'USDC', currency: 'NGN' },
  amount: 1_000n,
} as const

const references = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']

export const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 15,
    arbitrary: fc.record({
      kind: fc.constant('deposit' as const),
      wallet: fc.nat(30),
      amount,
      reference: fc.constantFrom(...references),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('reverse' as const),
      reference: fc.constantFrom(...references, 'opening', 'opening 3', 'opening customer', 'opening USDT'),
    }),
  },
  { weight: 18, arbitrary: payout },
  // The same request under the same key, unless another request used it.
  { weight: 3, arbitrary: fc.constant<Step>({ ...repeated, key: 'one' }) },
  {
    weight: 15,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      payout: fc.nat(30),
      status: fc.constantFrom(...settledStatuses),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('set fee' as const),
      // No fee is set from USDT to ZAR, so that `null` remains a result.
      pair: pair.filter(({ asset, currency }) => asset === 'USDC' || currency === 'NGN'),
      flat: fc.constantFrom(0n, 1n, 50_000_000n),
      percent: fc.oneof(fc.constantFrom(0n, 1n, 1_000_000n), fc.bigInt({ min: 0n, max: 100_000_000n })),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constant('open wallet' as const), owner, asset: fc.constantFrom(...assets) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('close customer' as const), owner }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('change status' as const),
      wallet: fc.nat(30),
      status: fc.constantFrom(...walletStatuses),
    }),
  },
)

/** The money at the start of a run; nine times the largest amount comes close to the balance limit. */
export const openingWallets: readonly Step[] = [
  { kind: 'open wallet', owner: 'merchant', asset: 'USDC' },
  { kind: 'open wallet', owner: 'merchant', asset: 'USDC' },
  { kind: 'open wallet', owner: 'first customer', asset: 'USDT' },
  { kind: 'open wallet', owner: 'merchant', asset: 'USDT' },
]
export const openingDeposits: readonly Step[] = [
  { kind: 'deposit', wallet: 0, amount: 10_000_000_000n, reference: 'opening' },
  ...Array.from({ length: 9 }, (_, i) => ({
    kind: 'deposit' as const,
    wallet: 1,
    amount: maxDeposit,
    reference: `opening ${i}`,
  })),
  { kind: 'deposit', wallet: 2, amount: 4_000_000_000n, reference: 'opening customer' },
  { kind: 'deposit', wallet: 3, amount: 20_000_000_000n, reference: 'opening USDT' },
]

const payoutOf = (owner: Owner, amount: bigint, key: string | null = null, asset: Pair['asset'] = 'USDC'): Step => ({
  ...repeated,
  owner,
  pair: { asset, currency: 'NGN' },
  amount,
  key,
})

/** A program that reaches every kind of outcome after the opening, because random ones can miss rare kinds. */
export const programOfEveryKind: readonly Step[] = [
  { kind: 'deposit', wallet: 0, amount: 1n, reference: 'a' },
  { kind: 'deposit', wallet: 0, amount: 2n, reference: 'a' },
  { kind: 'deposit', wallet: 1, amount: maxDeposit, reference: 'b' },
  { kind: 'reverse', reference: 'a' },
  { kind: 'reverse', reference: 'a' },
  { kind: 'reverse', reference: 'z' },
  payoutOf('merchant', 1_000n, 'one'),
  { kind: 'reverse', reference: 'opening' },
  payoutOf('merchant', 1_000n, 'one'),
  payoutOf('merchant', 1_001n, 'one'),
  payoutOf('nobody', 1_000n),
  payoutOf('merchant', 1n),
  payoutOf('first customer', 1_000n),
  payoutOf('first customer', 10_000_000_000n, null, 'USDT'),
  { kind: 'settle', payout: 0, status: 'RETURNED' },
  { kind: 'settle', payout: 0, status: 'COMPLETED' },
  { kind: 'settle', payout: 0, status: 'RETURNED' },
  payoutOf('merchant', 1_000n),
  { kind: 'settle', payout: 1, status: 'FAILED' },
  { kind: 'close customer', owner: 'first customer' },
  payoutOf('first customer', 1_000n),
  { kind: 'open wallet', owner: 'first customer', asset: 'USDC' },
  { kind: 'change status', wallet: 1, status: 'suspended' },
  payoutOf('merchant', 20_000_000_000n),
  { kind: 'change status', wallet: 0, status: 'suspended' },
  payoutOf('merchant', 1_000n),
]
