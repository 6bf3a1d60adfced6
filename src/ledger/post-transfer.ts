import type { Context } from '../context.ts'
import type { Tx } from '../database/query.ts'
import { Refusal } from '../errors.ts'
import { timestamp } from '../ids.ts'
import type { Amount } from '../money/amount.ts'
import { formatAmount, maxAmount } from '../money/amount.ts'
import type { TransferKind } from './entry.ts'
import { debitWalletAccount, depositToWalletAccount, insertTransfer, refundWalletAccount } from './repository.ts'

/** Why a transfer was made: for a payout, or under the reference of a deposit. */
export type Cause = { readonly payoutId: string } | { readonly reference: string }

/**
 * What a transfer moves: `amount` between the wallet and the clearing account that the kind says, `fee` between the wallet and
 * the fees beside it. It balances by its form: whatever one side gives the other gets.
 */
export type Movement<Kind extends TransferKind = TransferKind> = {
  readonly kind: Kind
  readonly assetCode: string
  readonly amount: Amount
  readonly fee: Amount
  readonly cause: Cause
}

/** The only kind that moves nothing in a wallet: what was in transit has arrived. */
type ClearingKind = 'payout_completed'
type WalletKind = Exclude<TransferKind, ClearingKind>

/** A wallet account's next place in its statement, and its balance there. */
type Place = { readonly sequence: number; readonly balanceAfter: Amount }

/** What a transfer says of its wallet: where it stands in the statement, and when, which is its own time too. */
export type WalletEntry = { readonly walletId: string; readonly place: Place; readonly createdAt: string }

/**
 * Moves money between a wallet and clearing accounts of one asset.
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
 */
export async function postTransfer(
  tx: Tx,
  context: Context,
  request: Movement<WalletKind> & { readonly walletId: string },
): Promise<{ id: string; walletBalance: Amount }> {
  const entry = await moveWalletBalance(tx, context, request)
  const id = await recordTransfer(tx, context, request, entry)
  return { id, walletBalance: entry.place.balanceAfter }
}

/**
 * Moves money between clearing accounts only; no wallet's balance changes.
 *
 * @returns the transfer's id
 */
export async function postClearingTransfer(tx: Tx, context: Context, request: Movement<ClearingKind>): Promise<string> {
  return recordTransfer(tx, context, request, null)
}

async function moveWalletBalance(
  tx: Tx,
  { merchantId, now }: Context,
  { kind, walletId, amount, fee }: Parameters<typeof postTransfer>[2],
): Promise<WalletEntry> {
  const movement = { merchantId, id: walletId, amount: amount + fee, time: BigInt(now()) }
  const moved =
    kind === 'payout'
      ? await debitWalletAccount(tx, movement)
      : kind === 'deposit'
        ? await depositToWalletAccount(tx, { ...movement, highestBefore: maxAmount - amount })
        : await refundWalletAccount(tx, movement)
  if (moved?.balance == null) throw kind === 'payout' ? insufficientFunds() : limitExceeded()
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
 * Writes a transfer, and changes no balance: `wallet` says when and where it stands in the statement of its wallet.
 *
 * For bulk work that keeps balances itself; everyone else posts a transfer.
 *
 * @returns the transfer's id
 */
export async function recordTransfer(
  tx: Tx,
  context: Context,
  { kind, assetCode, amount, fee, cause }: Movement,
  wallet: WalletEntry | null,
): Promise<string> {
  const id = context.newId()
  await insertTransfer(tx, {
    merchantId: context.merchantId,
    id,
    kind,
    assetCode,
    walletId: wallet?.walletId ?? null,
    amount,
    fee,
    sequence: wallet?.place.sequence ?? null,
    balanceAfter: wallet?.place.balanceAfter ?? null,
    payoutId: 'payoutId' in cause ? cause.payoutId : null,
    reference: 'reference' in cause ? cause.reference : null,
    createdAt: wallet?.createdAt ?? timestamp(context.now()),
  })
  return id
}
