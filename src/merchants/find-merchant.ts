import type { Reader } from '../database/query.ts'
import { notFound } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import type { Merchant } from './merchant.ts'
import { merchantById } from './repository.ts'

/** @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none */
export async function findMerchant(db: Reader, merchantId: string): Promise<Merchant> {
  const id = parseUuid(merchantId)
  const merchant = id && (await merchantById(db, { id }))
  if (!merchant) throw notFound('Merchant')
  return merchant
}
