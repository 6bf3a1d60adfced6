import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import type { Reader, Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { clockOfMerchant, lockMerchantById, merchantById } from './repository.ts'

/** Who holds customers, wallets and keys; `evmExtendedPublicKey` and `tronExtendedPublicKey` derive its addresses. */
export type Merchant = RowOf<'merchants'>

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

/** The merchant that asks. */
export function getMerchant({ db, merchantId }: Context): Promise<Merchant> {
  return findMerchant(db, merchantId)
}

/** A request in the name of a merchant, by its own clock: for what the service does by itself. */
export async function createMerchantContext(service: Service, merchantId: string): Promise<Context> {
  // Only in the sandbox is a clock moved.
  if (service.mode !== 'sandbox') return createContext(service, merchantId)
  const clock = await clockOfMerchant(service.db, { id: merchantId })
  return createContext(service, merchantId, null, Number(clock?.aheadMs ?? 0))
}
