import { meaningOf } from '../core/api/enum-descriptions.ts'
import { resolutions } from '../modules/deposits/chain-deposit.ts'
import { listDepositAttention, resolveDeposit } from '../modules/deposits/resolve-deposit.ts'
import { listAllAttention } from '../modules/rails/attention/list-attention.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { id, link, money, number, orNothing, pager, status, table, time } from './components.ts'
import type { Action, Asked, ConsolePage } from './console-page.ts'

const mostDeposits = 100

const resolveAction: Action = {
  name: 'deposit resolve',
  title: 'Decide',
  text: 'Says what becomes of the money; the reason stays with the deposit.',
  fields: [
    {
      name: 'action',
      label: 'Decision',
      options: resolutions.map((each) => [each, `${each}: ${meaningOf(resolutions, each)}`]),
    },
  ],
  subject: ({ target }) => target,
  run: async (service, { target, given, reason }) => {
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
${payoutsInAttention(asked, items)}${pager(asked, { older: after === null ? null : { after } })}
<h2>Deposits</h2>
${await deposits(asked)}`,
    }
  },
}

type Items = Awaited<ReturnType<typeof listAllAttention>>['items']

export function payoutsInAttention({ to }: Asked, items: Items): Html {
  const rows = items.map(({ payoutId, merchantId, since, payoutStatus, rail, cause, reference, actions }) => [
    link(to(`/payouts/${payoutId}`), payoutId),
    time(since),
    status(payoutStatus),
    html`<strong>${rail}</strong>`,
    orNothing(cause),
    orNothing(reference),
    html`${actions.map((action) => action.toLowerCase()).join(', ')}`,
    link(to(`/merchants/${merchantId}`), merchantId),
  ])
  const columns = ['Payout', 'Since', 'Status', 'Rail', 'Why', 'Bank’s reference', 'Can be done', 'Merchant']
  return table('Payouts that need a person', columns, rows, 'No payout needs a person.')
}

async function deposits({ service, form, to }: Asked): Promise<Html> {
  const found = await listDepositAttention(service, { limit: mostDeposits })
  const rows = found.map((deposit) => [
    id(deposit.reference),
    time(deposit.detectedAt),
    money(deposit.amount, deposit.assetCode),
    html`${deposit.network}`,
    orNothing(deposit.cause),
    link(to(`/wallets/${deposit.walletId}`), deposit.walletId),
    form(resolveAction, deposit.reference),
  ])
  const columns = ['Deposit', 'Seen', number('Amount'), 'Network', 'Why', 'Wallet', 'What can be done']
  const more = found.length === mostDeposits ? html`<p class="faint">These are the oldest ${mostDeposits}.</p>` : html``
  return html`${table('Deposits that need a person', columns, rows, 'No deposit needs a person.')}${more}`
}
