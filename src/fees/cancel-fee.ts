import { z } from 'zod'
import type { Service } from '../context.ts'
import { Conflict } from '../database/database.ts'
import { notFound } from '../errors.ts'
import { timestamp } from '../ids.ts'
import { instant, parse, text } from '../input.ts'
import { rowToCancel } from '../rates/effective-time.ts'
import type { Fee } from './fee.ts'
import { feesFrom, setFeeCancelled } from './repository.ts'

export const CancelFeeInput = z.object({ assetCode: text(), recipientCurrency: text(), effectiveAt: instant() })

/**
 * Cancels a fee before its time comes; it stays recorded, and another may be set for that time. One that is cancelled
 * already is answered as it is.
 *
 * @param input `effectiveAt` the time that the fee was set for
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND, INVALID_INPUT for one that is in force or was
 */
export async function cancelFee(service: Service, input: z.input<typeof CancelFeeInput>): Promise<Fee> {
  const { effectiveAt, ...pair } = parse(CancelFeeInput, input)
  return service.db.write(async (tx) => {
    const row = rowToCancel(service, await feesFrom(tx, { ...pair, at: effectiveAt }), effectiveAt)
    if (row === null) throw notFound('Fee')
    if (row.cancelledAt !== null) return row
    const cancelled = await setFeeCancelled(tx, { ...row, cancelledAt: timestamp(service.now()) })
    if (!cancelled) throw new Conflict('another request cancelled the fee')
    return cancelled
  })
}
