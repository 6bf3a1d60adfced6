import type { Service } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { countHistory } from './catch-up.ts'
import { deleteBalanceChanges, deleteStatistics, resetCursor } from './repository.ts'

/** The service may run during a rebuild. If the rebuild is interrupted, the service counts the remaining events. */
export async function rebuildStatistics(
  service: Service,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<{ readonly merchants: number }> {
  const { db } = service
  let merchants = 0
  // The first write also inserts the row of the operator log, and without merchants no other write would run.
  await db.write(() => undefined)
  for await (const merchantIds of iterateMerchantIds(db)) {
    for (const merchantId of merchantIds) {
      await db.write(
        async (tx) => {
          await resetCursor(tx, { merchantId })
          await deleteStatistics(tx, { merchantId })
          await deleteBalanceChanges(tx, { merchantId })
        },
        { merchantId },
      )
      merchants++
    }
  }
  await countHistory(service, { hasSealer: false, restRatio: 0, onProgress })
  return { merchants }
}
