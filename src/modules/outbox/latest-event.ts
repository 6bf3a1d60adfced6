import { invalidInput } from '../../core/errors.ts'
import type { Database } from '../../database/database.ts'
import { readHighWaterMark } from '../../database/database.ts'
import type { Reader } from '../../database/query.ts'
import { latestSequenceNumber } from '../../lists/sequence.ts'

type EventReadContext = { readonly db: Reader & Partial<Pick<Database, 'findPrimary'>>; readonly merchantId: string }

/** The number of the merchant's latest event; 0 where nothing happened yet. */
export async function latestEventSequence({ db, merchantId }: EventReadContext): Promise<number> {
  return (await latestSequenceNumber(db, { merchantId, name: 'events' }))?.latest ?? 0
}

/**
 * A reader that knows more than there is would wait for what it has passed over: the database is of before, or another.
 *
 * @param after what it knows, which is returned
 * @param latest what is known here, without a query; another process may know a later one already, and so may who asks
 * @throws Refusal INVALID_INPUT
 */
export async function requireKnownSequence(context: EventReadContext, after: number, latest = 0): Promise<number> {
  if (after <= latest) return after
  const latestNow = await readHighWaterMark(context.db, after, () => latestEventSequence(context))
  if (after <= latestNow) return after
  const message = `must be at most ${latestNow}, the sequence of the latest event`
  throw invalidInput([{ field: 'after', code: 'INVALID_PARAMETER', message }])
}
