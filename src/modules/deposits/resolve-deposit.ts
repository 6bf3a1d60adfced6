import { z } from 'zod'
import { invalidInput, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { limit, oneOf, parseInput, text } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { createMerchantContext } from '../merchants/merchant.ts'
import { addDeposit } from '../wallets/deposit-to-wallet.ts'
import { reversalByReference } from '../wallets/repository.ts'
import type { ChainDeposit } from './chain-deposit.ts'
import { causeWithReason, resolutions } from './chain-deposit.ts'
import { depositsInAttention, lockChainDeposit, merchantOfChainEvent, updateChainDeposit } from './repository.ts'

const ListDepositAttentionInput = z.object({ limit: limit(20) })

/** @throws DomainError INVALID_INPUT */
export async function listDepositAttention(
  { db }: Service,
  input: z.input<typeof ListDepositAttentionInput>,
): Promise<readonly ChainDeposit[]> {
  return depositsInAttention(db, parseInput(ListDepositAttentionInput, input))
}

export const ResolveDepositInput = z.object({ reference: text(), action: oneOf(resolutions), reason: text() })

/**
 * @throws DomainError, the first that applies: INVALID_INPUT (a field is invalid), RESOURCE_NOT_FOUND, INVALID_INPUT
 *   (the deposit does not need attention, a credited deposit is dismissed, or a reversed deposit is credited),
 *   DEPOSIT_REFERENCE_REUSED, BALANCE_LIMIT_EXCEEDED
 */
export async function resolveDeposit(
  service: Service,
  input: z.input<typeof ResolveDepositInput>,
): Promise<ChainDeposit> {
  const { reference, action, reason } = parseInput(ResolveDepositInput, input)
  const owner = await merchantOfChainEvent(service.db, { reference })
  if (!owner) throw notFound('Deposit')
  const { merchantId } = owner
  const context = await createMerchantContext(service, merchantId)
  return service.db.write(async (tx) => {
    const deposit = await lockChainDeposit(tx, { merchantId, reference })
    if (!deposit) throw notFound('Deposit')
    if (deposit.state !== 'ATTENTION')
      throw resolutionError('reference', `must be a deposit in attention, but its state is ${deposit.state}`)
    const isCredited = deposit.depositReference !== null
    const isReversed = isCredited && (await reversalByReference(tx, { merchantId, reference })) !== null
    if (action === 'dismiss' && isCredited && !isReversed) {
      throw resolutionError('action', 'must be credit: the money is in the wallet')
    }
    if (action === 'credit' && isReversed) throw resolutionError('action', 'must be dismiss: the deposit was reversed')
    const cause = causeWithReason(deposit.cause, reason)
    const annotated = { ...deposit, cause, updatedAt: newUpdatedAt(context, deposit) }
    const resolved: ChainDeposit = { ...annotated, ...(await outcome()) }
    await updateChainDeposit(tx, resolved)
    return resolved

    async function outcome(): Promise<Partial<ChainDeposit>> {
      // The tables `deposits` and `deposit_reversals` still record the credit and the reversal of a reversed deposit.
      if (action === 'dismiss') return { state: 'DISMISSED', depositReference: null, creditedAt: null }
      if (isCredited) return { state: 'CONFIRMED' }
      const { walletId, amount } = annotated
      await addDeposit(tx, context, { walletId, amount, reference })
      return { state: 'CONFIRMED', depositReference: reference, creditedAt: timestamp(context.now()) }
    }
  })
}

function resolutionError(field: string, message: string) {
  return invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
}
