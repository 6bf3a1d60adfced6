import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../../core/maybe-promise.ts'
import type { Service } from '../../../operations/context.ts'
import { acquireLease, allLeases, renewLeases } from './repository.ts'

/** A lease expires after `leaseMs` unless its holder renews it, which it does every `renewMs`. */
const leaseMs = 30_000
const renewMs = 10_000

/** Leases acquired in one transaction. */
const leaseBatchSize = 100

/** Decides which process sends the webhooks of a merchant. */
export type Leases = {
  /** Returns the merchants among `merchantIds`, and maybe others, whose lease this process holds or could acquire. */
  readonly acquire: (merchantIds: readonly string[]) => Promise<ReadonlySet<string>>
  readonly release: () => Promise<void>
}

/** For SQLite, where one process sends for all merchants: the writer epoch fences it. */
export const noLeases: Leases = {
  acquire: async (merchantIds) => new Set(merchantIds),
  release: async () => {},
}

/**
 * Creates leases for processes, on one machine or several, that share a database. Expiry compares the clocks of machines: if
 * they differ by more than `leaseMs`, two processes may send the same events for a while.
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
      // A lease that expires later than any valid one came from a wrong clock, and is void.
      const [from, to] = [dueTimeAfter(0, time), dueTimeAfter(2 * leaseMs, time)]
      const leasedByOthers = new Set(
        (await allLeases(db, {})).flatMap((lease) =>
          lease.holder !== holder && lease.until >= from && lease.until <= to ? [lease.merchantId] : [],
        ),
      )
      const free = merchantIds.filter((merchantId) => !held.has(merchantId) && !leasedByOthers.has(merchantId))
      // All processes lock rows in the same order, so they do not deadlock.
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
