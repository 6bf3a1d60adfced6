import type { Entry } from '../modules/ledger/entry.ts'
import { entries } from '../modules/ledger/list.ts'
import { walletEntriesOfTransfers } from '../modules/ledger/repository.ts'
import { contextOf } from '../modules/operators/find-merchant-of.ts'
import { getWallet } from '../modules/wallets/get-wallet.ts'
import { reversedAmong } from '../modules/wallets/repository.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { facts, id, link, money, number, orNothing, sliceAsked, slicePager, table, time } from './components.ts'
import type { Asked, ConsolePage } from './console-page.ts'
import { reverseDepositAction } from './deposit-actions.ts'

/** One wallet with its statement. */
export const walletPage: ConsolePage = {
  path: '/wallets/:walletId',
  actions: [reverseDepositAction],
  render: async (asked) => {
    const { service, params, to } = asked
    const walletId = params.walletId ?? ''
    const context = await contextOf(service, 'wallet', walletId)
    const wallet = await getWallet(context, { walletId })
    const slice = await entries.slice(context, { walletId, ...sliceAsked(asked) })
    return {
      title: `Wallet ${wallet.description || wallet.id}`,
      body: html`${facts([
        ['Balance', money(wallet.balance, wallet.currency)],
        ['Merchant', html`<a href="${to(`/merchants/${wallet.merchantId}`)}"><code>${wallet.merchantId}</code></a>`],
        ['Customer', id(wallet.customerId)],
        ['Opened', time(wallet.createdAt)],
        [
          'Addresses',
          html`${wallet.addresses.map(({ network, address }) => html`${network} <code>${address}</code> `)}`,
        ],
        ['Payouts', html`<a href="${to('/payouts', { merchant: wallet.merchantId, wallet: wallet.id })}">from it</a>`],
        ['Id', id(wallet.id)],
      ])}
<h2>Statement</h2>
${entryTable(asked, slice.items)}${slicePager(asked, slice)}
${await reversible(asked, context, slice.items)}`,
    }
  },
}

/** The deposits among some lines that can be reversed, each with the form that does it. */
async function reversible({ form }: Asked, { db, merchantId }: Context, items: readonly Entry[]): Promise<Html> {
  const deposits = items.filter(({ kind, reference }) => kind === 'deposit' && reference !== null)
  const references = deposits.map(({ reference }) => reference ?? '')
  const reversed = new Set((await reversedAmong(db, { merchantId, references })).map(({ reference }) => reference))
  const rows = deposits
    .filter(({ reference }) => !reversed.has(reference ?? ''))
    .map(({ createdAt, amount, assetCode, reference }) => [
      time(createdAt),
      money(amount, assetCode),
      orNothing(reference),
      form(reverseDepositAction, reference ?? ''),
    ])
  const columns = ['When', number('Amount'), 'Reference', 'What can be done']
  if (rows.length === 0) return html``
  return html`<h2>Deposits among these lines</h2>\n${table('Deposits', columns, rows, '')}`
}

/** The lines that some transfers have in a wallet's statement, oldest first. */
export async function entriesTable(
  asked: Asked,
  { db, merchantId }: Context,
  transferIds: readonly string[],
): Promise<Html> {
  const found = await walletEntriesOfTransfers(db, { merchantId, transferIds: [...transferIds] })
  return entryTable(
    asked,
    found.toSorted((one, other) => one.sequence - other.sequence),
  )
}

function entryTable({ to }: Asked, items: readonly Entry[]): Html {
  const rows = items.map((entry) => [
    time(entry.createdAt),
    html`${entry.kind.replace(/_/g, ' ')}`,
    html`${entry.direction}`,
    money(entry.amount, entry.assetCode),
    money(entry.balanceAfter, entry.assetCode),
    entry.payoutId === null ? orNothing(entry.reference) : link(to(`/payouts/${entry.payoutId}`), entry.payoutId),
  ])
  const columns = ['When', 'What', 'Side', number('Amount'), number('Balance after'), 'Cause']
  return table('Statement', columns, rows, 'Nothing has moved.')
}
