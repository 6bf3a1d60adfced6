import { enumDescription } from '../core/api/enum-descriptions.ts'
import { resolutions } from '../modules/deposits/chain-deposit.ts'
import { listDepositAttention, resolveDeposit } from '../modules/deposits/resolve-deposit.ts'
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
import type { ConsoleAction, ConsolePage, PageRequest } from './console-page.ts'

const maxDeposits = 100

const resolveAction: ConsoleAction = {
  name: 'deposit resolve',
  title: 'Decide',
  text: 'Says what becomes of the money; the reason stays with the deposit.',
  fields: [
    {
      name: 'action',
      label: 'Decision',
      options: resolutions.map((each) => [each, `${each}: ${enumDescription(resolutions, each)}`]),
    },
  ],
  subject: ({ target }) => target,
  run: async (service, { target, values: given, reason }) => {
    await resolveDeposit(service, { reference: target, action: given.action as 'credit', reason })
    return undefined
  },
}

/** What a person must look at, of all merchants, the oldest first. */
export const attentionPage: ConsolePage = {
  path: '/attention',
  actions: [resolveAction],
  render: async (asked) => {
    const { service, query } = asked
    const { items, after } = await listAllAttention(service, { limit: 20, after: query.after })
    return {
      title: 'Attention',
      body: html`<p class="faint">A bank contradicts itself, or nothing can be known: what becomes of the money is for a person to say.</p>
<h2>Payouts</h2>
${attentionPayoutsTable(asked, items)}${pager(asked, { older: after === null ? null : { after } })}
<h2>Deposits</h2>
${await attentionDepositsTable(asked)}`,
    }
  },
}

type AttentionItems = Awaited<ReturnType<typeof listAllAttention>>['items']

export function attentionPayoutsTable({ urlFor: to }: PageRequest, items: AttentionItems): Html {
  const rows = items.map(({ payoutId, merchantId, since, payoutStatus, rail, cause, reference, actions }) => [
    shortIdLink(to(`/payouts/${payoutId}`), payoutId),
    timeElement(since),
    statusBadge(payoutStatus),
    html`<strong>${rail}</strong>`,
    valueOrEmpty(cause),
    valueOrEmpty(reference),
    html`${actions.map((action) => action.toLowerCase()).join(', ')}`,
    shortIdLink(to(`/merchants/${merchantId}`), merchantId),
  ])
  const columns = ['Payout', 'Since', 'Status', 'Rail', 'Why', 'Bank’s reference', 'Can be done', 'Merchant']
  return table('Payouts that need a person', columns, rows, 'No payout needs a person.')
}

async function attentionDepositsTable({ service, actionForm: form, urlFor: to }: PageRequest): Promise<Html> {
  const found = await listDepositAttention(service, { limit: maxDeposits })
  const rows = found.map((deposit) => [
    idElement(deposit.reference),
    timeElement(deposit.detectedAt),
    assetAmount(deposit.amount, deposit.assetCode),
    html`${deposit.network}`,
    valueOrEmpty(deposit.cause),
    shortIdLink(to(`/wallets/${deposit.walletId}`), deposit.walletId),
    form(resolveAction, deposit.reference),
  ])
  const columns = ['Deposit', 'Seen', numberColumn('Amount'), 'Network', 'Why', 'Wallet', 'What can be done']
  const more = found.length === maxDeposits ? html`<p class="faint">These are the oldest ${maxDeposits}.</p>` : html``
  return html`${table('Deposits that need a person', columns, rows, 'No deposit needs a person.')}${more}`
}
