import { parseUuid } from '../core/ids-and-clock.ts'
import { findMerchant } from '../modules/merchants/find-merchant.ts'
import { listMerchants } from '../modules/merchants/list-merchants.ts'
import { html } from '../server/pages/html.ts'
import { filterForm, idElement, pager, table, timeElement } from './components.ts'
import type { ConsolePage } from './console-page.ts'

/** All merchants, the oldest first, found by a part of the name or by the id. */
export const merchantsPage: ConsolePage = {
  path: '/merchants',
  render: async (asked) => {
    const { service, query, urlFor: to } = asked
    const uuid = parseUuid((query.name ?? '').trim())
    const { items, next } =
      uuid === null
        ? await listMerchants(service, { name: query.name, after: query.after })
        : { items: [await findMerchant(service.db, uuid)], next: null }
    const rows = items.map((merchant) => [
      html`<a href="${to(`/merchants/${merchant.id}`)}">${merchant.name}</a>`,
      timeElement(merchant.createdAt),
      idElement(merchant.id),
    ])
    return {
      title: 'Merchants',
      body: html`${filterForm(asked, [{ name: 'name', label: 'Name or id', hint: 'a part of the name' }], 'Search')}
${table('Merchants', ['Merchant', 'Since', 'Id'], rows, 'There is no such merchant.')}${pager(asked, { older: next === null ? null : { after: next } })}`,
    }
  },
}
