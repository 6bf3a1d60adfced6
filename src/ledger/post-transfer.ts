import type { Context } from '../context.ts'
import type { Tx } from '../database/query.ts'
import { Refusal } from '../errors.ts'
import { timestamp } from '../ids.ts'
import type { Amount } from '../money/amount.ts'
import { formatAmount, maxAmount } from '../money/amount.ts'
import type { TransferKind } from './entry.ts'
import {
  debitOldestWallet,
  debitWalletAccount,
  depositToWalletAccount,
  insertEntry,
  insertTransfer,
  refundWalletAccount,
} from './repository.ts'

/** Why a transfer was made: for a payout, or under the reference of a deposit. */
export type Cause = { readonly payoutId: string } | { readonly reference: string }

/** One side of a transfer: how much of its asset an account gives (debit) or gets (credit). */
export type Leg = { readonly accountId: string; readonly amount: Amount }

/** What a transfer is made of: its legs balance, and `cause` says what it was made for. */
export type ClearingRequest = {
  readonly kind: TransferKind
  readonly assetCode: string
  readonly debits: readonly Leg[]
  readonly credits: readonly Leg[]
  readonly cause?: Cause
}

type Request = ClearingRequest & {
  /** The wallet whose account is among the legs, on one side, once. */
  readonly walletId: string
}

/** A wallet account's next place in its statement, and its balance there. */
type Place = { readonly sequence: number; readonly balanceAfter: Amount }

/** What an entry in a wallet's statement is written with; its time is that of the transfer. */
export type WalletEntry = { readonly walletId: string; readonly place: Place; readonly createdAt: string }

/**
 * Moves money between a wallet and clearing accounts of one asset: one transfer, with an entry for each leg that is not
 * zero.
 *
 * The wallet's balance changes first and under its own condition, so a refusal leaves nothing behind and two debits can
 * never both pass on money that covers one.
 *
 * Only a deposit has a limit: all that was ever deposited in a wallet is at most `maxAmount`. What leaves it may come back at
 * any time, and counts until then, so that money which comes back is never refused and no balance leaves 64 bits (ruling 53).
 *
 * @returns the transfer's id, and the wallet's balance after it
 * @throws Refusal INSUFFICIENT_FUNDS when a debit exceeds the wallet's balance, BALANCE_LIMIT_EXCEEDED when a deposit
 *   would take what was deposited beyond `maxAmount`
 * @throws when debits and credits differ, which is a fault of the caller
 */
export async function postTransfer(
  tx: Tx,
  context: Context,
  request: Request,
): Promise<{ id: string; walletBalance: Amount }> {
  requireBalance(request)
  const entry = await moveWalletBalance(tx, context, request)
  const id = await recordTransfer(tx, context, request, entry)
  return { id, walletBalance: entry.place.balanceAfter }
}

/** Who pays: the owner's wallet that is named, or else its oldest active one that covers what is asked for (ruling 38). */
export type Payer = { readonly ownerId: string; readonly walletId: string | null; readonly assetCode: string }

/**
 * Takes money for a payout out of the wallet that pays it.
 *
 * @returns the wallet's entry, for the transfer that `recordTransfer` writes; `null` when no such wallet covers the amount, and
 *   then nothing has changed
 */
export async function debitPayer(
  tx: Tx,
  { merchantId, now }: Context,
  { ownerId, walletId, assetCode, amount }: Payer & { readonly amount: Amount },
): Promise<WalletEntry | null> {
  const movement = { merchantId, amount, time: BigInt(now()) }
  const [moved] = await debitOldestWallet(tx, { ...movement, ownerId, assetCode, walletId: walletId ?? undefined })
  if (moved?.balance == null) return null
  const place = { sequence: moved.entryCount, balanceAfter: moved.balance }
  return { walletId: moved.id, place, createdAt: timestamp(Number(moved.latestTime)) }
}

/**
 * Moves money between clearing accounts only; no wallet's balance changes.
 *
 * @returns the transfer's id
 * @throws when debits and credits differ, which is a fault of the caller
 */
export async function postClearingTransfer(tx: Tx, context: Context, request: ClearingRequest): Promise<string> {
  requireBalance(request)
  return recordTransfer(tx, context, request, null)
}

function requireBalance({ kind, debits, credits }: ClearingRequest): void {
  if (sumOf(debits) !== sumOf(credits)) throw new Error(`the ${kind} transfer does not balance`)
}

function sumOf(legs: readonly Leg[]): Amount {
  return legs.reduce((sum, { amount }) => sum + amount, 0n)
}

async function moveWalletBalance(
  tx: Tx,
  { merchantId, now }: Context,
  { kind, walletId, debits, credits }: Request,
): Promise<WalletEntry> {
  const debit = debits.find(({ accountId }) => accountId === walletId)
  const credit = credits.find(({ accountId }) => accountId === walletId)
  const leg = debit ?? credit
  if (!leg || (debit && credit)) throw new Error('a transfer has its wallet on exactly one side')
  const { amount } = leg
  const movement = { merchantId, id: walletId, amount, time: BigInt(now()) }
  const moved = debit
    ? await debitWalletAccount(tx, movement)
    : kind === 'deposit'
      ? await depositToWalletAccount(tx, { ...movement, highestBefore: maxAmount - amount })
      : await refundWalletAccount(tx, movement)
  if (moved?.balance == null) throw debit ? insufficientFunds() : limitExceeded()
  const place = { sequence: moved.entryCount, balanceAfter: moved.balance }
  return { walletId, place, createdAt: timestamp(Number(moved.latestTime)) }
}

function insufficientFunds(): Refusal {
  return new Refusal('INSUFFICIENT_FUNDS', 'The wallet does not cover the amount.')
}

function limitExceeded(): Refusal {
  const limit = formatAmount(maxAmount)
  return new Refusal(
    'BALANCE_LIMIT_EXCEEDED',
    `The wallet would hold more than ${limit} if what was paid out from it came back.`,
  )
}

/**
 * Writes a transfer with its entries, and changes no balance: `wallet` says when and where the wallet's entry stands in its
 * statement.
 *
 * For bulk work that keeps balances itself; everyone else posts a transfer.
 *
 * @returns the transfer's id
 */
export async function recordTransfer(
  tx: Tx,
  context: Context,
  { kind, assetCode, debits, credits, cause }: ClearingRequest,
  wallet: WalletEntry | null,
): Promise<string> {
  const { merchantId } = context
  const transferId = context.newId()
  const payoutId = cause && 'payoutId' in cause ? cause.payoutId : null
  const reference = cause && 'reference' in cause ? cause.reference : null
  const createdAt = wallet?.createdAt ?? timestamp(context.now())
  await insertTransfer(tx, { merchantId, id: transferId, kind, assetCode, createdAt, payoutId, reference })
  let line = 0
  for (const direction of ['debit', 'credit'] as const) {
    for (const { accountId, amount } of direction === 'debit' ? debits : credits) {
      if (amount === 0n) continue
      const place = accountId === wallet?.walletId ? wallet.place : { sequence: null, balanceAfter: null }
      await insertEntry(tx, { merchantId, transferId, line: ++line, accountId, direction, amount, ...place })
    }
  }
  return transferId
}
