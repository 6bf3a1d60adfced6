import type { OwnerFilter } from '../lists/filters.ts'
import type { Slice, SliceableList } from '../lists/slice.ts'
import { getCustomer } from '../modules/customers/get-customer.ts'
import { customers } from '../modules/customers/list.ts'
import { deposits } from '../modules/deposits/list.ts'
import type { Entry } from '../modules/ledger/entry.ts'
import { entries } from '../modules/ledger/list.ts'
import { walletEntriesOfTransfers } from '../modules/ledger/repository.ts'
import { parseWholeNumber } from '../modules/operators/actions/action-declaration.ts'
import { activateWalletAction, suspendWalletAction } from '../modules/operators/actions/wallet-actions.ts'
import { findPayoutAcrossMerchants } from '../modules/operators/find-payout.ts'
import { listAcrossMerchants } from '../modules/operators/list-across-merchants.ts'
import { customerRow, depositRow, payoutRow, startOfDay, walletRow } from '../modules/operators/list-rows.ts'
import { createOwnerContext } from '../modules/operators/owner-context.ts'
import { payouts } from '../modules/payouts/list.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { findPayoutEvents, findRailOrders, findTimelines } from '../modules/payouts/payout-timeline.ts'
import { getWallet } from '../modules/wallets/get-wallet.ts'
import { wallets } from '../modules/wallets/list.ts'
import type { Context } from '../operations/context.ts'
import type { Command, CommandTable, OptionValues } from './command.ts'
import { actionCommands, findMerchantContext, wordAt } from './command.ts'
import { customerColumns, depositColumns, payoutColumns, statementColumns, walletColumns } from './list-columns.ts'

const shownEntryCount = 10

const createdOptions = {
  'created-from': ['date or time', 'created at this time or later'],
  'created-before': ['date or time', 'created earlier than this time'],
} as const
const merchantOwnedFlag = { own: 'leave out those of customers' }

export const sliceOptions = {
  limit: ['number', 'how many to show'],
  after: ['cursor', 'continue after this "next" of an earlier list'],
} as const
export const sliceFieldNames = { first: '--limit' }

/** Operators may see account numbers. */
export const listCommands: CommandTable = {
  'customer list': listCommand({
    noun: 'customers',
    summary: 'List customers, newest first.',
    options: { status: ['status', 'active or closed'], type: ['type', 'individual or business'] },
    names: { customerType: '--type' },
    list: customers,
    filtersOf: ({ status, type }) => ({ status: status as 'active', customerType: type as 'individual' }),
    row: customerRow,
    columns: customerColumns,
  }),
  'customer show': {
    changes: 'nothing',
    summary: 'Show a customer.',
    words: ['customer id'],
    run: async (service, words) => {
      const customerId = wordAt(words, 0)
      const context = await createOwnerContext(service, 'customer', customerId)
      const { sequence: _, ...customer } = await getCustomer(context, { customerId })
      return customer
    },
  },
  'wallet list': listCommand({
    noun: 'wallets',
    summary: 'List wallets, newest first.',
    options: {
      customer: ['customer id', 'of this customer only'],
      status: ['status', 'active or suspended'],
      type: ['type', 'fiat or stablecoin'],
      currency: 'code',
    },
    flags: merchantOwnedFlag,
    names: { owner: '--customer', assetType: '--type' },
    list: wallets,
    filtersOf: (options) => ({
      owner: ownerFilter(options),
      status: options.status as 'active',
      assetType: options.type?.toUpperCase() as 'FIAT',
      currency: options.currency,
    }),
    row: walletRow,
    columns: walletColumns,
  }),
  'wallet show': {
    changes: 'nothing',
    summary: 'Show a wallet. Includes its addresses and latest entries.',
    words: ['wallet id'],
    columns: { network: { priority: 0 }, address: { priority: 0 }, ...statementColumns },
    run: async (service, words) => {
      const walletId = wordAt(words, 0)
      const context = await createOwnerContext(service, 'wallet', walletId)
      const { sequence: _, ownerSequence: __, ...wallet } = await getWallet(context, { walletId })
      const { items } = await entries.slice(context, { walletId, first: shownEntryCount })
      return { ...wallet, entries: items.map(entryRow) }
    },
  },
  ...actionCommands(suspendWalletAction, activateWalletAction),
  'deposit list': listCommand({
    noun: 'deposits',
    summary: 'List credited deposits, newest first.',
    options: { customer: ['customer id', 'of this customer only'], asset: 'code' },
    flags: merchantOwnedFlag,
    names: { owner: '--customer', assetCode: '--asset' },
    list: deposits,
    filtersOf: (options) => ({ owner: ownerFilter(options), assetCode: options.asset }),
    row: depositRow,
    columns: depositColumns,
  }),
  'payout list': listCommand({
    noun: 'payouts',
    summary: 'List payouts, newest first.',
    options: {
      customer: ['customer id', 'of this customer only'],
      wallet: ['wallet id', 'from this wallet only'],
      status: ['status', 'processing, completed, failed or returned'],
      asset: 'code',
      currency: 'code',
    },
    flags: merchantOwnedFlag,
    names: { owner: '--customer', walletId: '--wallet', assetCode: '--asset', recipientCurrency: '--currency' },
    list: payouts,
    filtersOf: (options) => ({
      owner: ownerFilter(options),
      walletId: options.wallet,
      status: options.status?.toUpperCase() as 'FAILED',
      assetCode: options.asset,
      recipientCurrency: options.currency,
    }),
    row: payoutRow,
    columns: payoutColumns,
  }),
  'payout show': {
    changes: 'nothing',
    summary:
      'Show a payout. The payout can be given by its id, transaction id, reference id or idempotency key. Includes its events and its entries in the ledger.',
    words: ['payout'],
    columns: { ...statementColumns, cause: { isWrapped: true } },
    run: async (service, words) => {
      const { context, payout: found } = await findPayoutAcrossMerchants(service, wordAt(words, 0))
      const { db, merchantId } = context
      // A payout's row also contains a checksum, which the type `Payout` omits.
      const row: Payout & { checksum?: unknown } = found
      const { sequence: _, fingerprint: __, checksum: ___, ...payout } = row
      const events = await findPayoutEvents(context, [payout.id])
      const transferIds = [payout, ...events].map(({ transferId }) => transferId)
      const ledgerEntries = await walletEntriesOfTransfers(db, { merchantId, transferIds })
      const railOrders = await findRailOrders(context, [payout.referenceId])
      const railOrderOf = (orderId: string) => railOrders.get(orderId) ?? null
      const timelines = await findTimelines(context, [payout], async () => railOrderOf)
      const rail = railOrderOf(payout.referenceId)?.rail ?? null
      return {
        ...payout,
        rail,
        timeline: timelines.get(payout.id) ?? [],
        events: events.map(({ status, createdAt, cause }) => ({ status, createdAt, cause })),
        entries: ledgerEntries.toSorted((one, other) => one.sequence - other.sequence).map(entryRow),
      }
    },
  },
}

type MerchantRow = { readonly id: string; readonly merchantId: string; readonly createdAt: string }

type ListCommandSpec<Input extends object, Item extends MerchantRow> = Pick<
  Command,
  'summary' | 'options' | 'flags' | 'names' | 'columns'
> & {
  readonly noun: string
  readonly list: SliceableList<Context, Input, Item>
  readonly filtersOf: (options: OptionValues) => Partial<Input>
  readonly row: (item: Item) => object
}

export function listCommand<Input extends object, Item extends MerchantRow>({
  noun,
  list,
  filtersOf,
  row,
  ...command
}: ListCommandSpec<Input, Item>): Command {
  return {
    ...command,
    changes: 'nothing',
    options: {
      merchant: ['merchant id', 'of this merchant only'],
      ...command.options,
      ...createdOptions,
      ...sliceOptions,
    },
    names: { ...sliceFieldNames, ...command.names },
    run: async (service, _, options) => {
      const rowOf = (item: Item) => ({ ...row(item), merchantId: item.merchantId })
      const filter = { ...filtersOf(options), ...createdFilter(options) } as Input
      const context = await findMerchantContext(service, options)
      if (context) return listResult(noun, await list.slice(context, { ...filter, ...sliceArgs(options) }), rowOf)
      const { items, total, next } = await listAcrossMerchants(service, { list, filter }, sliceArgs(options))
      return { [noun]: items.map(rowOf), total, next }
    },
  }
}

/** `next` is the value of the option `--after` for the next part of the list. */
export async function listResult<Item>(noun: string, slice: Slice<Item>, row: (item: Item) => object) {
  const last = slice.items.at(-1)
  const next = slice.hasNextPage && last !== undefined ? slice.cursorOf(last) : null
  return { [noun]: slice.items.map(row), total: await slice.total(), next }
}

export function sliceArgs({ limit, after }: OptionValues) {
  return { first: limit === undefined ? undefined : parseWholeNumber('limit', limit), after }
}

function createdFilter(options: OptionValues) {
  return { createdFrom: startOfDay(options['created-from']), createdBefore: startOfDay(options['created-before']) }
}

function ownerFilter({ customer, own }: OptionValues): OwnerFilter {
  if (own !== undefined) return 'merchant'
  return customer === undefined ? 'any' : { customerId: customer }
}

function entryRow({ createdAt, kind, direction, amount, balanceAfter, payoutId, reference, transferId }: Entry) {
  return { createdAt, kind, direction, amount, balanceAfter, payoutId, reference, transferId }
}
