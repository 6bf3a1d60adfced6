import { timestamp } from '../core/ids-and-clock.ts'
import type { ApiKeySummary } from '../modules/merchants/manage-keys.ts'
import { listKeys } from '../modules/merchants/manage-keys.ts'
import { findMerchant } from '../modules/merchants/merchant.ts'
import { createKeyAction, revokeKeyAction, rotateKeyAction } from '../modules/operators/actions/key-actions.ts'
import type { CorridorSum } from '../modules/payout-statistics/read-statistics.ts'
import { readCorridorStatistics } from '../modules/payout-statistics/read-statistics.ts'
import { wallets } from '../modules/wallets/list.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import type { Context } from '../operations/context.ts'
import { createContext } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  copyableId,
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
import { findOwnerNames, itemsTable, withoutMerchant } from './list-page.ts'
import { operatorActionsOn } from './log-page.ts'
import { figureCells } from './payout-figures.ts'
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
        ['Id', copyableId(merchant.id, 'the id')],
        ['Since', timeElement(merchant.createdAt)],
        ['Extended public key for EVM networks', valueOrEmpty(merchant.evmExtendedPublicKey)],
        ['Extended public key for Tron', valueOrEmpty(merchant.tronExtendedPublicKey)],
        [
          'Lists',
          html`${merchantLists.map(([path, name], place) => html`${place > 0 ? ', ' : ''}<a href="${urlFor(path, { merchant: merchant.id })}">${name}</a>`)}`,
        ],
        ['Rates and fees', html`<a href="${urlFor('/prices')}">the same for all merchants</a>`],
      ])}
<h2>Payouts today and in the last 30 days</h2>
${await volumesTable(request, merchant.id)}<h2>API keys</h2>
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
  ['/deposits', 'deposits'],
  ['/customers', 'customers'],
  ['/wallets', 'wallets'],
  ['/payout-methods', 'payout methods'],
  ['/webhooks', 'webhook endpoints'],
  ['/webhooks/deliveries', 'webhook deliveries'],
] as const

const dayMs = 86_400_000
const shownDays = 30

async function volumesTable({ service, urlFor }: PageRequest, merchantId: string): Promise<Html> {
  const today = timestamp(service.wallClock()).slice(0, 10)
  const from = timestamp(service.wallClock() - (shownDays - 1) * dayMs).slice(0, 10)
  const sums = await readCorridorStatistics(service, { from, through: today }, merchantId)
  const sumsOfToday = await readCorridorStatistics(service, { from: today, through: today }, merchantId)
  const pairOf = ({ assetCode, recipientCurrency }: CorridorSum) => `${assetCode} ${recipientCurrency}`
  const rows = [...Map.groupBy(sums, pairOf)].toSorted().map(([pair, ofPair]) => {
    const [asset = '', currency = ''] = pair.split(' ')
    const link = html`<a href="${urlFor('/payouts', { merchant: merchantId, asset, currency })}">${asset} to ${currency}</a>`
    const ofToday = sumsOfToday.filter((sum) => pairOf(sum) === pair)
    return figureCells(link, { sums: ofPair, sumsOfToday: ofToday, shares: [0.5] })
  })
  const numbers = ['Volume today', 'Payouts today', 'Volume, 30 days', 'Payouts', 'Success', 'Median time', 'Fees']
  const empty = 'It has no payout in the last 30 days that is counted.'
  return html`<div class="compact">${table('Payouts by currency', ['Currency', ...numbers.map(numberColumn)], rows, empty)}</div>`
}

async function apiKeysTable({ service, session, actionForm }: PageRequest, merchantId: string): Promise<Html> {
  const now = timestamp(service.now())
  const keyStatus = ({ revokedAt, expiresAt }: ApiKeySummary) =>
    revokedAt !== null ? 'revoked' : expiresAt !== null && expiresAt <= now ? 'expired' : 'live'
  // A merchant may have many revoked or expired API keys, so live API keys come first.
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
  if (slice.items.length === 0) return html`<p class="empty">It has no wallet.</p>`
  return html`${itemsTable({ title: 'Wallets', columns: withoutMerchant(walletColumns) }, request, { items: slice.items, names })}${slicePager(request, slice)}`
}
