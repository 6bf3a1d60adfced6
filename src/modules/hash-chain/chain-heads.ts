import { hash } from 'node:crypto'
import { invalidInput } from '../../core/errors.ts'
import type { Reader } from '../../database/query.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { chainHeadsOfMerchants } from './repository.ts'
import type { Seal } from './seal.ts'

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
