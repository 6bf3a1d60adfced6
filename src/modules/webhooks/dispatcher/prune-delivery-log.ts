import { timestamp } from '../../../core/ids-and-clock.ts'
import type { Context, Service } from '../../../operations/context.ts'
import { createContext } from '../../../operations/context.ts'
import { defineInternalOperation } from '../../../operations/define-operation.ts'
import { findEventSequenceRange } from '../endpoints/list-webhook-deliveries.ts'
import { nextDeliveryLog, removeAttempts, removeDeliveries } from './repository.ts'

const retentionMs = 30 * 24 * 60 * 60 * 1000

const pruneBatchSize = 500

const batchIntervalMs = 1_000

/** The pause between two passes over all delivery logs. */
const passIntervalMs = 60 * 60 * 1000

const nilUuid = '00000000-0000-0000-0000-000000000000'

export type LogPruner = { readonly stop: () => Promise<void> }

export function startLogPruner({
  service,
  onError,
}: {
  readonly service: Service
  readonly onError: (error: unknown) => void
}): LogPruner {
  const prune = createLogPruner(service)
  let isStopped = false
  let pruning = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  scheduleBatch()

  function scheduleBatch(): void {
    if (!isStopped) timer = setTimeout(pruneBatch, batchIntervalMs).unref()
  }

  function pruneBatch(): void {
    pruning = prune().catch(onError).then(scheduleBatch)
  }

  return {
    stop: () => {
      isStopped = true
      clearTimeout(timer)
      return pruning
    },
  }
}

/** Each call prunes one batch of one endpoint's delivery log, except pending deliveries of existing endpoints. */
export function createLogPruner(service: Service): () => Promise<void> {
  const first = { merchantId: nilUuid, endpointId: nilUuid }
  let position = first
  let nextAt = 0
  return async () => {
    if (performance.now() < nextAt) return
    const log = await nextDeliveryLog(service.db, position)
    if (log === null) {
      position = first
      nextAt = performance.now() + passIntervalMs
      return
    }
    const { merchantId, endpointId } = log
    const since = timestamp(service.now() - retentionMs)
    const { above } = await findEventSequenceRange(
      { db: service.db, merchantId },
      { createdFrom: since, createdBefore: null },
    )
    const input = { endpointId, before: above + 1, since }
    const context = createContext(service, merchantId)
    const hasMore = above > 0 && (await service.perform(pruneDeliveries, context, input)) === pruneBatchSize
    if (!hasMore) position = log
  }
}

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
        await removeAttempts(tx, { merchantId, endpointId, sequences })
        return removed.length
      },
      { merchantId },
    )
  },
)
