import { getCustomer } from '../modules/customers/get-customer.ts'
import { customerName } from '../modules/operators/list-rows.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { payoutMethods } from '../modules/payout-methods/list.ts'
import { payouts } from '../modules/payouts/list.ts'
import { payoutStatuses } from '../modules/payouts/payout.ts'
import { newestPayoutsByStatus } from '../modules/payouts/repository.ts'
import { wallets } from '../modules/wallets/list.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { copyableId, descriptionList, statusBadge, timeElement, valueOrEmpty } from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import type { ListColumn } from './list-page.ts'
import { findOwnerNames, itemsTable } from './list-page.ts'
import { operatorActionsOn } from './log-page.ts'
import { payoutMethodColumns } from './payout-methods-page.ts'
import { payoutColumns } from './payouts-page.ts'
import { walletColumns } from './wallets-page.ts'

const shownCount = 10
const maxCountedPayouts = 500

export const customerPage: ConsolePage = {
  path: '/customers/:customerId',
  render: async (request) => {
    const { service, params, urlFor } = request
    const customerId = params.customerId ?? ''
    const context = await createOwnerContext(service, 'customer', customerId)
    const customer = await getCustomer(context, { customerId })
    const names = await findOwnerNames(service, [{ merchantId: context.merchantId, customerId: customer.id }])
    const merchantUrl = urlFor(`/merchants/${context.merchantId}`)
    const { addressLine1, addressLine2, city, state, postalCode, country } = customer
    const address = [addressLine1, addressLine2, [postalCode, city].filter(Boolean).join(' '), state, country]
    const owned = { owner: { customerId: customer.id }, first: shownCount } as const
    const section = <Item extends OwnedItem>(spec: OwnedList<Item>) => ownedSection(request, { customer, names }, spec)
    return {
      title: customerName(customer) || customer.id,
      body: html`${descriptionList([
        ['Status', statusBadge(customer.status)],
        ['Type', html`${customer.customerType}`],
        ['Merchant', html`<a href="${merchantUrl}">${names.get(context.merchantId) ?? context.merchantId}</a>`],
        ['Email', valueOrEmpty(customer.email)],
        ['Phone', valueOrEmpty(customer.phone)],
        ['Address', valueOrEmpty(address.filter(Boolean).join(', '))],
        ['Date of birth', valueOrEmpty(customer.birthDate?.slice(0, 10))],
        ['Payouts', await payoutCounts(request, context, customer.id)],
        ['Created', timeElement(customer.createdAt)],
        ['Updated', timeElement(customer.updatedAt)],
        ['Id', copyableId(customer.id, 'the id')],
      ])}
${section({ title: 'Wallets', path: '/wallets', columns: walletColumns, ...(await wallets.slice(context, owned)) })}
${section({ title: 'Payout methods', path: '/payout-methods', columns: payoutMethodColumns, ...(await payoutMethods.slice(context, owned)) })}
${section({ title: 'Payouts', path: '/payouts', columns: payoutColumns, ...(await payouts.slice(context, owned)) })}
${await operatorActionsOn(service, customer.id)}`,
    }
  },
}

async function payoutCounts({ urlFor }: PageRequest, context: Context, customerId: string): Promise<Html> {
  const { db, merchantId } = context
  const rows = await newestPayoutsByStatus(db, { merchantId, customerId, limit: maxCountedPayouts })
  const counts = new Map(rows.map(({ status, rowCount }) => [status, Number(rowCount)]))
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return html`none`
  const links = payoutStatuses.flatMap((status) => {
    const href = urlFor('/payouts', { merchant: merchantId, customer: customerId, status })
    const count = counts.get(status)
    return count === undefined ? [] : [html`<a href="${href}">${count} ${status.toLowerCase()}</a>`]
  })
  const note = total === maxCountedPayouts ? html` <span class="faint">of the newest ${total}</span>` : ''
  return html`${links.map((link, place) => (place === 0 ? link : html` · ${link}`))}${note}`
}

type OwnedItem = { readonly id: string; readonly merchantId: string; readonly createdAt: string }

type OwnedList<Item> = {
  readonly title: string
  readonly path: string
  readonly columns: readonly ListColumn<Item>[]
  readonly items: readonly Item[]
  readonly hasNextPage: boolean
}

type NamedCustomer = {
  readonly customer: { readonly id: string; readonly merchantId: string }
  readonly names: ReadonlyMap<string, string>
}

function ownedSection<Item extends OwnedItem>(
  request: PageRequest,
  { customer, names }: NamedCustomer,
  { title, path, columns, items, hasNextPage }: OwnedList<Item>,
): Html {
  const shown = columns.filter(({ names }) => names === undefined)
  const all = request.urlFor(path, { merchant: customer.merchantId, customer: customer.id })
  const more = hasNextPage ? html`<p><a href="${all}">All ${title.toLowerCase()}</a></p>` : ''
  const none = html`<p class="empty">The customer has no ${title.toLowerCase()}.</p>`
  return html`<h2>${title}</h2>
${items.length === 0 ? none : itemsTable({ title, columns: shown }, request, { items, names })}${more}`
}
