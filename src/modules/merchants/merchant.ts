import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import type { Reader, Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { clockOfMerchant, lockMerchantById, merchantById } from './repository.ts'

export type Merchant = RowOf<'merchants'>

/** @throws DomainError RESOURCE_NOT_FOUND, also for a malformed id */
export async function findMerchant(db: Reader, merchantId: string): Promise<Merchant> {
  const id = parseUuid(merchantId)
  const merchant = id && (await merchantById(db, { id }))
  if (!merchant) throw notFound('Merchant')
  return merchant
}

/** @throws DomainError RESOURCE_NOT_FOUND, also for a malformed id */
export async function lockMerchant(tx: Tx, merchantId: string): Promise<Merchant> {
  const id = parseUuid(merchantId)
  const merchant = id && (await lockMerchantById(tx, { id }))
  if (!merchant) throw notFound('Merchant')
  return merchant
}

export function getMerchant({ db, merchantId }: Context): Promise<Merchant> {
  return findMerchant(db, merchantId)
}

export async function createMerchantContext(service: Service, merchantId: string): Promise<Context> {
  if (service.mode !== 'sandbox') return createContext(service, merchantId)
  const clock = await clockOfMerchant(service.db, { id: merchantId })
  return createContext(service, merchantId, null, Number(clock?.aheadMs ?? 0))
}
