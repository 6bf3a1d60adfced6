import { z } from 'zod'
import type { Service } from '../context.ts'
import { Conflict } from '../database/database.ts'
import { notFound } from '../errors.ts'
import { timestamp } from '../ids.ts'
import { instant, parse, text } from '../input.ts'
import { rowToCancel } from './effective-time.ts'
import type { Rate } from './rate.ts'
import { ratesFrom, setRateCancelled } from './repository.ts'

export const CancelRateInput = z.object({ fromCode: text(), toCode: text(), effectiveAt: instant() })

/**
 * Cancels a rate before its time comes; it stays recorded, and another may be set for that time. One that is cancelled
 * already is answered as it is.
 *
 * @param input `effectiveAt` the time that the rate was set for
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND, INVALID_INPUT for one that is in force or was
 */
export async function cancelRate(service: Service, input: z.input<typeof CancelRateInput>): Promise<Rate> {
  const { effectiveAt, ...pair } = parse(CancelRateInput, input)
  return service.db.write(async (tx) => {
    const row = rowToCancel(service, await ratesFrom(tx, { ...pair, at: effectiveAt }), effectiveAt)
    if (row === null) throw notFound('Rate')
    if (row.cancelledAt !== null) return row
    const cancelled = await setRateCancelled(tx, { ...row, cancelledAt: timestamp(service.now()) })
    if (!cancelled) throw new Conflict('another request cancelled the rate')
    return cancelled
  })
}
