import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { random as anyNumber, timestamp } from '../../core/ids.ts'
import type { Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { everyMerchantId } from '../merchants/iterate-merchants.ts'
import { findHistory } from './find-history.ts'
import { latestSeals, unsealedOf } from './repository.ts'
import type { Head, Seal } from './seal.ts'
import { hashOf, mostSealed, noSeal, sealOf } from './seal.ts'
import { storeSeal } from './store-seal.ts'

/** Merchants that are sealed at once: on an engine with groups they share a commit, and no more connections are taken. */
const sealedAtOnce = 4

/** Seals that a merchant gets in its turn: one with much that is not sealed does not hold up the others. */
const sealsInTurn = 20

/** How long after a look there is another where something has happened: shortest, and longest. */
const [leastPauseMs, mostPauseMs] = [1_000, 10_000]

/** A seal of little costs as much as one of much: the longer the pause, the fewer there are. So they may take this part of the time. */
const pausesPerLook = 20

/** Seals of much are made one after another, with this many times as long for others in between. */
const restsPerSeal = 4

/** How long a process leaves sealing to another: between one and two of these, so that two do not wait for each other. */
const restMs = 10_000

/** How long after a fault it is tried again. */
const afterFaultMs = 5_000

/** Has history sealed. */
export type Sealing = {
  /** Seals what is not sealed yet, unless another does; one look at all merchants. */
  readonly look: () => Promise<void>
  readonly stop: () => Promise<void>
}

type Options = {
  readonly service: Service
  readonly onFault: (error: unknown) => void
  readonly random?: () => number
}

type Unsealed = { readonly merchantId: string; readonly latest: number; readonly head: Head }

/**
 * Seals what happens to merchants, within about a second, where many are active within ten: beside whoever pays, and never on a
 * payout's way.
 *
 * Any number of processes may do it: a seal has a number, and who comes second stores nothing. Whoever finds that another
 * seals leaves it to that for a while. So nobody has to say who does, and no clock but that of this process matters.
 */
export function startSealing({ service, onFault, random = anyNumber }: Options): Sealing {
  const { db } = service
  /** The latest seal of each merchant as this process has seen or made it. */
  const known = new Map<string, Pick<Head, 'number' | 'hash'>>()
  let isStopped = false
  let isDue = true
  let isOther = false
  /** What a look took but for full seals. */
  let smallMs = 0
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()
  const endWatch = db.watch('events', () => {
    isDue = true
  })
  plan(leastPauseMs)

  function plan(afterMs: number): void {
    if (!isStopped) timer = setTimeout(lookAndPlan, afterMs).unref()
  }

  async function lookAndPlan(): Promise<void> {
    if (!isDue) return plan(leastPauseMs)
    try {
      await look()
      const pauseMs = Math.min(Math.max(leastPauseMs, smallMs * pausesPerLook), mostPauseMs)
      plan(isOther ? restMs * (1 + random()) : pauseMs)
    } catch (error) {
      isDue = true
      onFault(error)
      plan(afterFaultMs)
    }
  }

  function look(): Promise<void> {
    looking = looking.catch(() => {}).then(lookNow)
    return looking
  }

  async function lookNow(): Promise<void> {
    isDue = false
    isOther = false
    smallMs = 0
    for await (const merchantIds of everyMerchantId(db)) {
      const unsealed = (await unsealedOf(db, { merchantIds })).map(({ merchantId, latest, number, through, hash }) => ({
        ...{ merchantId, latest },
        head: number === null || through === null || hash === null ? noSeal : { number, through, hash },
      }))
      isOther ||= unsealed.some(isMovedByAnother)
      for (const { merchantId, head } of unsealed) if (isOther) known.set(merchantId, head)
      await sealAll(unsealed)
      if (isStopped) break
    }
    // What the other leaves is looked for again.
    if (isOther) isDue = true
  }

  function isMovedByAnother({ merchantId, head }: Unsealed): boolean {
    const own = known.get(merchantId)
    return own !== undefined && own.number !== head.number
  }

  async function sealAll(unsealed: readonly Unsealed[]): Promise<void> {
    for (let first = 0; first < unsealed.length && !isStopped && !isOther; first += sealedAtOnce) {
      const begunAt = performance.now()
      const areSmall = await Promise.all(unsealed.slice(first, first + sealedAtOnce).map(sealMerchant))
      if (areSmall.every((isSmall) => isSmall)) smallMs += performance.now() - begunAt
      await nextTurn()
    }
  }

  /** Seals what a merchant has, or some of it; whether that was little. */
  async function sealMerchant({ merchantId, latest, head: from }: Unsealed): Promise<boolean> {
    if (known.get(merchantId)?.hash !== from.hash) await requireIntact(merchantId, from)
    let head = from
    for (let seals = 0; head.through < latest && !isStopped; seals++) {
      if (seals === sealsInTurn) {
        isDue = true
        return false
      }
      const begunAt = performance.now()
      const seal = await nextSeal(merchantId, { head, latest })
      if (seal === null) return true
      if (!(await service.perform(storeSeal, createContext(service, merchantId), seal))) {
        isOther = true
        known.delete(merchantId)
        return true
      }
      head = seal
      known.set(merchantId, { number: seal.number, hash: seal.hash })
      const tookMs = performance.now() - begunAt
      if (head.through < latest) await wait(tookMs * restsPerSeal, undefined, { ref: false })
    }
    return latest - from.through < mostSealed
  }

  /** The next seal of a merchant; `null` where that can't be. */
  async function nextSeal(merchantId: string, { head, latest }: { head: Head; latest: number }): Promise<Seal | null> {
    const through = Math.min(latest, head.through + mostSealed)
    const rows = await findHistory(db, { merchantId, after: head.through, through })
    const gap = rows.findIndex(({ sequence }, place) => sequence !== head.through + 1 + place)
    if (gap >= 0 || rows.length < through - head.through) {
      const missing = head.through + 1 + (gap >= 0 ? gap : rows.length)
      // Nobody else's history waits for that.
      onFault(new Error(`merchant ${merchantId} has no event ${missing}, and later ones: run audit --chain`))
      return null
    }
    return sealOf(rows, { merchantId, head, createdAt: timestamp(service.now()) })
  }

  /** Tells of a seal that is not as it was made; what follows is sealed all the same, and the audit finds it for good. */
  async function requireIntact(merchantId: string, head: Head): Promise<void> {
    const [latest, before = noSeal] = await latestSeals(db, { merchantId, limit: 2 })
    const isKnown = known.get(merchantId)?.number === head.number
    if (isKnown || (latest?.number === head.number && hashOf(latest, before) !== latest.hash)) {
      onFault(new Error(`seal ${head.number} of merchant ${merchantId} is not as it was made: run audit --chain`))
    }
  }

  return {
    look,
    stop: async () => {
      isStopped = true
      endWatch()
      clearTimeout(timer)
      await looking.catch(() => {})
    },
  }
}
