import { DomainError } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount, maxAmount } from '../../core/money/amount.ts'
import type { Tx } from '../../database/query.ts'
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

type TransferCause = { readonly payoutId: string } | { readonly reference: string }

/**
 * A transfer moves `amount` between the wallet and a clearing account, and `fee` between the wallet and the fee
 * account. Debits equal credits by construction.
 */
export type NewTransfer<Kind extends TransferKind = TransferKind> = {
  readonly kind: Kind
  readonly assetCode: string
  readonly amount: Amount
  readonly fee: Amount
  readonly cause: TransferCause
  /**
   * The opening transfer of an imported wallet gets the wallet's id as its own id, so that a query can find the
   * transfer by the id in the wallet's event. Other transfers get a new id.
   */
  readonly id?: string
}

type ClearingKind = 'payout_completed'

type StatementPosition = { readonly sequence: number; readonly balanceAfter: Amount }

/** `createdAt` is also the time of the ledger transfer. */
export type WalletEntry = {
  readonly walletId: string
  readonly position: StatementPosition
  readonly createdAt: string
}

type PostedTransfer = { readonly id: string; readonly createdAt: string; readonly walletBalance: Amount }

/**
 * A conditional update changes the balance first, so nothing has been written if the update fails.
 *
 * The sum of a wallet's opening balance and all of its deposits must not exceed `maxAmount`. The sum includes money
 * that was paid out, because a payout may be returned at any time. This limit ensures that the service can always
 * credit a returned payout, and that no balance overflows 64 bits (ruling 53).
 *
 * @throws DomainError BALANCE_LIMIT_EXCEEDED if a deposit or an opening would exceed `maxAmount`
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

/** @returns `null`, without any change, if the wallet's balance is less than the amount */
export async function postDepositReversal(
  tx: Tx,
  context: Context,
  request: Omit<NewTransfer<'deposit_reversal'>, 'kind' | 'fee'> & { readonly walletId: string },
): Promise<PostedTransfer | null> {
  const { merchantId, now } = context
  const { walletId, amount } = request
  const account = await reverseDepositInWalletAccount(tx, {
    ...{ merchantId, id: walletId, amount, maxBalance: maxAmount, time: BigInt(now()) },
  })
  if (account?.balance == null) return null
  const entry = walletEntryOf(walletId, { ...account, balance: account.balance })
  const id = await recordTransfer(tx, context, { ...request, kind: 'deposit_reversal', fee: 0n }, entry)
  return { id, createdAt: entry.createdAt, walletBalance: entry.position.balanceAfter }
}

/** If `walletId` is `null`, the owner's oldest active wallet with sufficient funds pays (ruling 38). */
export type Payer = { readonly ownerId: string; readonly walletId: string | null; readonly assetCode: string }

/**
 * A conditional update prevents two debits from spending the same money.
 *
 * @returns an entry for `recordTransfer`, or `null`, without any change, if no wallet has sufficient funds
 */
export async function debitPayer(
  tx: Tx,
  { merchantId, now }: Context,
  { ownerId, walletId, assetCode, amount }: Payer & { readonly amount: Amount },
): Promise<WalletEntry | null> {
  const movement = { merchantId, amount, time: BigInt(now()) }
  const [account] = await debitOldestWallet(tx, { ...movement, ownerId, assetCode, walletId: walletId ?? undefined })
  return account?.balance == null ? null : walletEntryOf(account.id, { ...account, balance: account.balance })
}

export function postClearingTransfer(tx: Tx, context: Context, request: NewTransfer<ClearingKind>): Promise<string> {
  return recordTransfer(tx, context, request, null)
}

/** Returned money was deposited earlier, so it does not count as a deposit. */
const isNewMoney: Readonly<Record<CreditKind, boolean>> = {
  opening: true,
  deposit: true,
  payout_failed: false,
  payout_returned: false,
}

async function creditWallet(
  tx: Tx,
  { merchantId, now }: Context,
  { kind, walletId, amount, fee }: Parameters<typeof postTransfer>[2],
): Promise<WalletEntry> {
  const movement = { merchantId, id: walletId, amount: amount + fee, time: BigInt(now()) }
  const account = isNewMoney[kind]
    ? await depositToWalletAccount(tx, { ...movement, maxReachableBefore: maxAmount - amount })
    : await refundWalletAccount(tx, movement)
  if (account?.balance == null) throw balanceLimitError()
  return walletEntryOf(walletId, { ...account, balance: account.balance })
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
    `The wallet could exceed its limit of ${limit} if payouts from it were returned.`,
  )
}

/**
 * `recordTransfer` does not change the balance. The caller must have changed the balance with `debitPayer` or in a bulk
 * import.
 *
 * @returns the transfer's id
 */
export async function recordTransfer(
  tx: Tx,
  context: Context,
  { kind, assetCode, amount, fee, cause, id = context.newId() }: NewTransfer,
  wallet: WalletEntry | null,
): Promise<string> {
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
  await insertTransfer(tx, transfer)
  return id
}

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
