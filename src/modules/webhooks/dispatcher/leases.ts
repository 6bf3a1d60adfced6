import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../../core/maybe-promise.ts'
import type { Service } from '../../../operations/context.ts'
import { acquireLease, allLeases, renewLeases } from './repository.ts'

const leaseMs = 30_000
const renewMs = 10_000

const leaseBatchSize = 100

export type Leases = {
  readonly acquire: (merchantIds: readonly string[]) => Promise<ReadonlySet<string>>
  readonly release: () => Promise<void>
}

/**
 * On SQLite, only one process sends webhooks. A new process stops the writes of an earlier process, so leases are not
 * needed.
 */
export const noLeases: Leases = {
  acquire: async (merchantIds) => new Set(merchantIds),
  release: async () => {},
}

/**
 * If the clocks of two machines differ by more than `leaseMs`, processes on both machines can send the same events for
 * a while.
 */
export function createLeases({ db, wallClock }: Service, holder: string): Leases {
  let held = new Set<string>()
  let renewedAt = Number.NEGATIVE_INFINITY
  return {
    acquire: async (merchantIds) => {
      const time = wallClock()
      const until = dueTimeAfter(leaseMs, time)
      if (performance.now() - renewedAt >= renewMs) {
        renewedAt = performance.now()
        const renewed = held.size > 0 ? await db.write((tx) => renewLeases(tx, { holder, until })) : []
        held = new Set(renewed.map(({ merchantId }) => merchantId))
      }
      if (merchantIds.every((merchantId) => held.has(merchantId))) return held
      // A process with a correct clock never sets an expiry later than `to`, so a lease that expires later is ignored.
      const [from, to] = [dueTimeAfter(0, time), dueTimeAfter(2 * leaseMs, time)]
      const leasedByOthers = new Set(
        (await allLeases(db, {})).flatMap((lease) =>
          lease.holder !== holder && lease.until >= from && lease.until <= to ? [lease.merchantId] : [],
        ),
      )
      const free = merchantIds.filter((merchantId) => !held.has(merchantId) && !leasedByOthers.has(merchantId))
      // To avoid deadlocks, all processes acquire leases in the same order.
      free.sort()
      for (let i = 0; i < free.length; i += leaseBatchSize) {
        const batch = free.slice(i, i + leaseBatchSize)
        const acquired = await db.write((tx) =>
          allOrFirstError(batch.map((merchantId) => acquireLease(tx, { merchantId, holder, until, from, to }))),
        )
        for (const lease of acquired) if (lease) held.add(lease.merchantId)
      }
      return held
    },
    release: async () => {
      if (held.size > 0) await db.write((tx) => renewLeases(tx, { holder, until: dueTimeAfter(0, wallClock()) }))
      held = new Set()
    },
  }
}
