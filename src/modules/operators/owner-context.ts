import { invalidInput, notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import type { Reader } from '../../database/query.ts'
import type { Context, Service } from '../../operations/context.ts'
import { merchantOfCustomer } from '../customers/repository.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { createMerchantContext, findMerchant } from '../merchants/merchant.ts'
import { merchantOfPayout } from '../payouts/repository.ts'
import { depositByReference, merchantOfWallet } from '../wallets/repository.ts'
import { merchantOfWebhookEndpoint } from '../webhooks/endpoints/repository.ts'

/**
 * @param merchant the merchant's id, required if several merchants have a deposit with this reference
 * @throws DomainError RESOURCE_NOT_FOUND; INVALID_INPUT with the merchants if several merchants have a deposit with
 *   this reference
 */
export async function createDepositOwnerContext(
  service: Service,
  { reference, merchant }: { readonly reference: string; readonly merchant: string | undefined },
): Promise<Context> {
  if (merchant !== undefined) return createMerchantContext(service, (await findMerchant(service.db, merchant)).id)
  const merchantsWithDeposit: string[] = []
  for await (const merchantIds of iterateMerchantIds(service.db)) {
    const deposits = await Promise.all(
      merchantIds.map((merchantId) => depositByReference(service.db, { merchantId, reference: reference.trim() })),
    )
    merchantsWithDeposit.push(...deposits.flatMap((deposit) => deposit?.merchantId ?? []))
  }
  const [only, ...others] = merchantsWithDeposit
  if (only === undefined) throw notFound('Deposit')
  if (others.length === 0) return createMerchantContext(service, only)
  const message = `is required, because several merchants have a deposit ${reference}: ${merchantsWithDeposit.join(', ')}`
  throw invalidInput([{ field: 'merchant', code: 'MISSING_REQUIRED_FIELD', message }])
}

const ownerFinders = {
  customer: { noun: 'Customer', find: merchantOfCustomer },
  payout: { noun: 'Payout', find: merchantOfPayout },
  wallet: { noun: 'Wallet', find: merchantOfWallet },
  webhook: { noun: 'Webhook endpoint', find: merchantOfWebhookEndpoint },
} as const

/** @throws DomainError RESOURCE_NOT_FOUND */
export async function createOwnerContext(
  service: Service,
  type: keyof typeof ownerFinders,
  id: string,
): Promise<Context> {
  const { noun, find } = ownerFinders[type]
  const uuid = parseUuid(id)
  const merchant =
    uuid &&
    (await (find as (db: Reader, p: { id: string }) => Promise<{ id: string } | null>)(service.db, { id: uuid }))
  if (!merchant) throw notFound(noun)
  return createMerchantContext(service, merchant.id)
}
