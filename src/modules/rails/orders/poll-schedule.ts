import type { DueTime } from '../../../core/ids-and-clock.ts'
import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import type { Context } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { pollRailOrdersNow } from '../repository.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** How long after the bank was asked it is asked again, the last repeatedly. */
const pollDelaysMs: readonly number[] = [10 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, 24 * hour]

/** When a bank that was asked so often is asked again. */
export function nextPollAt({ wallClock }: Pick<Context, 'wallClock'>, asked: number): DueTime {
  const delay = pollDelaysMs[Math.min(asked, pollDelaysMs.length - 1)] ?? 0
  return dueTimeAfter(delay, wallClock())
}

/** How long an order waits at most that was asked about so often: each range of counts with its delay. */
export const maxPollWaits: readonly {
  readonly minAsked: number
  readonly maxAsked: number
  readonly delayMs: number
}[] = pollDelaysMs.map((delayMs, place) => ({
  minAsked: place === 0 ? 0 : place + 1,
  maxAsked: place === pollDelaysMs.length - 1 ? 2 ** 31 - 1 : place + 1,
  delayMs,
}))

/** Has a rail asked now about orders that it was to be asked about later. */
export const hastenQuestions = defineInternalOperation(
  'hastenQuestions',
  async (context: Context, { orderIds }: { orderIds: readonly string[] }): Promise<void> => {
    const { db, merchantId } = context
    const dueAt = dueTimeAfter(0, context.wallClock())
    await db.write((tx) => pollRailOrdersNow(tx, { merchantId, orderIds, dueAt }), { merchantId })
  },
)
