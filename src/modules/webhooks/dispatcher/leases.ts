import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../../core/maybe-promise.ts'
import type { Service } from '../../../operations/context.ts'
import { acquireLease, allLeases, renewLeases } from './repository.ts'

/** How long a process has a merchant for itself unless it says so again, and how often it does. */
const leaseMs = 30_000
const renewMs = 10_000

/** Leases that are taken in one transaction. */
const leaseBatchSize = 100

/** For which merchants this process sends. */
export type Leases = {
  /** Those among `merchantIds` that are this process's: whose it was, and whose nobody else's it is. */
  readonly acquire: (merchantIds: readonly string[]) => Promise<ReadonlySet<string>>
  readonly release: () => Promise<void>
}

/** Where one process sends for all: its database has one writer, and who takes its place takes all of it. */
export const noLeases: Leases = {
  acquire: async (merchantIds) => new Set(merchantIds),
  release: async () => {},
}

/**
 * Where several processes, and machines, share a database: each merchant is one process's, until that has not said so for
 * `leaseMs`. Times are those of the machines' clocks; where they differ by more, two may send the same for a while.
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
      // No lease is for longer: one that is was taken by a clock that was wrong.
      const [from, to] = [dueTimeAfter(0, time), dueTimeAfter(2 * leaseMs, time)]
      const others = new Set(
        (await allLeases(db, {})).flatMap((lease) =>
          lease.holder !== holder && lease.until >= from && lease.until <= to ? [lease.merchantId] : [],
        ),
      )
      const free = merchantIds.filter((merchantId) => !held.has(merchantId) && !others.has(merchantId))
      // In their order, so that two who take the same wait for one another and not each for the other.
      free.sort()
      for (let place = 0; place < free.length; place += leaseBatchSize) {
        const some = free.slice(place, place + leaseBatchSize)
        const taken = await db.write((tx) =>
          allOrFirstError(some.map((merchantId) => acquireLease(tx, { merchantId, holder, until, from, to }))),
        )
        for (const lease of taken) if (lease) held.add(lease.merchantId)
      }
      return held
    },
    release: async () => {
      if (held.size > 0) await db.write((tx) => renewLeases(tx, { holder, until: dueTimeAfter(0, wallClock()) }))
      held = new Set()
    },
  }
}
