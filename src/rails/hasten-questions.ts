import type { Context } from '../context.ts'
import { machineTime } from '../context.ts'
import { hastenOrders } from './repository.ts'

/** Has a rail that answers again asked now of what it could not answer. */
export async function hastenQuestions(context: Context, { orderIds }: { orderIds: readonly string[] }): Promise<void> {
  const { db, merchantId } = context
  const dueAt = BigInt(machineTime(context))
  await db.write((tx) => hastenOrders(tx, { merchantId, orderIds, dueAt }), { merchantId })
}
