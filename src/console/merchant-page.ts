import { timestamp } from '../core/ids-and-clock.ts'
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
  assetAmount,
  descriptionList,
  emptyValue,
  idElement,
  numberColumn,
  sliceArgs,
  slicePager,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { createKeyAction, revokeKeyAction, rotateKeyAction } from './key-actions.ts'
import { operatorActionsOn } from './log-page.ts'
import { endpointsTable } from './webhooks-page.ts'

/** One merchant: its keys, its own wallets and its webhook endpoints. */
export const merchantPage: ConsolePage = {
  path: '/merchants/:merchantId',
  actions: [createKeyAction, rotateKeyAction, revokeKeyAction],
  render: async (asked) => {
    const { service, params, urlFor: to, actionForm: form } = asked
    const merchant = await findMerchant(service.db, params.merchantId ?? '')
    const context = createContext(service, merchant.id)
    const endpoints = await webhookEndpoints.slice(context, { first: 100 })
    return {
      title: merchant.name,
      body: html`${descriptionList([
        ['Id', idElement(merchant.id)],
        ['Since', timeElement(merchant.createdAt)],
        ['Key of its addresses on EVM networks', valueOrEmpty(merchant.evmExtendedPublicKey)],
        ['Key of its addresses on Tron', valueOrEmpty(merchant.tronExtendedPublicKey)],
        ['Payouts', html`<a href="${to('/payouts', { merchant: merchant.id })}">its payouts</a>`],
      ])}
<h2>API keys</h2>
${await apiKeysTable(asked, merchant.id)}<div class="actions">${form(createKeyAction)}${form(rotateKeyAction)}</div>
<h2>Wallets</h2>
${await walletsTable(asked, context)}
<h2>Webhook endpoints</h2>
${endpointsTable(asked, endpoints.items, 'It has no webhook endpoint.')}
${await operatorActionsOn(service, merchant.id)}`,
    }
  },
}

async function apiKeysTable({ service, actionForm: form }: PageRequest, merchantId: string): Promise<Html> {
  const now = timestamp(service.now())
  const keyStatus = ({ revokedAt, expiresAt }: ApiKeySummary) =>
    revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now ? 'expired' : 'live'
  // Those that work first: of the others there may be many.
  const found = (await listKeys(service, merchantId)).toSorted(
    (one, other) => Number(keyStatus(other) === 'live') - Number(keyStatus(one) === 'live'),
  )
  const shown = found.slice(0, 200)
  const rows = shown.map((key) => [
    idElement(key.id),
    statusBadge(keyStatus(key)),
    key.scopes === null ? html`everything` : html`${key.scopes.join(', ')}`,
    timeElement(key.createdAt),
    key.lastUsedAt === null ? html`<span class="faint">never</span>` : timeElement(key.lastUsedAt),
    timeElement(key.revokedAt ?? key.expiresAt),
    valueOrEmpty(key.networks?.join(', ')),
    keyStatus(key) === 'live' ? form(revokeKeyAction, key.id) : emptyValue,
  ])
  const columns = ['Key', 'State', 'May do', 'Made', 'Last used', 'Ends or ended', 'From', 'What can be done']
  const more =
    found.length > shown.length ? html`<p class="faint">${found.length - shown.length} more have ended.</p>` : html``
  return html`${table('API keys', columns, rows, 'It has no key.')}${more}`
}

async function walletsTable(asked: PageRequest, context: Context): Promise<Html> {
  const { urlFor: to } = asked
  const slice = await wallets.slice(context, { ...sliceArgs(asked), owner: 'any' })
  const rows = slice.items.map(({ id, currency, balance, description, customerId, createdAt }) => [
    html`<a href="${to(`/wallets/${id}`)}" title="${id}">${description || id}</a>`,
    assetAmount(balance, currency),
    customerId === null
      ? html`the merchant`
      : html`customer <code title="${customerId}">…${customerId.slice(-12)}</code>`,
    timeElement(createdAt),
  ])
  return html`${table('Wallets', ['Wallet', numberColumn('Balance'), 'Whose', 'Opened'], rows, 'It has no wallet.')}${slicePager(asked, slice)}`
}
