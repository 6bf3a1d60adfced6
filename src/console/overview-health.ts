import { countRecentOrders, maxRecentOrders } from '../modules/rails/orders/recent-orders.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { emptyValue, numberColumn, table } from './components.ts'
import type { PageRequest } from './console-page.ts'
import { groupThousands } from './phrases.ts'

const dayMs = 86_400_000

export async function recentOrdersTable({ service, urlFor }: PageRequest): Promise<Html> {
  const recent = await countRecentOrders(service, { forMs: dayMs })
  const total = recent.reduce((sum, each) => sum + each.total, 0)
  const rows = recent.map(({ rail, total, count }) => {
    const [paid, rejected] = [count('COMPLETED', 'RETURNED'), count('REJECTED')]
    const success = paid + rejected === 0 ? emptyValue : html`${((100 * paid) / (paid + rejected)).toFixed(1)} %`
    const counts = [paid, rejected, count('RETURNED'), count('CANCELLED'), count('ATTENTION')]
    const open = count('QUEUED', 'SUBMITTING', 'UNKNOWN', 'ACCEPTED')
    const cells = [total, ...counts, open].map((each) => (each === 0 ? emptyValue : html`${groupThousands(each)}`))
    return [html`<a href="${urlFor('/rails', { rail })}"><strong>${rail}</strong></a>`, ...cells, success]
  })
  const names = ['Orders', 'Paid', 'Rejected', 'Returned', 'Cancelled', 'Attention', 'Open', 'Success']
  const caption = 'Orders of the last 24 hours by rail'
  return html`<h3>${caption}${total === maxRecentOrders ? html` <small class="faint">the newest ${groupThousands(total)}</small>` : ''}</h3>
<div class="compact">${table(caption, ['Rail', ...names.map(numberColumn)], rows, 'No order was created in the last 24 hours.')}</div>`
}
