import { z } from 'zod'
import { DomainError, invalidInput, notFound } from '../../core/errors.ts'
import { freeText, parseInput, text } from '../../core/input.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import { postDepositReversal } from '../ledger/post-transfer.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { depositByReference, insertDepositReversal, reversalByReference, walletById } from './repository.ts'

export const ReverseDepositInput = z.object({ reference: text(), reason: freeText() })

export type DepositReversal = RowOf<'depositReversals'>

/**
 * A deposit is reversed once and in full (ruling 113). The reference of a reversed deposit cannot be used again.
 *
 * @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND (deposit), INVALID_INPUT (already
 *   reversed), INSUFFICIENT_FUNDS (the wallet holds less than the deposit)
 */
export async function reverseDeposit(
  context: Context,
  input: z.input<typeof ReverseDepositInput>,
): Promise<DepositReversal> {
  const { reference, reason } = parseInput(ReverseDepositInput, input)
  const { merchantId } = context
  return context.db.write(async (tx) => {
    const deposit = await depositByReference(tx, { merchantId, reference })
    if (!deposit) throw notFound('Deposit')
    const earlier = await reversalByReference(tx, { merchantId, reference })
    if (earlier) throw alreadyReversedError(earlier)
    const { walletId, amount } = deposit
    const wallet = await walletById(tx, { merchantId, id: walletId })
    if (!wallet) throw notFound('Wallet')

    const { currency: assetCode, balance } = wallet
    const transfer = await postDepositReversal(tx, context, { assetCode, walletId, amount, cause: { reference } })
    if (transfer === null) throw insufficientFundsError({ assetCode, balance, amount })
    const { createdAt, walletBalance: balanceAfter } = transfer
    const row = { merchantId, reference, walletId, transferId: transfer.id, amount, balanceAfter, reason, createdAt }
    await insertDepositReversal(tx, row)
    await recordEvent(tx, context, { type: 'deposit.reversed', objectId: transfer.id, at: createdAt, version: 1 })
    return row
  })
}

function alreadyReversedError({ createdAt, reason }: DepositReversal): DomainError {
  const message = `must be a deposit that was not reversed yet, but it was reversed at ${createdAt} (${reason})`
  return invalidInput([{ field: 'reference', code: 'INVALID_PARAMETER', message }])
}

function insufficientFundsError({
  assetCode,
  balance,
  amount,
}: {
  assetCode: string
  balance: bigint
  amount: bigint
}): DomainError {
  const [available, required] = [balance, amount].map(formatAmount)
  return new DomainError(
    'INSUFFICIENT_FUNDS',
    `The wallet holds ${available} ${assetCode}, less than the deposit of ${required} ${assetCode}. Nothing was reversed.`,
    { available: balance, required: amount },
  )
}
