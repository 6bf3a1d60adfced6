import { timestamp } from '../core/ids.ts'
import { findMerchant } from '../modules/merchants/find-merchant.ts'
import type { ApiKeySummary } from '../modules/merchants/manage-keys.ts'
import { listKeys } from '../modules/merchants/manage-keys.ts'
import { wallets } from '../modules/wallets/list.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import type { Context } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  facts,
  id,
  money,
  nothing,
  number,
  orNothing,
  sliceAsked,
  slicePager,
  status,
  table,
  time,
} from './components.ts'
import type { Asked, ConsolePage } from './console-page.ts'
import { createKeyAction, revokeKeyAction, rotateKeyAction } from './key-actions.ts'
import { doneTo } from './log-page.ts'
import { endpointsTable } from './webhooks-page.ts'

/** One merchant: its keys, its own wallets and its webhook endpoints. */
export const merchantPage: ConsolePage = {
  path: '/merchants/:merchantId',
  actions: [createKeyAction, rotateKeyAction, revokeKeyAction],
  render: async (asked) => {
    const { service, params, to, form } = asked
    const merchant = await findMerchant(service.db, params.merchantId ?? '')
    const context = createContext(service, merchant.id)
    const endpoints = await webhookEndpoints.slice(context, { first: 100 })
    return {
      title: merchant.name,
      body: html`${facts([
        ['Id', id(merchant.id)],
        ['Since', time(merchant.createdAt)],
        ['Key of its addresses on EVM networks', orNothing(merchant.evmExtendedPublicKey)],
        ['Key of its addresses on Tron', orNothing(merchant.tronExtendedPublicKey)],
        ['Payouts', html`<a href="${to('/payouts', { merchant: merchant.id })}">its payouts</a>`],
      ])}
<h2>API keys</h2>
${await keys(asked, merchant.id)}<div class="actions">${form(createKeyAction)}${form(rotateKeyAction)}</div>
<h2>Wallets</h2>
${await walletsOf(asked, context)}
<h2>Webhook endpoints</h2>
${endpointsTable(asked, endpoints.items, 'It has no webhook endpoint.')}
${await doneTo(service, merchant.id)}`,
    }
  },
}

async function keys({ service, form }: Asked, merchantId: string): Promise<Html> {
  const now = timestamp(service.now())
  const stateOf = ({ revokedAt, expiresAt }: ApiKeySummary) =>
    revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now ? 'expired' : 'live'
  // Those that work first: of the others there may be many.
  const found = (await listKeys(service, merchantId)).toSorted(
    (one, other) => Number(stateOf(other) === 'live') - Number(stateOf(one) === 'live'),
  )
  const shown = found.slice(0, 200)
  const rows = shown.map((key) => [
    id(key.id),
    status(stateOf(key)),
    key.scopes === null ? html`everything` : html`${key.scopes.join(', ')}`,
    time(key.createdAt),
    key.lastUsedAt === null ? html`<span class="faint">never</span>` : time(key.lastUsedAt),
    time(key.revokedAt ?? key.expiresAt),
    orNothing(key.networks?.join(', ')),
    stateOf(key) === 'live' ? form(revokeKeyAction, key.id) : nothing,
  ])
  const columns = ['Key', 'State', 'May do', 'Made', 'Last used', 'Ends or ended', 'From', 'What can be done']
  const more =
    found.length > shown.length ? html`<p class="faint">${found.length - shown.length} more have ended.</p>` : html``
  return html`${table('API keys', columns, rows, 'It has no key.')}${more}`
}

async function walletsOf(asked: Asked, context: Context): Promise<Html> {
  const { to } = asked
  const slice = await wallets.slice(context, { ...sliceAsked(asked), owner: 'any' })
  const rows = slice.items.map(({ id, currency, balance, description, customerId, createdAt }) => [
    html`<a href="${to(`/wallets/${id}`)}" title="${id}">${description || id}</a>`,
    money(balance, currency),
    customerId === null
      ? html`the merchant`
      : html`customer <code title="${customerId}">…${customerId.slice(-12)}</code>`,
    time(createdAt),
  ])
  return html`${table('Wallets', ['Wallet', number('Balance'), 'Whose', 'Opened'], rows, 'It has no wallet.')}${slicePager(asked, slice)}`
}
