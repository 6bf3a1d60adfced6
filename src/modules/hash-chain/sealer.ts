import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import { random as anyNumber, timestamp } from '../../core/ids-and-clock.ts'
import type { Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { findHistory } from './find-history.ts'
import { latestSeals, unsealedMerchants } from './repository.ts'
import type { ChainHead, Seal } from './seal.ts'
import { computeSealHash, createSeal, genesisHead, maxEventsPerSeal } from './seal.ts'
import { storeSeal } from './store-seal.ts'

/** Merchants that are sealed at once: on an engine with groups they share a commit, and no more connections are taken. */
const merchantConcurrency = 4

/** Seals that a merchant gets in its turn: one with much that is not sealed does not hold up the others. */
const maxSealsPerTurn = 20

/** How long after a look there is another where something has happened: shortest, and longest. */
const [minPauseMs, maxPauseMs] = [1_000, 10_000]

/** A seal of little costs as much as one of much: the longer the pause, the fewer there are. So they may take this part of the time. */
const pauseToPollRatio = 20

/** Seals of much are made one after another, with this many times as long for others in between. */
const restToSealRatio = 4

/** How long a process leaves sealing to another: between one and two of these, so that two do not wait for each other. */
const standbyMs = 10_000

/** How long after a fault it is tried again. */
const retryDelayMs = 5_000

/** Has history sealed. */
export type Sealer = {
  /** Seals what is not sealed yet, unless another does; one look at all merchants. */
  readonly poll: () => Promise<void>
  readonly stop: () => Promise<void>
}

type SealerOptions = {
  readonly service: Service
  readonly onError: (error: unknown) => void
  readonly random?: () => number
}

type UnsealedMerchant = { readonly merchantId: string; readonly latest: number; readonly head: ChainHead }

/**
 * Seals what happens to merchants, within about a second, where many are active within ten: beside whoever pays, and never on a
 * payout's way.
 *
 * Any number of processes may do it: a seal has a number, and who comes second stores nothing. Whoever finds that another
 * seals leaves it to that for a while. So nobody has to say who does, and no clock but that of this process matters.
 */
export function startSealer({ service, onError: onFault, random = anyNumber }: SealerOptions): Sealer {
  const { db } = service
  /** The latest seal of each merchant as this process has seen or made it. */
  const known = new Map<string, Pick<ChainHead, 'number' | 'hash'>>()
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
  schedulePoll(minPauseMs)

  function schedulePoll(afterMs: number): void {
    if (!isStopped) timer = setTimeout(pollAndReschedule, afterMs).unref()
  }

  async function pollAndReschedule(): Promise<void> {
    if (!isDue) return schedulePoll(minPauseMs)
    try {
      await poll()
      const pauseMs = Math.min(Math.max(minPauseMs, smallMs * pauseToPollRatio), maxPauseMs)
      schedulePoll(isOther ? standbyMs * (1 + random()) : pauseMs)
    } catch (error) {
      isDue = true
      onFault(error)
      schedulePoll(retryDelayMs)
    }
  }

  function poll(): Promise<void> {
    looking = looking.catch(() => {}).then(pollOnce)
    return looking
  }

  async function pollOnce(): Promise<void> {
    isDue = false
    isOther = false
    smallMs = 0
    for await (const merchantIds of iterateMerchantIds(db)) {
      const unsealed = (await unsealedMerchants(db, { merchantIds })).map(
        ({ merchantId, latest, number, through, hash }) => ({
          ...{ merchantId, latest },
          head: number === null || through === null || hash === null ? genesisHead : { number, through, hash },
        }),
      )
      isOther ||= unsealed.some(isSealedByAnother)
      for (const { merchantId, head } of unsealed) if (isOther) known.set(merchantId, head)
      await sealAll(unsealed)
      if (isStopped) break
    }
    // What the other leaves is looked for again.
    if (isOther) isDue = true
  }

  function isSealedByAnother({ merchantId, head }: UnsealedMerchant): boolean {
    const own = known.get(merchantId)
    return own !== undefined && own.number !== head.number
  }

  async function sealAll(unsealed: readonly UnsealedMerchant[]): Promise<void> {
    for (let first = 0; first < unsealed.length && !isStopped && !isOther; first += merchantConcurrency) {
      const begunAt = performance.now()
      const areSmall = await Promise.all(unsealed.slice(first, first + merchantConcurrency).map(sealMerchant))
      if (areSmall.every((isSmall) => isSmall)) smallMs += performance.now() - begunAt
      await nextTurn()
    }
  }

  /** Seals what a merchant has, or some of it; whether that was little. */
  async function sealMerchant({ merchantId, latest, head: from }: UnsealedMerchant): Promise<boolean> {
    if (known.get(merchantId)?.hash !== from.hash) await reportIfAltered(merchantId, from)
    let head = from
    for (let seals = 0; head.through < latest && !isStopped; seals++) {
      if (seals === maxSealsPerTurn) {
        isDue = true
        return false
      }
      const begunAt = performance.now()
      const seal = await createNextSeal(merchantId, { head, latest })
      if (seal === null) return true
      if (!(await service.perform(storeSeal, createContext(service, merchantId), seal))) {
        isOther = true
        known.delete(merchantId)
        return true
      }
      head = seal
      known.set(merchantId, { number: seal.number, hash: seal.hash })
      const tookMs = performance.now() - begunAt
      if (head.through < latest) await wait(tookMs * restToSealRatio, undefined, { ref: false })
    }
    return latest - from.through < maxEventsPerSeal
  }

  /** The next seal of a merchant; `null` where that can't be. */
  async function createNextSeal(
    merchantId: string,
    { head, latest }: { head: ChainHead; latest: number },
  ): Promise<Seal | null> {
    const through = Math.min(latest, head.through + maxEventsPerSeal)
    const rows = await findHistory(db, { merchantId, after: head.through, through })
    const gap = rows.findIndex(({ sequence }, place) => sequence !== head.through + 1 + place)
    if (gap >= 0 || rows.length < through - head.through) {
      const missing = head.through + 1 + (gap >= 0 ? gap : rows.length)
      // Nobody else's history waits for that.
      onFault(new Error(`merchant ${merchantId} has no event ${missing}, and later ones: run audit --chain`))
      return null
    }
    return createSeal(rows, { merchantId, head, createdAt: timestamp(service.now()) })
  }

  /** Tells of a seal that is not as it was made; what follows is sealed all the same, and the audit finds it for good. */
  async function reportIfAltered(merchantId: string, head: ChainHead): Promise<void> {
    const [latest, before = genesisHead] = await latestSeals(db, { merchantId, limit: 2 })
    const isKnown = known.get(merchantId)?.number === head.number
    if (isKnown || (latest?.number === head.number && computeSealHash(latest, before) !== latest.hash)) {
      onFault(new Error(`seal ${head.number} of merchant ${merchantId} is not as it was made: run audit --chain`))
    }
  }

  return {
    poll,
    stop: async () => {
      isStopped = true
      endWatch()
      clearTimeout(timer)
      await looking.catch(() => {})
    },
  }
}
