import type { Context } from '../../operations/context.ts'
import { findMerchant } from './find-merchant.ts'
import type { Merchant } from './merchant.ts'

/** The merchant that asks. */
export function getMerchant({ db, merchantId }: Context): Promise<Merchant> {
  return findMerchant(db, merchantId)
}
