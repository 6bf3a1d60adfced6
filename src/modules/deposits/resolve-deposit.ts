import { z } from 'zod'
import { invalidInput, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/ids.ts'
import { limit, oneOf, parse, text } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import { timeOfChange } from '../../operations/context.ts'
import { contextByClock } from '../merchants/sandbox-clock.ts'
import { addDeposit } from '../wallets/deposit-to-wallet.ts'
import { reversalByReference } from '../wallets/repository.ts'
import type { ChainDeposit } from './chain-deposit.ts'
import { decidedCause, resolutions } from './chain-deposit.ts'
import { attentionOfAllDeposits, lockChainDeposit, ownerOfEvent, storeChainDeposit } from './repository.ts'

const ListInput = z.object({ limit: limit(20) })

/** Deposits from chains that a person must look at, of all merchants, the oldest first. @throws Refusal INVALID_INPUT */
export async function listDepositAttention(
  { db }: Service,
  input: z.input<typeof ListInput>,
): Promise<readonly ChainDeposit[]> {
  return attentionOfAllDeposits(db, parse(ListInput, input))
}

export const ResolveDepositInput = z.object({ reference: text(), action: oneOf(resolutions), reason: text() })

/**
 * Decides about a deposit that a person had to look at; the reason stays with it.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND, INVALID_INPUT (it needs no decision, or was credited
 *   and can't be dismissed, or was reversed and can't be credited), DEPOSIT_REFERENCE_REUSED, BALANCE_LIMIT_EXCEEDED
 */
export async function resolveDeposit(
  service: Service,
  input: z.input<typeof ResolveDepositInput>,
): Promise<ChainDeposit> {
  const { reference, action, reason } = parse(ResolveDepositInput, input)
  const owner = await ownerOfEvent(service.db, { reference })
  if (!owner) throw notFound('Deposit')
  const { merchantId } = owner
  const context = await contextByClock(service, merchantId)
  return service.db.write(async (tx) => {
    const deposit = await lockChainDeposit(tx, { merchantId, reference })
    if (!deposit) throw notFound('Deposit')
    if (deposit.state !== 'ATTENTION')
      throw notNow('reference', `must be of a deposit in attention: it is ${deposit.state}`)
    const isCredited = deposit.depositReference !== null
    const isReversed = isCredited && (await reversalByReference(tx, { merchantId, reference })) !== null
    if (action === 'dismiss' && isCredited && !isReversed) {
      throw notNow('action', 'must be credit: the money is in the wallet')
    }
    if (action === 'credit' && isReversed) throw notNow('action', 'must be dismiss: the deposit was reversed')
    const cause = decidedCause(deposit.cause, reason)
    const decided = { ...deposit, cause, updatedAt: timeOfChange(context, deposit) }
    const resolved: ChainDeposit = { ...decided, ...(await outcome()) }
    await storeChainDeposit(tx, resolved)
    return resolved

    async function outcome(): Promise<Partial<ChainDeposit>> {
      // Of one that was credited and reversed the deposit and its reversal tell that.
      if (action === 'dismiss') return { state: 'DISMISSED', depositReference: null, creditedAt: null }
      if (isCredited) return { state: 'CONFIRMED' }
      const { walletId, amount } = decided
      await addDeposit(tx, context, { walletId, amount, reference })
      return { state: 'CONFIRMED', depositReference: reference, creditedAt: timestamp(context.now()) }
    }
  })
}

function notNow(field: string, message: string) {
  return invalidInput([{ field, code: 'INVALID_PARAMETER', message }])
}
