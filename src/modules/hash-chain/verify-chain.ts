import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Reader } from '../../database/query.ts'
import { allMerchants } from '../merchants/repository.ts'
import type { MerchantHead } from './chain-heads.ts'
import { rootOf } from './chain-heads.ts'
import { findHistory } from './find-history.ts'
import type { Difference } from './first-difference.ts'
import { firstDifference } from './first-difference.ts'
import type { HistoryRow } from './hashed-columns.ts'
import { latestSeals, sealsAfter, unsealedOf } from './repository.ts'
import type { Head, Seal } from './seal.ts'
import { eventsIn, hashedRows, hashOf, mostSealed, noSeal } from './seal.ts'

/** Seals that are looked at together: their events are what is held in memory. */
const sealsAtOnce = 16

/**
 * What history is against its seals. `heads` are the latest seals of all merchants and `root` is one hash for them; `unsealed`
 * counts events that no seal covers yet; `differences` has the first row that differs of each merchant with one.
 */
export type Chain = {
  readonly root: string
  readonly heads: readonly MerchantHead[]
  readonly seals: number
  readonly events: number
  readonly unsealed: number
  readonly differences: readonly Difference[]
}

type Options = {
  /** Heads that were kept elsewhere: each must be a seal of its merchant still. */
  readonly kept?: readonly MerchantHead[]
  /** Told how many merchants were looked at, of how many. */
  readonly onProgress?: (done: number, total: number) => void
}

/**
 * Holds everything that is sealed against its seals, one merchant after another, and the seals against each other.
 *
 * What is sealed never changes, so it needs no snapshot, and holds up nobody beside it.
 */
export async function checkSeals(db: Reader, { kept = [], onProgress = () => {} }: Options = {}): Promise<Chain> {
  const merchants = (await allMerchants(db, {})).map(({ id }) => id)
  const keptOf = new Map(kept.map((head) => [head.merchantId, head]))
  const heads: MerchantHead[] = []
  const differences: Difference[] = []
  let [events, unsealed] = [0, 0]
  for (const [place, merchantId] of merchants.entries()) {
    onProgress(place, merchants.length)
    const { head, difference } = await checkMerchant(db, { merchantId, kept: keptOf.get(merchantId) })
    keptOf.delete(merchantId)
    if (head.number > 0) heads.push({ merchantId, number: head.number, hash: head.hash })
    if (difference !== null) differences.push(difference)
    events += head.through
    for (const { latest, through } of await unsealedOf(db, { merchantIds: [merchantId] })) {
      unsealed += latest - (through ?? 0)
    }
  }
  onProgress(merchants.length, merchants.length)
  for (const { merchantId } of keptOf.values()) differences.push(ofSeal(merchantId, noSeal, 'missing'))
  const seals = heads.reduce((sum, { number }) => sum + number, 0)
  return { root: rootOf(heads), heads, seals, events, unsealed, differences }
}

type Checked = { readonly head: Head; readonly difference: Difference | null }

/** Ends at the first row that differs; the head is the latest seal all the same. */
async function checkMerchant(
  db: Reader,
  { merchantId, kept }: { merchantId: string; kept: MerchantHead | undefined },
): Promise<Checked> {
  let head = noSeal
  for (;;) {
    // One more than is looked at: what a removed row was followed by may be in the next.
    const seals = await sealsAfter(db, { merchantId, after: head.number, limit: sealsAtOnce + 1 })
    const looked = seals.slice(0, sealsAtOnce)
    const history = await historyOf(db, { merchantId, seals: looked, before: head })
    for (const [place, seal] of looked.entries()) {
      const printsAfter = seals[place + 1]?.prints ?? ''
      const difference =
        differenceOfSeal(seal, head, kept) ?? (await differenceOfRows(db, seal, { head, history, printsAfter }))
      if (difference !== null) return { head: (await latestSeals(db, { merchantId, limit: 1 }))[0] ?? head, difference }
      head = seal
    }
    if (seals.length <= sealsAtOnce) break
    // Whoever else there is has a turn.
    await nextTurn()
  }
  const isCut = kept !== undefined && kept.number > head.number
  return { head, difference: isCut ? ofSeal(merchantId, head, 'missing') : null }
}

/** The events that some seals say they cover, by their numbers, all read at once. */
async function historyOf(
  db: Reader,
  { merchantId, seals, before }: { merchantId: string; seals: readonly Seal[]; before: Head },
): Promise<ReadonlyMap<number, HistoryRow>> {
  const stretches = seals.map((seal, place) => {
    const { through: after } = seals[place - 1] ?? before
    // A seal that says more than it has prints of is found without its rows.
    return { merchantId, after, through: Math.min(seal.through, after + eventsIn(seal.prints)) }
  })
  const rows = await Promise.all(stretches.map((stretch) => findHistory(db, stretch)))
  return new Map(rows.flat().map((row) => [row.sequence, row]))
}

/** What is wrong with a seal itself. */
function differenceOfSeal(seal: Seal, head: Head, kept: MerchantHead | undefined): Difference | null {
  const { merchantId, number, through, prints } = seal
  if (number !== head.number + 1) return ofSeal(merchantId, head, 'missing')
  if (eventsIn(prints) !== through - head.through || hashOf(seal, head) !== seal.hash) {
    return ofSeal(merchantId, seal, 'changed')
  }
  return kept?.number === number && kept.hash !== seal.hash ? ofSeal(merchantId, seal, 'rewritten') : null
}

type Covered = {
  readonly head: Head
  readonly history: ReadonlyMap<number, HistoryRow>
  readonly printsAfter: string
}

/** What is wrong with the rows that it covers; where nothing is it asks for no more. */
function differenceOfRows(db: Reader, seal: Seal, covered: Covered): Promise<Difference> | null {
  const { head, history, printsAfter } = covered
  const { merchantId, through: after } = seal
  const first = head.through + 1
  const rows = Array.from({ length: after - head.through }, (_, place) => history.get(first + place) ?? null)
  if (hashedRows(rows).contents === seal.contents) return null
  const next = findHistory(db, { merchantId, after, through: after + mostSealed })
  return Promise.resolve(next).then((rowsAfter) => firstDifference({ seal, first, rows, printsAfter, rowsAfter }))
}

/** A difference of a seal; of one that is missing, the one before it is known. */
function ofSeal(merchantId: string, { number, through }: Head, done: 'missing' | 'changed' | 'rewritten'): Difference {
  const ahead = { missing: 1, changed: 0, rewritten: 0 }[done]
  const [key, event] = [number + ahead, through + ahead]
  return { merchantId, event, table: 'seals', key: `${key}`, done, otherEvent: null }
}
