import type { DueTime } from '../../../core/ids-and-clock.ts'
import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import type { Context } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { pollRailOrdersNow } from '../repository.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** The backoff between polls of an order. The last delay repeats. */
const pollDelaysMs: readonly number[] = [10 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, 24 * hour]

export function nextPollAt({ wallClock }: Pick<Context, 'wallClock'>, asked: number): DueTime {
  const delay = pollDelaysMs[Math.min(asked, pollDelaysMs.length - 1)] ?? 0
  return dueTimeAfter(delay, wallClock())
}

/** For each range of the poll count `asked`, the maximum delay before the next poll. */
export const maxPollWaits: readonly {
  readonly minAsked: number
  readonly maxAsked: number
  readonly delayMs: number
}[] = pollDelaysMs.map((delayMs, i) => ({
  minAsked: i === 0 ? 0 : i + 1,
  maxAsked: i === pollDelaysMs.length - 1 ? 2 ** 31 - 1 : i + 1,
  delayMs,
}))

export const scheduleImmediatePolls = defineInternalOperation(
  'scheduleImmediatePolls',
  async (context: Context, { orderIds }: { orderIds: readonly string[] }): Promise<void> => {
    const { db, merchantId } = context
    const dueAt = dueTimeAfter(0, context.wallClock())
    await db.write((tx) => pollRailOrdersNow(tx, { merchantId, orderIds, dueAt }), { merchantId })
  },
)
