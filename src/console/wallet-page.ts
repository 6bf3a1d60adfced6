import { timestamp } from '../core/ids-and-clock.ts'
import { findBalancesBefore } from '../modules/exports/daily-balances.ts'
import type { Entry } from '../modules/ledger/entry.ts'
import { entries } from '../modules/ledger/list.ts'
import type { ActionDeclaration } from '../modules/operators/actions/action-declaration.ts'
import { reverseDepositAction } from '../modules/operators/actions/deposit-actions.ts'
import { activateWalletAction, suspendWalletAction } from '../modules/operators/actions/wallet-actions.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { getWallet } from '../modules/wallets/get-wallet.ts'
import { depositByReference, reversedDepositReferences } from '../modules/wallets/repository.ts'
import type { WalletStatus } from '../modules/wallets/wallet.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { chartValue, compactNumber, lineChart } from './charts.ts'
import {
  assetAmount,
  copyableId,
  descriptionList,
  numberColumn,
  shortIdLink,
  sliceArgs,
  slicePager,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { findOwnerNames, merchantLink, ownerLink } from './list-page.ts'
import { operatorActionsOn } from './log-page.ts'

export const walletPage: ConsolePage = {
  path: '/wallets/:walletId',
  actions: [reverseDepositAction, suspendWalletAction, activateWalletAction],
  confirmationFacts: async ({ service, params: { walletId = '' } }, reference) => {
    const context = await createOwnerContext(service, 'wallet', walletId)
    const { balance, currency } = await getWallet(context, { walletId })
    const deposit = await depositByReference(context.db, { merchantId: context.merchantId, reference })
    return [
      ['Deposit', html`${reference}`],
      ['Amount', assetAmount(deposit?.amount ?? null, currency)],
      ['Credited', timeElement(deposit?.createdAt ?? null)],
      ['Balance of the wallet now', assetAmount(balance, currency)],
    ]
  },
  render: async (request) => {
    const { service, session, params, actionForm, urlFor } = request
    const walletId = params.walletId ?? ''
    const context = await createOwnerContext(service, 'wallet', walletId)
    const wallet = await getWallet(context, { walletId })
    const names = await findOwnerNames(service, [wallet])
    const slice = await entries.slice(context, { walletId, ...sliceArgs(request) })
    return {
      title: `Wallet ${wallet.description || wallet.id}`,
      body: html`${descriptionList([
        ['Status', statusBadge(wallet.status)],
        ['Balance', assetAmount(wallet.balance, wallet.currency)],
        ['Merchant', merchantLink(wallet, { urlFor, names, now: service.now() })],
        ['Owner', ownerLink(wallet, { urlFor, names, now: service.now() })],
        ['Opened', timeElement(wallet.createdAt)],
        [
          'Addresses',
          html`${wallet.addresses.map(({ network, address }) => html`${network} ${copyableId(address, `the ${network} address`)} `)}`,
        ],
        [
          'Payouts',
          html`<a href="${urlFor('/payouts', { merchant: wallet.merchantId, wallet: wallet.id })}">from this wallet</a>`,
        ],
        ['Id', copyableId(wallet.id, 'the id')],
      ])}
${session.can('act') ? html`<h2>Actions</h2>\n<div class="actions">${actionForm(statusActions[wallet.status])}</div>\n` : ''}${await balanceChart(request, context, wallet)}<h2>Statement</h2>
${entriesTable(request, slice.items)}${slicePager(request, slice)}
${await reversibleDepositsSection(request, context, slice.items)}${await operatorActionsOn(service, wallet.id)}`,
    }
  },
}

const statusActions: Readonly<Record<WalletStatus, ActionDeclaration>> = {
  active: suspendWalletAction,
  suspended: activateWalletAction,
}

const dayMs = 86_400_000
const shownDays = 30

async function balanceChart(
  { service }: PageRequest,
  context: Context,
  { id, currency }: { readonly id: string; readonly currency: string },
): Promise<Html> {
  const today = Math.floor(service.wallClock() / dayMs) * dayMs
  const starts = Array.from({ length: shownDays }, (_, place) => today - (shownDays - 1 - place) * dayMs)
  const ends = starts.map((start) => timestamp(start + dayMs))
  const balances = await findBalancesBefore(context, id, ends)
  if (balances.every(({ balance }) => balance === 0n)) return html``
  const values = balances.map(({ balance }) => chartValue(balance))
  const latest = compactNumber(values.at(-1) ?? 0)
  const chart = lineChart({
    id: 'balance',
    title: 'Balance',
    description: `The balance at the end of each of the last ${shownDays} days in ${currency}. Today: ${latest}.`,
    days: starts.map((start) => timestamp(start).slice(0, 10)),
    series: [{ name: currency, style: 'accent', values }],
    format: compactNumber,
  })
  return html`<div class="charts">${chart}</div>\n`
}

async function reversibleDepositsSection(
  { session, actionForm }: PageRequest,
  { db, merchantId }: Context,
  items: readonly Entry[],
): Promise<Html> {
  if (!session.can('act')) return html``
  const deposits = items.filter(({ kind, reference }) => kind === 'deposit' && reference !== null)
  const references = deposits.map(({ reference }) => reference ?? '')
  const reversed = new Set(
    (await reversedDepositReferences(db, { merchantId, references })).map(({ reference }) => reference),
  )
  const rows = deposits
    .filter(({ reference }) => !reversed.has(reference ?? ''))
    .map(({ createdAt, amount, assetCode, reference }) => [
      timeElement(createdAt),
      assetAmount(amount, assetCode),
      valueOrEmpty(reference),
      actionForm(reverseDepositAction, reference ?? ''),
    ])
  const columns = ['Time', numberColumn('Amount'), 'Reference', 'Actions']
  if (rows.length === 0) return html``
  return html`<h2>Deposits among these entries</h2>\n${table('Deposits', columns, rows, '')}`
}

export function entriesTable({ urlFor }: PageRequest, items: readonly Entry[]): Html {
  const rows = items.map((entry) => [
    timeElement(entry.createdAt),
    html`${entry.kind.replace(/_/g, ' ')}`,
    html`${entry.direction}`,
    assetAmount(entry.amount, entry.assetCode),
    assetAmount(entry.balanceAfter, entry.assetCode),
    entry.payoutId === null
      ? valueOrEmpty(entry.reference)
      : shortIdLink(urlFor(`/payouts/${entry.payoutId}`), entry.payoutId),
  ])
  const columns = ['Time', 'Kind', 'Direction', numberColumn('Amount'), numberColumn('Balance after'), 'Reference']
  return table('Statement', columns, rows, 'There are no entries.')
}
