import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { invalidInput } from '../../core/errors.ts'
import type { Reader } from '../../database/query.ts'
import { iterateMerchantIds } from '../merchants/iterate-merchants.ts'
import { allMerchants } from '../merchants/repository.ts'
import type { ChainDifference } from './first-difference.ts'
import { findFirstDifference } from './first-difference.ts'
import type { HistoryRow } from './hashed-columns.ts'
import { chainHeadsOfMerchants, findHistory, latestSeals, sealsAfter, unsealedMerchants } from './repository.ts'
import type { ChainHead, Seal } from './seal.ts'
import { computeSealHash, countEvents, genesisHead, hashRows, maxEventsPerSeal } from './seal.ts'

/** Seals that are looked at together: their events are what is held in memory. */
const sealBatchSize = 16

/**
 * What history is against its seals. `heads` are the latest seals of all merchants and `root` is one hash for them; `unsealed`
 * counts events that no seal covers yet; `differences` has the first row that differs of each merchant with one.
 */
export type ChainVerification = {
  readonly root: string
  readonly heads: readonly MerchantChainHead[]
  readonly seals: number
  readonly events: number
  readonly unsealed: number
  readonly differences: readonly ChainDifference[]
}

type VerifyChainOptions = {
  /** Heads that were kept elsewhere: each must be a seal of its merchant still. */
  readonly savedHeads?: readonly MerchantChainHead[]
  /** Told how many merchants were looked at, of how many. */
  readonly onProgress?: (done: number, total: number) => void
}

/**
 * Holds everything that is sealed against its seals, one merchant after another, and the seals against each other.
 *
 * What is sealed never changes, so it needs no snapshot, and holds up nobody beside it.
 */
export async function verifyChain(
  db: Reader,
  { savedHeads: kept = [], onProgress = () => {} }: VerifyChainOptions = {},
): Promise<ChainVerification> {
  const merchants = (await allMerchants(db, {})).map(({ id }) => id)
  const keptOf = new Map(kept.map((head) => [head.merchantId, head]))
  const heads: MerchantChainHead[] = []
  const differences: ChainDifference[] = []
  let [events, unsealed] = [0, 0]
  for (const [place, merchantId] of merchants.entries()) {
    onProgress(place, merchants.length)
    const { head, difference } = await verifyMerchant(db, { merchantId, kept: keptOf.get(merchantId) })
    keptOf.delete(merchantId)
    if (head.number > 0) heads.push({ merchantId, number: head.number, hash: head.hash })
    if (difference !== null) differences.push(difference)
    events += head.through
    for (const { latest, through } of await unsealedMerchants(db, { merchantIds: [merchantId] })) {
      unsealed += latest - (through ?? 0)
    }
  }
  onProgress(merchants.length, merchants.length)
  for (const { merchantId } of keptOf.values())
    differences.push(createSealDifference(merchantId, genesisHead, 'missing'))
  const seals = heads.reduce((sum, { number }) => sum + number, 0)
  return { root: computeRoot(heads), heads, seals, events, unsealed, differences }
}

type MerchantVerification = { readonly head: ChainHead; readonly difference: ChainDifference | null }

/** Ends at the first row that differs; the head is the latest seal all the same. */
async function verifyMerchant(
  db: Reader,
  { merchantId, kept }: { merchantId: string; kept: MerchantChainHead | undefined },
): Promise<MerchantVerification> {
  let head = genesisHead
  for (;;) {
    // One more than is looked at: what a removed row was followed by may be in the next.
    const seals = await sealsAfter(db, { merchantId, after: head.number, limit: sealBatchSize + 1 })
    const looked = seals.slice(0, sealBatchSize)
    const history = await readHistory(db, { merchantId, seals: looked, before: head })
    for (const [place, seal] of looked.entries()) {
      const printsAfter = seals[place + 1]?.prints ?? ''
      const difference =
        findSealDifference(seal, head, kept) ?? (await findRowDifference(db, seal, { head, history, printsAfter }))
      if (difference !== null) return { head: (await latestSeals(db, { merchantId, limit: 1 }))[0] ?? head, difference }
      head = seal
    }
    if (seals.length <= sealBatchSize) break
    // Whoever else there is has a turn.
    await nextTurn()
  }
  const isCut = kept !== undefined && kept.number > head.number
  return { head, difference: isCut ? createSealDifference(merchantId, head, 'missing') : null }
}

/** The events that some seals say they cover, by their numbers, all read at once. */
async function readHistory(
  db: Reader,
  { merchantId, seals, before }: { merchantId: string; seals: readonly Seal[]; before: ChainHead },
): Promise<ReadonlyMap<number, HistoryRow>> {
  const stretches = seals.map((seal, place) => {
    const { through: after } = seals[place - 1] ?? before
    // A seal that says more than it has prints of is found without its rows.
    return { merchantId, after, through: Math.min(seal.through, after + countEvents(seal.prints)) }
  })
  const rows = await Promise.all(stretches.map((stretch) => findHistory(db, stretch)))
  return new Map(rows.flat().map((row) => [row.sequence, row]))
}

/** What is wrong with a seal itself. */
function findSealDifference(seal: Seal, head: ChainHead, kept: MerchantChainHead | undefined): ChainDifference | null {
  const { merchantId, number, through, prints } = seal
  if (number !== head.number + 1) return createSealDifference(merchantId, head, 'missing')
  if (countEvents(prints) !== through - head.through || computeSealHash(seal, head) !== seal.hash) {
    return createSealDifference(merchantId, seal, 'changed')
  }
  return kept?.number === number && kept.hash !== seal.hash ? createSealDifference(merchantId, seal, 'rewritten') : null
}

type CoveredHistory = {
  readonly head: ChainHead
  readonly history: ReadonlyMap<number, HistoryRow>
  readonly printsAfter: string
}

/** What is wrong with the rows that it covers; where nothing is it asks for no more. */
function findRowDifference(db: Reader, seal: Seal, covered: CoveredHistory): Promise<ChainDifference> | null {
  const { head, history, printsAfter } = covered
  const { merchantId, through: after } = seal
  const first = head.through + 1
  const rows = Array.from({ length: after - head.through }, (_, place) => history.get(first + place) ?? null)
  if (hashRows(rows).contents === seal.contents) return null
  const next = findHistory(db, { merchantId, after, through: after + maxEventsPerSeal })
  return Promise.resolve(next).then((rowsAfter) => findFirstDifference({ seal, first, rows, printsAfter, rowsAfter }))
}

/** A difference of a seal; of one that is missing, the one before it is known. */
function createSealDifference(
  merchantId: string,
  { number, through }: ChainHead,
  done: 'missing' | 'changed' | 'rewritten',
): ChainDifference {
  const ahead = { missing: 1, changed: 0, rewritten: 0 }[done]
  const [key, event] = [number + ahead, through + ahead]
  return { merchantId, event, table: 'seals', key: `${key}`, done, otherEvent: null }
}

/** The latest seal of a merchant: whoever has it knows whether all that it covers is still as it was. */
export type MerchantChainHead = Pick<Seal, 'merchantId' | 'number' | 'hash'>

/** One hash for the heads of all merchants, who are in the order of their ids: the SHA-256 of their text. */
export function computeRoot(heads: readonly MerchantChainHead[]): string {
  return hash('sha256', formatHeads(heads), 'hex')
}

/** A line for each merchant. */
export function formatHeads(heads: readonly MerchantChainHead[]): string {
  return heads.map(({ merchantId, number, hash }) => `${merchantId} ${number} ${hash}\n`).join('')
}

const headPattern = /^([0-9a-f-]{36}) ([1-9]\d{0,9}) ([0-9a-f]{64})$/

/** The heads of such a text. @throws Refusal INVALID_INPUT that names the first line that is none */
export function parseHeads(text: string): MerchantChainHead[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line, place) => {
    const [, merchantId, number, hash] = headPattern.exec(line.trimEnd()) ?? []
    if (merchantId !== undefined && hash !== undefined) return { merchantId, number: Number(number), hash }
    const message = `must have a merchant id, a number and a hash in line ${place + 1}`
    throw invalidInput([{ field: 'heads', code: 'INVALID_FORMAT', message }])
  })
}

/** The heads of all merchants that have one, in the order of their ids. */
export async function findChainHeads(db: Reader): Promise<MerchantChainHead[]> {
  const heads: MerchantChainHead[] = []
  for await (const merchantIds of iterateMerchantIds(db))
    heads.push(...(await chainHeadsOfMerchants(db, { merchantIds })))
  return heads
}
