import { setImmediate as nextIteration, setTimeout as wait } from 'node:timers/promises'
import { random as defaultRandom, timestamp } from '../../core/ids-and-clock.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { defineInternalOperation } from '../../operations/define-operation.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { summarizeTransfers } from '../payout-statistics/balance-changes.ts'
import { summarizeStatusChanges } from '../payout-statistics/payout-statistics.ts'
import type { CountedEvents } from '../payout-statistics/store-statistics.ts'
import { addStatistics } from '../payout-statistics/store-statistics.ts'
import { statusChangesIn, transfersIn } from './counted-rows.ts'
import { historyColumns } from './hashed-columns.ts'
import { insertSeal, latestSeals, selectHistoryWithPayouts, unsealedMerchants } from './repository.ts'
import type { ChainHead, Seal } from './seal.ts'
import { computeSealHash, createSeal, genesisHead, maxEventsPerSeal } from './seal.ts'

/** Several merchants are sealed concurrently, so that their transactions share a group commit. */
const merchantConcurrency = 4

/** Limits the delay for other merchants if one merchant has many unsealed events. */
const maxSealsPerTurn = 20

const [minPauseMs, maxPauseMs] = [1_000, 10_000]

/**
 * A seal of few events costs as much as a full seal. After seals of few events, the sealer pauses for
 * `pauseToPollRatio` times the duration of these seals, so that more events accumulate.
 */
const pauseToPollRatio = 20

const restToSealRatio = 4

/**
 * If another process seals, this process waits for one to two times `standbyMs`. The wait is random, so that two
 * processes do not wait for each other.
 */
const standbyMs = 10_000

const retryDelayMs = 5_000

export type Sealer = {
  readonly poll: () => Promise<void>
  readonly stop: () => Promise<void>
}

type SealerOptions = {
  readonly service: Service
  readonly onError: (error: unknown) => void
  readonly random?: () => number
  /** After each seal of a backlog, the sealer rests for this multiple of the time that the seal took. */
  readonly restRatio?: number
}

/** The query includes payouts, because `storeSeal` adds the seal's events to the statistics. */
const findHistoryWithPayouts = selectHistoryWithPayouts(historyColumns)

type CountedSeal = Seal & CountedEvents

type UnsealedMerchant = { readonly merchantId: string; readonly latest: number; readonly head: ChainHead }

/**
 * Seals new events within about a second, or within ten seconds if many merchants are active. Payouts never wait for
 * seals.
 *
 * Several processes can run a sealer without leader election. Seals are numbered, and only the first insert of a number
 * succeeds. A process pauses when another process has stored a seal.
 */
export function startSealer({
  service,
  onError,
  random = defaultRandom,
  restRatio = restToSealRatio,
}: SealerOptions): Sealer {
  const { db } = service
  const known = new Map<string, Pick<ChainHead, 'number' | 'hash'>>()
  let isStopped = false
  let isDue = true
  let isSealedElsewhere = false
  let smallSealsMs = 0
  let timer: NodeJS.Timeout | undefined
  let polling: Promise<void> = Promise.resolve()
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
      const pauseMs = Math.min(Math.max(minPauseMs, smallSealsMs * pauseToPollRatio), maxPauseMs)
      schedulePoll(isSealedElsewhere ? standbyMs * (1 + random()) : pauseMs)
    } catch (error) {
      isDue = true
      onError(error)
      schedulePoll(retryDelayMs)
    }
  }

  function poll(): Promise<void> {
    polling = polling.catch(() => {}).then(pollOnce)
    return polling
  }

  async function pollOnce(): Promise<void> {
    isDue = false
    isSealedElsewhere = false
    smallSealsMs = 0
    for await (const merchantIds of iterateMerchantIds(db)) {
      const unsealed = (await unsealedMerchants(db, { merchantIds })).map(
        ({ merchantId, latest, number, through, hash }) => ({
          ...{ merchantId, latest },
          head: number === null || through === null || hash === null ? genesisHead : { number, through, hash },
        }),
      )
      isSealedElsewhere ||= unsealed.some(isSealedByAnother)
      for (const { merchantId, head } of unsealed) if (isSealedElsewhere) known.set(merchantId, head)
      await sealAll(unsealed)
      if (isStopped) break
    }
    if (isSealedElsewhere) isDue = true
  }

  function isSealedByAnother({ merchantId, head }: UnsealedMerchant): boolean {
    const own = known.get(merchantId)
    return own !== undefined && own.number !== head.number
  }

  async function sealAll(unsealed: readonly UnsealedMerchant[]): Promise<void> {
    for (let first = 0; first < unsealed.length && !isStopped && !isSealedElsewhere; first += merchantConcurrency) {
      const startedAt = performance.now()
      const areSmall = await Promise.all(unsealed.slice(first, first + merchantConcurrency).map(sealMerchant))
      if (areSmall.every((isSmall) => isSmall)) smallSealsMs += performance.now() - startedAt
      await nextIteration()
    }
  }

  /** @returns whether the merchant had too few unsealed events for a full seal */
  async function sealMerchant({ merchantId, latest, head: from }: UnsealedMerchant): Promise<boolean> {
    if (known.get(merchantId)?.hash !== from.hash) await reportIfAltered(merchantId, from)
    let head = from
    for (let seals = 0; head.through < latest && !isStopped; seals++) {
      if (seals === maxSealsPerTurn) {
        isDue = true
        return false
      }
      const startedAt = performance.now()
      const seal = await createNextSeal(merchantId, { head, latest })
      if (seal === null) return true
      if (!(await service.perform(storeSeal, createContext(service, merchantId), seal))) {
        isSealedElsewhere = true
        known.delete(merchantId)
        return true
      }
      head = seal
      known.set(merchantId, { number: seal.number, hash: seal.hash })
      const tookMs = performance.now() - startedAt
      if (head.through < latest) await wait(tookMs * restRatio)
    }
    return latest - from.through < maxEventsPerSeal
  }

  async function createNextSeal(
    merchantId: string,
    { head, latest }: { head: ChainHead; latest: number },
  ): Promise<CountedSeal | null> {
    const after = head.through
    const through = Math.min(latest, after + maxEventsPerSeal)
    const rows = await findHistoryWithPayouts(db, { merchantId, after, through })
    const gap = rows.findIndex(({ sequence }, i) => sequence !== head.through + 1 + i)
    if (gap >= 0 || rows.length < through - head.through) {
      const missing = head.through + 1 + (gap >= 0 ? gap : rows.length)
      onError(new Error(`hash chain: event ${missing} of merchant ${merchantId} is missing; run audit --chain`))
      return null
    }
    const seal = createSeal(rows, { merchantId, head, createdAt: timestamp(service.now()) })
    const changes = summarizeStatusChanges(statusChangesIn(rows))
    return { ...seal, after, changes, balanceChanges: summarizeTransfers(transfersIn(rows)) }
  }

  /** The sealer continues after it reports an altered seal, because `audit --chain` always finds the difference. */
  async function reportIfAltered(merchantId: string, head: ChainHead): Promise<void> {
    const [latest, previous = genesisHead] = await latestSeals(db, { merchantId, limit: 2 })
    const isKnown = known.get(merchantId)?.number === head.number
    if (isKnown || (latest?.number === head.number && computeSealHash(latest, previous) !== latest.hash)) {
      onError(new Error(`hash chain: seal ${head.number} of merchant ${merchantId} was altered; run audit --chain`))
    }
  }

  return {
    poll,
    stop: async () => {
      isStopped = true
      endWatch()
      clearTimeout(timer)
      await polling.catch(() => {})
    },
  }
}

/**
 * If the statistics lack earlier events, `storeSeal` leaves the statistics unchanged, and a later catch-up adds the
 * seal's events.
 *
 * @returns false if another process has already stored a seal with the same number
 */
export const storeSeal = defineInternalOperation(
  'storeSeal',
  async ({ db, merchantId }: Context, seal: Omit<CountedSeal, 'merchantId'>): Promise<boolean> => {
    return db.write(
      async (tx) => {
        if ((await insertSeal(tx, { ...seal, merchantId })) === null) return false
        await addStatistics(tx, merchantId, seal)
        return true
      },
      { merchantId },
    )
  },
)
