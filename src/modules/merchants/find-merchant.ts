import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import type { Reader, Tx } from '../../database/query.ts'
import type { Merchant } from './merchant.ts'
import { lockMerchantById, merchantById } from './repository.ts'

/** @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none */
export async function findMerchant(db: Reader, merchantId: string): Promise<Merchant> {
  const id = parseUuid(merchantId)
  const merchant = id && (await merchantById(db, { id }))
  if (!merchant) throw notFound('Merchant')
  return merchant
}

/**
 * The merchant, for an operation that changes it or its keys: no other does so before the transaction ends.
 *
 * @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none
 */
export async function lockMerchant(tx: Tx, merchantId: string): Promise<Merchant> {
  const id = parseUuid(merchantId)
  const merchant = id && (await lockMerchantById(tx, { id }))
  if (!merchant) throw notFound('Merchant')
  return merchant
}
