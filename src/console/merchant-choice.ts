import { findMerchant } from '../modules/merchants/find-merchant.ts'
import { listMerchants } from '../modules/merchants/list-merchants.ts'
import type { Merchant } from '../modules/merchants/merchant.ts'
import type { Context } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { PageRequest } from './console-page.ts'

/** So many merchants are chosen from a list; of more, one is named by its id. */
const maxChoices = 100

/** Whose list is shown, and how another merchant is chosen. */
export type MerchantChoice = {
  /** A request in the merchant's name; `null` until one is chosen. */
  readonly context: Context | null
  readonly filter: {
    readonly name: 'merchant'
    readonly label: string
    readonly options?: readonly (readonly [string, string])[]
    readonly hint?: string
  }
}

/** The merchant that a page is asked for, or the only one there is. @throws Refusal RESOURCE_NOT_FOUND */
export async function chooseMerchant({
  service,
  query,
}: Pick<PageRequest, 'service' | 'query'>): Promise<MerchantChoice> {
  const { items, next } = await listMerchants(service, { limit: maxChoices })
  const options = items.map(({ id, name }: Merchant) => [id, name] as const)
  const filter = { name: 'merchant', label: 'Merchant', ...(next === null ? { options } : { hint: 'id' }) } as const
  if (query.merchant) {
    const { id } = await findMerchant(service.db, query.merchant.trim())
    return { context: createContext(service, id), filter }
  }
  const [only] = items
  return { context: only && items.length === 1 ? createContext(service, only.id) : null, filter }
}
