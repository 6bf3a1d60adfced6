import { hash } from 'node:crypto'
import type { Reader } from '../database/query.ts'
import { merchantIdsAfter } from '../merchants/repository.ts'
import { headsOf } from './repository.ts'
import type { Seal } from './seal.ts'

/** The latest seal of a merchant: whoever has it knows whether all that it covers is still as it was. */
export type MerchantHead = Pick<Seal, 'merchantId' | 'number' | 'hash'>

const merchantsAtOnce = 500

/** One hash for the heads of all merchants, who are in the order of their ids. */
export function rootOf(heads: readonly MerchantHead[]): string {
  return hash(
    'sha256',
    heads.map(({ merchantId, number, hash }) => `${merchantId} ${number} ${hash}\n`).join(''),
    'hex',
  )
}

/** The heads of all merchants that have one, in the order of their ids. */
export async function findHeads(db: Reader): Promise<MerchantHead[]> {
  const heads: MerchantHead[] = []
  for (let after = ''; ; ) {
    const merchantIds = (await merchantIdsAfter(db, { after, limit: merchantsAtOnce })).map(({ id }) => id)
    heads.push(...(await headsOf(db, { merchantIds })))
    if (merchantIds.length < merchantsAtOnce) return heads
    after = merchantIds.at(-1) as string
  }
}
