import { DomainError } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount, maxAmount } from '../../core/money/amount.ts'
import type { MaybePromise, Tx } from '../../database/query.ts'
import { mapMaybe } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import type { CreditKind, TransferKind } from './entry.ts'
import {
  debitOldestWallet,
  depositToWalletAccount,
  insertTransfer,
  insertWalletAccount,
  refundWalletAccount,
  reverseDepositInWalletAccount,
} from './repository.ts'

/** Why a transfer was made: for a payout, or under the reference of a deposit, which it brought or takes back. */
type TransferCause = { readonly payoutId: string } | { readonly reference: string }

/**
 * What a transfer moves: `amount` between the wallet and the clearing account that the kind says, `fee` between the wallet and
 * the fees beside it. It balances by its form: whatever one side gives the other gets.
 */
export type NewTransfer<Kind extends TransferKind = TransferKind> = {
  readonly kind: Kind
  readonly assetCode: string
  readonly amount: Amount
  readonly fee: Amount
  readonly cause: TransferCause
}

/** The only kind that moves nothing in a wallet: what was in transit has arrived. */
type ClearingKind = 'payout_completed'

/** A wallet account's next place in its statement, and its balance there. */
type StatementPosition = { readonly sequence: number; readonly balanceAfter: Amount }

/** What a transfer says of its wallet: where it stands in the statement, and when, which is its own time too. */
export type WalletEntry = {
  readonly walletId: string
  readonly position: StatementPosition
  readonly createdAt: string
}

/** A transfer's id and time, and the wallet's balance after it. */
type PostedTransfer = { readonly id: string; readonly createdAt: string; readonly walletBalance: Amount }

/**
 * Moves money from clearing accounts of one asset into a wallet. The wallet's balance changes first and under its own
 * condition, so a refusal leaves nothing behind.
 *
 * Only a deposit has a limit: all that was ever deposited in a wallet is at most `maxAmount`. What leaves it may come back at
 * any time, and counts until then, so that money which comes back is never refused and no balance leaves 64 bits (ruling 53).
 *
 * @returns the transfer's id and time, and the wallet's balance after it
 * @throws Refusal BALANCE_LIMIT_EXCEEDED when a deposit would take what was deposited beyond `maxAmount`
 */
export async function postTransfer(
  tx: Tx,
  context: Context,
  request: NewTransfer<CreditKind> & { readonly walletId: string },
): Promise<PostedTransfer> {
  const entry = await creditWallet(tx, context, request)
  const id = await recordTransfer(tx, context, request, entry)
  return { id, createdAt: entry.createdAt, walletBalance: entry.position.balanceAfter }
}

/**
 * Takes a deposit back out of the wallet that it came into.
 *
 * @returns as `postTransfer` does; `null` when the wallet holds less, and then nothing has changed
 */
export async function postDepositReversal(
  tx: Tx,
  context: Context,
  request: Omit<NewTransfer<'deposit_reversal'>, 'kind' | 'fee'> & { readonly walletId: string },
): Promise<PostedTransfer | null> {
  const { merchantId, now } = context
  const { walletId, amount } = request
  const moved = await reverseDepositInWalletAccount(tx, {
    ...{ merchantId, id: walletId, amount, most: maxAmount, time: BigInt(now()) },
  })
  if (moved?.balance == null) return null
  const entry = walletEntryOf(walletId, { ...moved, balance: moved.balance })
  const id = await recordTransfer(tx, context, { ...request, kind: 'deposit_reversal', fee: 0n }, entry)
  return { id, createdAt: entry.createdAt, walletBalance: entry.position.balanceAfter }
}

/** Who pays: the owner's wallet that is named, or else its oldest active one that covers what is asked for (ruling 38). */
export type Payer = { readonly ownerId: string; readonly walletId: string | null; readonly assetCode: string }

/**
 * Takes money for a payout out of the wallet that pays it, under its own condition: two debits can never both pass on money
 * that covers one.
 *
 * @returns the wallet's entry, for the transfer that `recordTransfer` writes; `null` when no such wallet covers the amount, and
 *   then nothing has changed
 */
export function debitPayer(
  tx: Tx,
  { merchantId, now }: Context,
  { ownerId, walletId, assetCode, amount }: Payer & { readonly amount: Amount },
): MaybePromise<WalletEntry | null> {
  const movement = { merchantId, amount, time: BigInt(now()) }
  const debit = debitOldestWallet(tx, { ...movement, ownerId, assetCode, walletId: walletId ?? undefined })
  return mapMaybe(debit, ([moved]) =>
    moved?.balance == null ? null : walletEntryOf(moved.id, { ...moved, balance: moved.balance }),
  )
}

/**
 * Moves money between clearing accounts only; no wallet's balance changes.
 *
 * @returns the transfer's id
 */
export function postClearingTransfer(
  tx: Tx,
  context: Context,
  request: NewTransfer<ClearingKind>,
): MaybePromise<string> {
  return recordTransfer(tx, context, request, null)
}

async function creditWallet(
  tx: Tx,
  { merchantId, now }: Context,
  { kind, walletId, amount, fee }: Parameters<typeof postTransfer>[2],
): Promise<WalletEntry> {
  const movement = { merchantId, id: walletId, amount: amount + fee, time: BigInt(now()) }
  // What comes back has left the wallet before, so only a deposit can exceed its limit.
  const isNew = kind === 'deposit'
  const moved = isNew
    ? await depositToWalletAccount(tx, { ...movement, highestBefore: maxAmount - amount })
    : await refundWalletAccount(tx, movement)
  if (moved?.balance == null) throw balanceLimitError()
  return walletEntryOf(walletId, { ...moved, balance: moved.balance })
}

type UpdatedAccount = { readonly balance: Amount; readonly entryCount: number; readonly latestTime: bigint }

function walletEntryOf(walletId: string, { balance, entryCount, latestTime }: UpdatedAccount): WalletEntry {
  return {
    walletId,
    position: { sequence: entryCount, balanceAfter: balance },
    createdAt: timestamp(Number(latestTime)),
  }
}

function balanceLimitError(): DomainError {
  const limit = formatAmount(maxAmount)
  return new DomainError(
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
export function recordTransfer(
  tx: Tx,
  context: Context,
  { kind, assetCode, amount, fee, cause }: NewTransfer,
  wallet: WalletEntry | null,
): MaybePromise<string> {
  const id = context.newId()
  const transfer = {
    merchantId: context.merchantId,
    id,
    kind,
    assetCode,
    walletId: wallet?.walletId ?? null,
    amount,
    fee,
    sequence: wallet?.position.sequence ?? null,
    balanceAfter: wallet?.position.balanceAfter ?? null,
    payoutId: 'payoutId' in cause ? cause.payoutId : null,
    reference: 'reference' in cause ? cause.reference : null,
    createdAt: wallet?.createdAt ?? timestamp(context.now()),
  }
  return mapMaybe(insertTransfer(tx, transfer), () => id)
}

/** Opens a wallet's account at zero. */
export async function openWalletAccount(
  tx: Tx,
  { merchantId, walletId, assetCode }: { merchantId: string; walletId: string; assetCode: string },
): Promise<void> {
  await insertWalletAccount(tx, {
    merchantId,
    id: walletId,
    kind: 'wallet',
    assetCode,
    balance: 0n,
    entryCount: 0,
    latestTime: 0n,
    reachableBalance: 0n,
  })
}
