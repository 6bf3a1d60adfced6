import type { Batchable } from '../database.ts'

export type BatchableWrite = { readonly merchantId: string; readonly batchable: Batchable }

/** While the server runs one batch, this process can prepare other batches. */
const maxConcurrentBatches = 4

export type WriteBatcher<Write extends BatchableWrite> = {
  readonly add: (write: Write) => void
  readonly queued: () => number
  readonly queuedFor: (merchantId: string) => number
}

/**
 * Collects batchable writes of all merchants, and calls `runBatch` with at most `maxBatchSize` writes. A batch contains
 * the writes of one event-loop iteration. While `maxConcurrentBatches` batches run, further writes are collected.
 *
 * A merchant is in at most one running batch, because another batch would wait for the merchant's locks. Each merchant
 * gets one write in a batch before any merchant gets a second write (fairness). A batch is sorted by merchant, so that
 * all processes lock rows in the same order and do not deadlock.
 */
export function writeBatcher<Write extends BatchableWrite>(
  maxBatchSize: number,
  runBatch: (batch: readonly Write[]) => Promise<void>,
): WriteBatcher<Write> {
  const queues = new Map<string, Write[]>()
  const runningMerchants = new Set<string>()
  let queued = 0
  let runningBatches = 0
  let isScheduled = false

  function scheduleBatch(): void {
    if (isScheduled || runningBatches === maxConcurrentBatches || queued === 0) return
    isScheduled = true
    setImmediate(() => {
      isScheduled = false
      const batch = takeBatch()
      if (batch.length === 0) return
      start(batch)
      scheduleBatch()
    })
  }

  async function start(batch: readonly Write[]): Promise<void> {
    runningBatches++
    for (const { merchantId } of batch) runningMerchants.add(merchantId)
    await runBatch(batch)
    for (const { merchantId } of batch) runningMerchants.delete(merchantId)
    runningBatches--
    scheduleBatch()
  }

  function takeBatch(): readonly Write[] {
    const batch: Write[] = []
    const conflictKeys = new Set<string>()
    const available = [...queues].filter(([merchantId]) => !runningMerchants.has(merchantId))
    for (let size = -1; size < batch.length && batch.length < maxBatchSize; ) {
      size = batch.length
      for (const [merchantId, writes] of available) {
        const [first] = writes
        const key = first?.batchable.conflictKey == null ? null : `${merchantId} ${first.batchable.conflictKey}`
        if (!first || batch.length === maxBatchSize || (key !== null && conflictKeys.has(key))) continue
        if (key !== null) conflictKeys.add(key)
        batch.push(first)
        writes.shift()
      }
    }
    queued -= batch.length
    for (const { merchantId } of batch) {
      const remaining = queues.get(merchantId)
      queues.delete(merchantId)
      if (remaining && remaining.length > 0) queues.set(merchantId, remaining)
    }
    return batch.sort((a, b) => (a.merchantId < b.merchantId ? -1 : Number(a.merchantId > b.merchantId)))
  }

  return {
    add: (write) => {
      const queue = queues.get(write.merchantId)
      if (queue) queue.push(write)
      else queues.set(write.merchantId, [write])
      queued++
      scheduleBatch()
    },
    queued: () => queued,
    queuedFor: (merchantId) => queues.get(merchantId)?.length ?? 0,
  }
}
