import type { Context, Service } from '../context.ts'
import { createContext } from '../context.ts'
import { merchantOfCustomer } from '../customers/repository.ts'
import type { Reader } from '../database/query.ts'
import { notFound } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import { merchantOfPayout } from '../payouts/repository.ts'
import { merchantOfWallet } from '../wallets/repository.ts'
import { merchantOfWebhookEndpoint } from '../webhooks/repository.ts'

const finders = {
  customer: { noun: 'Customer', find: merchantOfCustomer },
  payout: { noun: 'Payout', find: merchantOfPayout },
  wallet: { noun: 'Wallet', find: merchantOfWallet },
  webhook: { noun: 'Webhook endpoint', find: merchantOfWebhookEndpoint },
} as const

/**
 * A request in the name of the merchant that a thing belongs to, for an operator who names only the thing.
 *
 * @throws Refusal RESOURCE_NOT_FOUND
 */
export async function contextOf(service: Service, thing: keyof typeof finders, id: string): Promise<Context> {
  const { noun, find } = finders[thing]
  const uuid = parseUuid(id)
  const merchant =
    uuid &&
    (await (find as (db: Reader, p: { id: string }) => Promise<{ id: string } | null>)(service.db, { id: uuid }))
  if (!merchant) throw notFound(noun)
  return createContext(service, merchant.id)
}
