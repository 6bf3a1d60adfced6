import type { Entry } from '../modules/ledger/entry.ts'
import { entries } from '../modules/ledger/list.ts'
import { walletEntriesOfTransfers } from '../modules/ledger/repository.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { getWallet } from '../modules/wallets/get-wallet.ts'
import { reversedDepositReferences } from '../modules/wallets/repository.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  assetAmount,
  descriptionList,
  idElement,
  numberColumn,
  shortIdLink,
  sliceArgs,
  slicePager,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { reverseDepositAction } from './deposit-actions.ts'

/** One wallet with its statement. */
export const walletPage: ConsolePage = {
  path: '/wallets/:walletId',
  actions: [reverseDepositAction],
  render: async (asked) => {
    const { service, params, urlFor: to } = asked
    const walletId = params.walletId ?? ''
    const context = await createOwnerContext(service, 'wallet', walletId)
    const wallet = await getWallet(context, { walletId })
    const slice = await entries.slice(context, { walletId, ...sliceArgs(asked) })
    return {
      title: `Wallet ${wallet.description || wallet.id}`,
      body: html`${descriptionList([
        ['Balance', assetAmount(wallet.balance, wallet.currency)],
        ['Merchant', html`<a href="${to(`/merchants/${wallet.merchantId}`)}"><code>${wallet.merchantId}</code></a>`],
        ['Customer', idElement(wallet.customerId)],
        ['Opened', timeElement(wallet.createdAt)],
        [
          'Addresses',
          html`${wallet.addresses.map(({ network, address }) => html`${network} <code>${address}</code> `)}`,
        ],
        ['Payouts', html`<a href="${to('/payouts', { merchant: wallet.merchantId, wallet: wallet.id })}">from it</a>`],
        ['Id', idElement(wallet.id)],
      ])}
<h2>Statement</h2>
${statementLinesTable(asked, slice.items)}${slicePager(asked, slice)}
${await reversibleDepositsSection(asked, context, slice.items)}`,
    }
  },
}

/** The deposits among some lines that can be reversed, each with the form that does it. */
async function reversibleDepositsSection(
  { actionForm: form }: PageRequest,
  { db, merchantId }: Context,
  items: readonly Entry[],
): Promise<Html> {
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
      form(reverseDepositAction, reference ?? ''),
    ])
  const columns = ['When', numberColumn('Amount'), 'Reference', 'What can be done']
  if (rows.length === 0) return html``
  return html`<h2>Deposits among these lines</h2>\n${table('Deposits', columns, rows, '')}`
}

/** The lines that some transfers have in a wallet's statement, oldest first. */
export async function transferEntriesTable(
  asked: PageRequest,
  { db, merchantId }: Context,
  transferIds: readonly string[],
): Promise<Html> {
  const found = await walletEntriesOfTransfers(db, { merchantId, transferIds: [...transferIds] })
  return statementLinesTable(
    asked,
    found.toSorted((one, other) => one.sequence - other.sequence),
  )
}

function statementLinesTable({ urlFor: to }: PageRequest, items: readonly Entry[]): Html {
  const rows = items.map((entry) => [
    timeElement(entry.createdAt),
    html`${entry.kind.replace(/_/g, ' ')}`,
    html`${entry.direction}`,
    assetAmount(entry.amount, entry.assetCode),
    assetAmount(entry.balanceAfter, entry.assetCode),
    entry.payoutId === null
      ? valueOrEmpty(entry.reference)
      : shortIdLink(to(`/payouts/${entry.payoutId}`), entry.payoutId),
  ])
  const columns = ['When', 'What', 'Side', numberColumn('Amount'), numberColumn('Balance after'), 'Cause']
  return table('Statement', columns, rows, 'Nothing has moved.')
}
