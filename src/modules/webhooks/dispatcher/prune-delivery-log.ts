import { timestamp } from '../../../core/ids-and-clock.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { createContext } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { findEventSequenceRange } from '../endpoints/list-webhook-deliveries.ts'
import { nextDeliveryLog, removeAttempts, removeDeliveries } from './repository.ts'

/** How long deliveries and their attempts are kept: 30 days. */
const retentionMs = 30 * 24 * 60 * 60 * 1000

/** Deliveries that are removed in one transaction. */
const pruneBatchSize = 500

/** How long the logs are let alone once all were looked at. */
const pruneIntervalMs = 60 * 60 * 1000

/** Before all ids. */
const nilUuid = '00000000-0000-0000-0000-000000000000'

/**
 * Removes what the logs hold of events that are too old, one log at a call and some of it; what is still to be tried stays.
 * Those of endpoints that are disabled or deleted have their turn as well.
 */
export function createLogPruner(service: Service): () => Promise<void> {
  const first = { merchantId: nilUuid, endpointId: nilUuid }
  let place = first
  let nextAt = 0
  return async () => {
    if (performance.now() < nextAt) return
    const log = await nextDeliveryLog(service.db, place)
    if (log === null) {
      place = first
      nextAt = performance.now() + pruneIntervalMs
      return
    }
    const { merchantId, endpointId } = log
    const since = timestamp(service.now() - retentionMs)
    const { above } = await findEventSequenceRange(
      { db: service.db, merchantId },
      { createdFrom: since, createdBefore: null },
    )
    const asked = { endpointId, before: above + 1, since }
    const context = createContext(service, merchantId)
    const isMore = above > 0 && (await service.perform(pruneDeliveries, context, asked)) === pruneBatchSize
    if (!isMore) place = log
  }
}

/** Removes some deliveries that are over, with their attempts, of events before a number, none tried since a time; how many. */
export const pruneDeliveries = defineInternalOperation(
  'pruneDeliveries',
  async (
    { db, merchantId }: Context,
    { endpointId, before, since }: { endpointId: string; before: number; since: string },
  ): Promise<number> => {
    return db.write(
      async (tx) => {
        const removed = await removeDeliveries(tx, { merchantId, endpointId, before, since, limit: pruneBatchSize })
        const sequences = removed.map(({ sequence }) => sequence)
        if (sequences.length > 0) await removeAttempts(tx, { merchantId, endpointId, sequences })
        return removed.length
      },
      { merchantId },
    )
  },
)
