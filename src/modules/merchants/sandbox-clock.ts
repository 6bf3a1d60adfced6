import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { clockOfMerchant } from './repository.ts'

/** A request in the name of a merchant, by its own clock: for what the service does by itself. */
export async function createMerchantContext(service: Service, merchantId: string): Promise<Context> {
  // Only in the sandbox is a clock moved.
  if (service.mode !== 'sandbox') return createContext(service, merchantId)
  const clock = await clockOfMerchant(service.db, { id: merchantId })
  return createContext(service, merchantId, null, Number(clock?.aheadMs ?? 0))
}
