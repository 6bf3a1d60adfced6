import { listDepositAttention } from '../modules/deposits/resolve-deposit.ts'
import { resolveDepositAction } from '../modules/operators/actions/deposit-actions.ts'
import { listAllAttention } from '../modules/rails/attention/list-attention.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  assetAmount,
  idElement,
  numberColumn,
  pager,
  shortIdLink,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'

const maxDeposits = 100

export const attentionPage: ConsolePage = {
  path: '/attention',
  actions: [resolveDepositAction],
  render: async (request) => {
    const { service, query } = request
    const { items, after } = await listAllAttention(service, { limit: 20, after: query.after })
    return {
      title: 'Attention',
      body: html`<p class="faint">A bank or a chain contradicts the books, or its answer is unknown. An operator must decide what happens to the money.</p>
<h2>Payouts</h2>
${attentionPayoutsTable(request, items)}${pager(request, { older: after === null ? null : { after } })}
<h2>Deposits</h2>
${await attentionDepositsTable(request)}`,
    }
  },
}

type AttentionItems = Awaited<ReturnType<typeof listAllAttention>>['items']

export function attentionPayoutsTable({ urlFor }: PageRequest, items: AttentionItems): Html {
  const rows = items.map(({ payoutId, merchantId, since, payoutStatus, rail, cause, reference, actions }) => [
    shortIdLink(urlFor(`/payouts/${payoutId}`), payoutId),
    timeElement(since),
    statusBadge(payoutStatus),
    html`<strong>${rail}</strong>`,
    valueOrEmpty(cause),
    idElement(reference),
    html`${actions.map((action) => action.toLowerCase()).join(', ')}`,
    shortIdLink(urlFor(`/merchants/${merchantId}`), merchantId),
  ])
  const columns = ['Payout', 'Since', 'Status', 'Rail', 'Cause', 'Bank’s reference', 'Possible decisions', 'Merchant']
  return table('Payouts that need attention', columns, rows, 'No payout needs attention.')
}

async function attentionDepositsTable({ service, session, actionForm, urlFor }: PageRequest): Promise<Html> {
  const deposits = await listDepositAttention(service, { limit: maxDeposits })
  const rows = deposits.map((deposit) => [
    idElement(deposit.reference),
    timeElement(deposit.detectedAt),
    assetAmount(deposit.amount, deposit.assetCode),
    html`${deposit.network}`,
    valueOrEmpty(deposit.cause),
    shortIdLink(urlFor(`/wallets/${deposit.walletId}`), deposit.walletId),
    actionForm(resolveDepositAction, deposit.reference),
  ])
  const columns = [
    'Deposit',
    'Seen',
    numberColumn('Amount'),
    'Network',
    'Cause',
    'Wallet',
    session.can('act') && 'Actions',
  ]
  const more =
    deposits.length === maxDeposits ? html`<p class="faint">These are the oldest ${maxDeposits}.</p>` : html``
  return html`${table('Deposits that need attention', columns, rows, 'No deposit needs attention.')}${more}`
}
