import { hash } from 'node:crypto'
import { setImmediate as nextIteration } from 'node:timers/promises'
import { invalidInput } from '../../core/errors.ts'
import type { Reader } from '../../database/query.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { allMerchants } from '../merchants/repository.ts'
import type { ChainDifference } from './first-difference.ts'
import { findFirstDifference } from './first-difference.ts'
import type { HistoryRow } from './hashed-columns.ts'
import { historyColumns } from './hashed-columns.ts'
import { chainHeadsOfMerchants, latestSeals, sealsAfter, selectHistory, unsealedMerchants } from './repository.ts'
import type { ChainHead, Seal } from './seal.ts'
import { computeSealHash, countEvents, genesisHead, hashRows, maxEventsPerSeal } from './seal.ts'

const findHistory = selectHistory(historyColumns)

const sealBatchSize = 16

/**
 * `heads` are the latest seals of all merchants, and `root` is the hash of `heads`. `unsealed` is the number of events
 * without a seal. `differences` has at most one difference per merchant.
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
  /** Each saved chain head must still be a seal of its merchant. */
  readonly savedHeads?: readonly MerchantChainHead[]
  readonly onProgress?: (done: number, total: number) => void
}

/**
 * Compares all sealed rows with their seals, and each seal with the previous seal. Sealed rows are immutable, so no
 * snapshot is needed.
 */
export async function verifyChain(
  db: Reader,
  { savedHeads = [], onProgress = () => {} }: VerifyChainOptions = {},
): Promise<ChainVerification> {
  const merchants = (await allMerchants(db, {})).map(({ id }) => id)
  const savedByMerchant = new Map(savedHeads.map((head) => [head.merchantId, head]))
  const heads: MerchantChainHead[] = []
  const differences: ChainDifference[] = []
  let [events, unsealed] = [0, 0]
  for (const [i, merchantId] of merchants.entries()) {
    onProgress(i, merchants.length)
    const { head, difference } = await verifyMerchant(db, { merchantId, savedHead: savedByMerchant.get(merchantId) })
    savedByMerchant.delete(merchantId)
    if (head.number > 0) heads.push({ merchantId, number: head.number, hash: head.hash })
    if (difference !== null) differences.push(difference)
    events += head.through
    for (const { latest, through } of await unsealedMerchants(db, { merchantIds: [merchantId] })) {
      unsealed += latest - (through ?? 0)
    }
  }
  onProgress(merchants.length, merchants.length)
  for (const { merchantId } of savedByMerchant.values())
    differences.push(createSealDifference(merchantId, genesisHead, 'missing'))
  const seals = heads.reduce((sum, { number }) => sum + number, 0)
  return { root: computeRoot(heads), heads, seals, events, unsealed, differences }
}

type MerchantVerification = { readonly head: ChainHead; readonly difference: ChainDifference | null }

async function verifyMerchant(
  db: Reader,
  { merchantId, savedHead }: { merchantId: string; savedHead: MerchantChainHead | undefined },
): Promise<MerchantVerification> {
  let head = genesisHead
  for (;;) {
    // If a row was removed, rows of the next seal move into this seal, so the comparison of a seal needs the next seal.
    const seals = await sealsAfter(db, { merchantId, after: head.number, limit: sealBatchSize + 1 })
    const batch = seals.slice(0, sealBatchSize)
    const history = await readHistory(db, { merchantId, seals: batch, previous: head })
    for (const [i, seal] of batch.entries()) {
      const printsAfter = seals[i + 1]?.prints ?? ''
      const difference =
        findSealDifference(seal, head, savedHead) ?? (await findRowDifference(db, seal, { head, history, printsAfter }))
      if (difference !== null) return { head: (await latestSeals(db, { merchantId, limit: 1 }))[0] ?? head, difference }
      head = seal
    }
    if (seals.length <= sealBatchSize) break
    await nextIteration()
  }
  const isTruncated = savedHead !== undefined && savedHead.number > head.number
  return { head, difference: isTruncated ? createSealDifference(merchantId, head, 'missing') : null }
}

async function readHistory(
  db: Reader,
  { merchantId, seals, previous }: { merchantId: string; seals: readonly Seal[]; previous: ChainHead },
): Promise<ReadonlyMap<number, HistoryRow>> {
  const ranges = seals.map((seal, i) => {
    const { through: after } = seals[i - 1] ?? previous
    // If a seal has fewer prints (short hashes) than events, the seal was altered, and the events without prints need
    // not be read.
    return { merchantId, after, through: Math.min(seal.through, after + countEvents(seal.prints)) }
  })
  const rows = await Promise.all(ranges.map((range) => findHistory(db, range)))
  return new Map(rows.flat().map((row) => [row.sequence, row]))
}

function findSealDifference(seal: Seal, head: ChainHead, saved: MerchantChainHead | undefined): ChainDifference | null {
  const { merchantId, number, through, prints } = seal
  if (number !== head.number + 1) return createSealDifference(merchantId, head, 'missing')
  if (countEvents(prints) !== through - head.through || computeSealHash(seal, head) !== seal.hash) {
    return createSealDifference(merchantId, seal, 'changed')
  }
  return saved?.number === number && saved.hash !== seal.hash
    ? createSealDifference(merchantId, seal, 'rewritten')
    : null
}

type CoveredHistory = {
  readonly head: ChainHead
  readonly history: ReadonlyMap<number, HistoryRow>
  readonly printsAfter: string
}

function findRowDifference(db: Reader, seal: Seal, covered: CoveredHistory): Promise<ChainDifference> | null {
  const { head, history, printsAfter } = covered
  const { merchantId, through: after } = seal
  const first = head.through + 1
  const rows = Array.from({ length: after - head.through }, (_, i) => history.get(first + i) ?? null)
  if (hashRows(rows).contents === seal.contents) return null
  const next = findHistory(db, { merchantId, after, through: after + maxEventsPerSeal })
  return Promise.resolve(next).then((rowsAfter) => findFirstDifference({ seal, first, rows, printsAfter, rowsAfter }))
}

function createSealDifference(
  merchantId: string,
  { number, through }: ChainHead,
  done: 'missing' | 'changed' | 'rewritten',
): ChainDifference {
  const offset = { missing: 1, changed: 0, rewritten: 0 }[done]
  const [key, event] = [number + offset, through + offset]
  return { merchantId, event, table: 'seals', key: `${key}`, done, otherEvent: null }
}

/** A chain head that was saved outside of the database reveals any later change of sealed rows up to that seal. */
export type MerchantChainHead = Pick<Seal, 'merchantId' | 'number' | 'hash'>

/** `heads` must be sorted by merchant id. */
export function computeRoot(heads: readonly MerchantChainHead[]): string {
  return hash('sha256', formatHeads(heads), 'hex')
}

export function formatHeads(heads: readonly MerchantChainHead[]): string {
  return heads.map(({ merchantId, number, hash }) => `${merchantId} ${number} ${hash}\n`).join('')
}

const headPattern = /^([0-9a-f-]{36}) ([1-9]\d{0,9}) ([0-9a-f]{64})$/

/** @throws DomainError INVALID_INPUT with the first invalid line */
export function parseHeads(text: string): MerchantChainHead[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line, i) => {
    const [, merchantId, number, hash] = headPattern.exec(line.trimEnd()) ?? []
    if (merchantId !== undefined && hash !== undefined) return { merchantId, number: Number(number), hash }
    const message = `must have a merchant id, a number and a hash in line ${i + 1}`
    throw invalidInput([{ field: 'heads', code: 'INVALID_FORMAT', message }])
  })
}

/** The chain heads are sorted by merchant id. */
export async function findChainHeads(db: Reader): Promise<MerchantChainHead[]> {
  const heads: MerchantChainHead[] = []
  for await (const merchantIds of iterateMerchantIds(db))
    heads.push(...(await chainHeadsOfMerchants(db, { merchantIds })))
  return heads
}
