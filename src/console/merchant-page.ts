import { timestamp } from '../core/ids-and-clock.ts'
import type { ApiKeySummary } from '../modules/merchants/manage-keys.ts'
import { listKeys } from '../modules/merchants/manage-keys.ts'
import { findMerchant } from '../modules/merchants/merchant.ts'
import { createKeyAction, revokeKeyAction, rotateKeyAction } from '../modules/operators/actions/key-actions.ts'
import { wallets } from '../modules/wallets/list.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import type { Context } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  descriptionList,
  emptyValue,
  idElement,
  sliceArgs,
  slicePager,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { findOwnerNames, itemsTable } from './list-page.ts'
import { operatorActionsOn } from './log-page.ts'
import { walletColumns } from './wallets-page.ts'
import { endpointsTable } from './webhooks-page.ts'

export const merchantPage: ConsolePage = {
  path: '/merchants/:merchantId',
  actions: [createKeyAction, rotateKeyAction, revokeKeyAction],
  render: async (request) => {
    const { service, params, urlFor, actionForm } = request
    const merchant = await findMerchant(service.db, params.merchantId ?? '')
    const context = createContext(service, merchant.id)
    const endpoints = await webhookEndpoints.slice(context, { first: 100 })
    return {
      title: merchant.name,
      body: html`${descriptionList([
        ['Id', idElement(merchant.id)],
        ['Since', timeElement(merchant.createdAt)],
        ['Extended public key for EVM networks', valueOrEmpty(merchant.evmExtendedPublicKey)],
        ['Extended public key for Tron', valueOrEmpty(merchant.tronExtendedPublicKey)],
        [
          'Lists',
          html`${merchantLists.map(([path, name]) => html`<a href="${urlFor(path, { merchant: merchant.id })}">${name}</a> `)}`,
        ],
      ])}
<h2>API keys</h2>
${await apiKeysTable(request, merchant.id)}<div class="actions">${actionForm(createKeyAction)}${actionForm(rotateKeyAction)}</div>
<h2>Wallets</h2>
${await walletsSection(request, context)}
<h2>Webhook endpoints</h2>
${await endpointsTable(request, endpoints.items, 'It has no webhook endpoint.')}
${await operatorActionsOn(service, merchant.id)}`,
    }
  },
}

const merchantLists = [
  ['/payouts', 'payouts'],
  ['/customers', 'customers'],
  ['/wallets', 'wallets'],
  ['/payout-methods', 'payout methods'],
] as const

async function apiKeysTable({ service, session, actionForm }: PageRequest, merchantId: string): Promise<Html> {
  const now = timestamp(service.now())
  const keyStatus = ({ revokedAt, expiresAt }: ApiKeySummary) =>
    revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now ? 'expired' : 'live'
  // Live keys first, because there may be many others.
  const keys = (await listKeys(service, merchantId)).toSorted(
    (one, other) => Number(keyStatus(other) === 'live') - Number(keyStatus(one) === 'live'),
  )
  const shownKeys = keys.slice(0, 200)
  const rows = shownKeys.map((key) => [
    idElement(key.id),
    statusBadge(keyStatus(key)),
    key.scopes === null ? html`everything` : html`${key.scopes.join(', ')}`,
    timeElement(key.createdAt),
    key.lastUsedAt === null ? html`<span class="faint">never</span>` : timeElement(key.lastUsedAt),
    timeElement(key.revokedAt ?? key.expiresAt),
    valueOrEmpty(key.networks?.join(', ')),
    keyStatus(key) === 'live' ? actionForm(revokeKeyAction, key.id) : emptyValue,
  ])
  const columns = [
    'Key',
    'State',
    'Scopes',
    'Created',
    'Last used',
    'Ends or ended',
    'From',
    session.can('act') && 'Actions',
  ]
  const more =
    keys.length > shownKeys.length
      ? html`<p class="faint">${keys.length - shownKeys.length} more have ended.</p>`
      : html``
  return html`${table('API keys', columns, rows, 'It has no key.')}${more}`
}

async function walletsSection(request: PageRequest, context: Context): Promise<Html> {
  const slice = await wallets.slice(context, { ...sliceArgs(request), owner: 'any' })
  const names = await findOwnerNames(request.service, slice.items)
  const columns = walletColumns.filter((column) => column.names !== 'merchant')
  if (slice.items.length === 0) return html`<p class="empty">It has no wallet.</p>`
  return html`${itemsTable({ title: 'Wallets', columns }, request, { items: slice.items, names })}${slicePager(request, slice)}`
}
