import { parseUuid } from '../core/ids-and-clock.ts'
import { listMerchants } from '../modules/merchants/list-merchants.ts'
import { findMerchant } from '../modules/merchants/merchant.ts'
import { merchantById, merchantsAfter } from '../modules/merchants/repository.ts'
import type { Context } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import { html } from '../server/pages/html.ts'
import type { ListFilter } from './components.ts'
import { filterForm, idElement, pager, table, timeElement } from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'

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
      body: html`${filterForm(request, [{ name: 'name', label: 'Name or id', hint: 'a part of the name', size: 30 }], { button: 'Search' })}
${table('Merchants', ['Merchant', 'Since', 'Id'], rows, 'There is no such merchant.')}${pager(request, { older: next === null ? null : { after: next } })}`,
    }
  },
}

/** If there are more merchants than `maxChoices`, the merchant filter is a text field instead of a list. */
const maxChoices = 200

type MerchantChoice = {
  readonly context: Context | null
  readonly filter: ListFilter
  readonly isUnknown: boolean
}

export async function chooseMerchant({
  service,
  query,
}: Pick<PageRequest, 'service' | 'query'>): Promise<MerchantChoice> {
  const merchants = await merchantsAfter(service.db, { after: '', limit: maxChoices + 1 })
  const isSelect = merchants.length <= maxChoices
  const options = merchants.map(({ id, name }) => [id, name] as const)
  const filter = { name: 'merchant', label: 'Merchant', ...(isSelect ? { options } : { hint: 'id' }) }
  const chosen = query.merchant?.trim()
  const id = chosen ? parseUuid(chosen) : merchants.length === 1 ? (merchants[0]?.id ?? null) : null
  const merchant = id === null ? null : await merchantById(service.db, { id })
  const context = merchant ? createContext(service, merchant.id) : null
  return { context, filter, isUnknown: Boolean(chosen) && context === null }
}
