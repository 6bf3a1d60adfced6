import { hash } from 'node:crypto'
import { invalidInput } from '../../core/errors.ts'
import type { Reader } from '../../database/query.ts'
import { everyMerchantId } from '../merchants/iterate-merchants.ts'
import { headsOf } from './repository.ts'
import type { Seal } from './seal.ts'

/** The latest seal of a merchant: whoever has it knows whether all that it covers is still as it was. */
export type MerchantHead = Pick<Seal, 'merchantId' | 'number' | 'hash'>

/** One hash for the heads of all merchants, who are in the order of their ids: the SHA-256 of their text. */
export function rootOf(heads: readonly MerchantHead[]): string {
  return hash('sha256', textOfHeads(heads), 'hex')
}

/** A line for each merchant. */
export function textOfHeads(heads: readonly MerchantHead[]): string {
  return heads.map(({ merchantId, number, hash }) => `${merchantId} ${number} ${hash}\n`).join('')
}

const headForm = /^([0-9a-f-]{36}) ([1-9]\d{0,9}) ([0-9a-f]{64})$/

/** The heads of such a text. @throws Refusal INVALID_INPUT that names the first line that is none */
export function headsIn(text: string): MerchantHead[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line, place) => {
    const [, merchantId, number, hash] = headForm.exec(line.trimEnd()) ?? []
    if (merchantId !== undefined && hash !== undefined) return { merchantId, number: Number(number), hash }
    const message = `must have a merchant id, a number and a hash in line ${place + 1}`
    throw invalidInput([{ field: 'heads', code: 'INVALID_FORMAT', message }])
  })
}

/** The heads of all merchants that have one, in the order of their ids. */
export async function findHeads(db: Reader): Promise<MerchantHead[]> {
  const heads: MerchantHead[] = []
  for await (const merchantIds of everyMerchantId(db)) heads.push(...(await headsOf(db, { merchantIds })))
  return heads
}
