import { parseUuid } from '../core/ids-and-clock.ts'
import { listMerchants } from '../modules/merchants/list-merchants.ts'
import type { Merchant } from '../modules/merchants/merchant.ts'
import { findMerchant } from '../modules/merchants/merchant.ts'
import type { Context } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import { html } from '../server/pages/html.ts'
import { filterForm, idElement, pager, table, timeElement } from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'

/** All merchants, oldest first, searchable by id or a part of the name. */
export const merchantsPage: ConsolePage = {
  path: '/merchants',
  render: async (request) => {
    const { service, query, urlFor } = request
    const uuid = parseUuid((query.name ?? '').trim())
    const { items, next } =
      uuid === null
        ? await listMerchants(service, { name: query.name, after: query.after })
        : { items: [await findMerchant(service.db, uuid)], next: null }
    const rows = items.map((merchant) => [
      html`<a href="${urlFor(`/merchants/${merchant.id}`)}">${merchant.name}</a>`,
      timeElement(merchant.createdAt),
      idElement(merchant.id),
    ])
    return {
      title: 'Merchants',
      body: html`${filterForm(request, [{ name: 'name', label: 'Name or id', hint: 'a part of the name' }], 'Search')}
${table('Merchants', ['Merchant', 'Since', 'Id'], rows, 'There is no such merchant.')}${pager(request, { older: next === null ? null : { after: next } })}`,
    }
  },
}

/** With more merchants, the filter takes an id instead of a choice from a list. */
const maxChoices = 100

type MerchantChoice = {
  /** `null` if no merchant is selected. */
  readonly context: Context | null
  readonly filter: {
    readonly name: 'merchant'
    readonly label: string
    readonly options?: readonly (readonly [string, string])[]
    readonly hint?: string
  }
}

/** Selects the merchant of the query, or the only merchant. @throws DomainError RESOURCE_NOT_FOUND */
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
