import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import type { Context } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { pollRailOrdersNow } from '../repository.ts'

/** Has a rail asked now about orders that it was to be asked about later. */
export const hastenQuestions = defineInternalOperation(
  'hastenQuestions',
  async (context: Context, { orderIds }: { orderIds: readonly string[] }): Promise<void> => {
    const { db, merchantId } = context
    const dueAt = dueTimeAfter(0, context.wallClock())
    await db.write((tx) => pollRailOrdersNow(tx, { merchantId, orderIds, dueAt }), { merchantId })
  },
)
