import { AssetTypeEnum } from '../asset-codes/graphql.ts'
import { Customer, customerLoader } from '../customers/graphql.ts'
import { builder } from '../graphql/builder.ts'
import { connectionType, related } from '../graphql/connection.ts'
import { valuesEnum } from '../graphql/enums.ts'
import { localId, localIdOrNull } from '../graphql/global-ids.ts'
import { filterType, listing, listingOfEach } from '../graphql/list-fields.ts'
import { loaderById, loaderOfMany } from '../graphql/loader.ts'
import { addMutation, idempotencyKeyDescription } from '../graphql/mutation.ts'
import { addNodeType, idDescription, Node, nodeId } from '../graphql/node.ts'
import type { Entry } from '../ledger/entry.ts'
import { LedgerEntry, LedgerEntryFilter } from '../ledger/graphql.ts'
import { entries } from '../ledger/list.ts'
import { Merchant } from '../merchants/graphql.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import { createWallet } from './create-wallet.ts'
import { findWalletAddresses, findWalletAddressesByIds } from './find-wallet-addresses.ts'
import { wallets } from './list.ts'
import { simulateDeposit } from './simulate-deposit.ts'
import type { WalletAddress as WalletAddressRow, WalletRow } from './wallet.ts'
import { walletStatuses } from './wallet.ts'

export const WalletStatusEnum = valuesEnum('WalletStatus', walletStatuses, 'Whether a wallet can be used.')

export const WalletAddress = builder.objectRef<WalletAddressRow>('WalletAddress').implement({
  description: 'Where deposits to a stablecoin wallet are sent.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('WalletAddress', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST answers show.' }),
    address: t.exposeString('address', { description: 'The address as it is written on its network.' }),
    network: t.expose('network', { type: NetworkEnum, description: 'The network that it is on.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was given to the wallet.' }),
  }),
})

/** Wallets of one request, by id. */
export const walletLoader = loaderById<WalletRow>(wallets.find)

const addressesLoader = loaderOfMany<WalletAddressRow>(findWalletAddresses, ({ walletId }) => walletId)

export const Wallet = builder.objectRef<WalletRow>('Wallet').implement({
  description: 'Where a balance in one stablecoin or fiat currency is held, for the merchant or for a customer.',
  extensions: { table: 'wallets' },
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('Wallet', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST paths use.' }),
    assetType: t.expose('assetType', { type: AssetTypeEnum, description: 'What kind of money it holds.' }),
    currency: t.exposeString('currency', { description: 'The code of what it holds, such as `USDC`.' }),
    balance: t.expose('balance', { type: 'Amount', description: 'What it holds now.' }),
    description: t.exposeString('description', { description: 'What its owner calls it.' }),
    status: t.expose('status', { type: WalletStatusEnum, description: 'Whether it can be used.' }),
    customer: t.field({
      type: Customer,
      nullable: true,
      description: 'The customer whose it is; null when it is the merchant’s own.',
      ...related(customerLoader, 'customerId'),
    }),
    addresses: t.field({
      type: [WalletAddress],
      description: 'Where deposits are sent, oldest first; none for fiat. A wallet has a handful at most.',
      ...related(addressesLoader, 'id'),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was opened.' }),
    updatedAt: t.expose('updatedAt', {
      type: 'DateTime',
      description: 'When it last changed; a balance is no change.',
    }),
  }),
})

addNodeType('Wallet', walletLoader)
addNodeType('WalletAddress', loaderById<WalletAddressRow>(findWalletAddressesByIds))

const WalletConnection = connectionType<WalletRow>('Wallet', Wallet, 'wallets')
const LedgerEntryConnection = connectionType<Entry>('LedgerEntry', LedgerEntry, "lines of a wallet's statement")

builder.objectField(Wallet, 'ledgerEntries', (t) =>
  t.field({
    type: LedgerEntryConnection,
    description: 'Its statement: every movement of its money, newest first.',
    ...listingOfEach(t, entries, {
      filter: LedgerEntryFilter,
      filterDescription: 'Which lines to list; all without it.',
      slices: entries.slicesOf('wallet'),
    }),
  }),
)

builder.objectField(LedgerEntry, 'wallet', (t) =>
  t.field({
    type: Wallet,
    nullable: true,
    description: 'The wallet whose statement it is a line of.',
    ...related(walletLoader, 'accountId'),
  }),
)

const WalletFilter = filterType('WalletFilter', wallets, {
  description: 'Which wallets: those that every field here lets through.',
})

const OwnedWalletFilter = filterType('OwnedWalletFilter', wallets, {
  description: "Which of an owner's wallets: those that every field here lets through.",
  known: ['owner'],
})

const filterDescription = 'Which wallets to list; all without it.'

builder.queryFields((t) => ({
  wallet: t.field({
    type: Wallet,
    nullable: true,
    description: 'One wallet; null when it does not exist or is not visible.',
    args: { id: t.arg.id({ required: true, description: idDescription('wallet') }) },
    resolve: (_, { id }, context) => {
      const walletId = localIdOrNull('Wallet', id)
      return walletId === null ? null : walletLoader(context).load(walletId)
    },
  }),
  wallets: t.field({
    type: WalletConnection,
    description: 'The wallets of the merchant and of its customers, newest first.',
    ...listing(t, wallets, { filter: WalletFilter, filterDescription }),
  }),
}))

builder.objectField(Merchant, 'wallets', (t) =>
  t.field({
    type: WalletConnection,
    description: "The wallets that the merchant itself owns, no customer's, newest first.",
    ...listing(t, wallets, { filter: OwnedWalletFilter, filterDescription, owner: 'merchant' }),
  }),
)

builder.objectField(Customer, 'wallets', (t) =>
  t.field({
    type: WalletConnection,
    description: 'The wallets that it owns, newest first.',
    ...listingOfEach(t, wallets, {
      filter: OwnedWalletFilter,
      filterDescription,
      slices: wallets.slicesOf('customer'),
    }),
  }),
)

const required = { required: true } as const

const CreateWalletInput = builder.inputType('CreateWalletInput', {
  description: 'A wallet to open.',
  fields: (t) => ({
    currency: t.string({ ...required, description: 'The code of what it will hold, such as `USDC` or `NGN`.' }),
    description: t.string({ ...required, description: 'What to call it, in at most 255 characters.' }),
    customerId: t.id({
      description: "The customer whose it will be; absent for the merchant's own. Global id, or UUID.",
    }),
    network: t.field({
      type: NetworkEnum,
      description: 'The network of its deposit address: required for a stablecoin, absent for fiat.',
    }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('createWallet', {
  description: 'Opens a wallet with a balance of zero; one that holds a stablecoin gets a deposit address.',
  input: CreateWalletInput,
  node: walletLoader,
  run: (context, input) =>
    context.perform(createWallet, context, { ...input, customerId: localId('Customer', input.customerId) }),
  payload: (t) => ({
    wallet: t.field({ type: Wallet, description: 'The new wallet.', resolve: (wallet) => wallet }),
  }),
  errors: [
    'INVALID_INPUT',
    'IDEMPOTENCY_KEY_REUSED',
    'RESOURCE_NOT_FOUND',
    'CUSTOMER_CLOSED',
    'DEPOSIT_ADDRESS_UNAVAILABLE',
  ],
})

const SimulateDepositInput = builder.inputType('SimulateDepositInput', {
  description: 'Money to put into a wallet as if it had arrived from outside.',
  fields: (t) => ({
    walletId: t.id({ ...required, description: idDescription('wallet that gets it') }),
    amount: t.field({ type: 'Amount', ...required, description: 'How much, in the currency of the wallet.' }),
    reference: t.string({
      description:
        'What tells the deposit from others: one reference pays once. Without it every call is another deposit.',
    }),
    idempotencyKey: t.string({ description: idempotencyKeyDescription }),
  }),
})

addMutation('simulateDeposit', {
  description: 'Plays the outside world that sends money to a wallet. In the sandbox only.',
  input: SimulateDepositInput,
  node: null,
  isSandboxOnly: true,
  movesMoney: true,
  run: async (context, input) => {
    const asked = { ...input, walletId: localId('Wallet', input.walletId) }
    const { result, isReplayed } = await context.perform(simulateDeposit, context, asked)
    return { result: { walletId: result.walletId }, isReplayed }
  },
  payload: (t) => ({
    wallet: t.field({
      type: Wallet,
      nullable: true,
      description: 'The wallet with its new balance.',
      resolve: ({ walletId }, _, context) => walletLoader(context).load(walletId),
    }),
  }),
  errors: [
    'INVALID_INPUT',
    'IDEMPOTENCY_KEY_REUSED',
    'RESOURCE_NOT_FOUND',
    'DEPOSIT_REFERENCE_REUSED',
    'BALANCE_LIMIT_EXCEEDED',
  ],
})
