import { addConnection, filterType } from '../../graphql/schema/connection-fields.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import {
  addField,
  exposeColumn,
  exposeRowAs,
  exposeStrings,
  relatedListField,
  relationField,
} from '../../graphql/schema/fields.ts'
import { optional, optionalId, required, requiredId, requiredTexts } from '../../graphql/schema/inputs.ts'
import { sourceByForeignKey, sourceById, sourceOfList } from '../../graphql/schema/loader.ts'
import { addMutation } from '../../graphql/schema/mutation.ts'
import { addNodeQuery, nodeType } from '../../graphql/schema/node.ts'
import { AssetTypeEnum } from '../asset-codes/graphql.ts'
import { Customer } from '../customers/graphql.ts'
import { LedgerEntry, LedgerEntryFilter } from '../ledger/graphql.ts'
import { entries } from '../ledger/list.ts'
import { Merchant } from '../merchants/graphql.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import { createWallet } from './create-wallet.ts'
import { findWalletAddresses, findWalletAddressesByIds } from './get-wallet.ts'
import { wallets } from './list.ts'
import { simulateDeposit } from './simulate-deposit.ts'
import type { WalletAddress as WalletAddressRow, WalletRow } from './wallet.ts'
import { addressCustodies, newWalletDescriptions, walletDescriptions, walletStatuses } from './wallet.ts'

const WalletStatusEnum = enumType('WalletStatus', walletStatuses, walletDescriptions.status)

const AddressCustodyEnum = enumType('AddressCustody', addressCustodies, walletDescriptions.addressCustody)

const WalletAddress = nodeType<WalletAddressRow>('WalletAddress', {
  description: 'An address for deposits to a stablecoin wallet.',
  source: sourceById(findWalletAddressesByIds),
  fields: {
    uuid: exposeColumn('id', 'The id used in REST responses.', 'UUID'),
    address: exposeColumn('address', walletDescriptions.address),
    network: exposeColumn('network', walletDescriptions.network, NetworkEnum),
    custody: exposeColumn('custody', walletDescriptions.addressCustody, AddressCustodyEnum),
    createdAt: exposeColumn('createdAt', walletDescriptions.addressCreatedAt, 'DateTime'),
  },
})

export const Wallet = nodeType<WalletRow>('Wallet', {
  description: walletDescriptions.wallet,
  source: sourceOfList(wallets),
  fields: {
    uuid: exposeColumn('id', 'The id used in REST paths.', 'UUID'),
    assetType: exposeColumn('assetType', walletDescriptions.assetType, AssetTypeEnum),
    ...exposeStrings({ currency: walletDescriptions.currency, description: walletDescriptions.description }),
    balance: exposeColumn('balance', walletDescriptions.balance, 'Amount'),
    status: exposeColumn('status', walletDescriptions.status, WalletStatusEnum),
    customer: relationField(Customer, 'customerId', walletDescriptions.customer),
    addresses: relatedListField(
      WalletAddress,
      sourceByForeignKey(findWalletAddresses, ({ walletId }) => walletId),
      'The deposit addresses, oldest first, a handful at most; none for fiat.',
    ),
    createdAt: exposeColumn('createdAt', walletDescriptions.createdAt, 'DateTime'),
    updatedAt: exposeColumn('updatedAt', walletDescriptions.updatedAt, 'DateTime'),
  },
})

addField(LedgerEntry, 'wallet', relationField(Wallet, 'walletId', 'The wallet of the entry.'))

addNodeQuery('wallet', Wallet)

const OwnedWalletFilter = filterType('OwnedWalletFilter', wallets, {
  which: "Which of an owner's wallets",
  known: ['owner'],
})

addConnection('wallets', wallets, {
  of: Wallet,
  items: 'wallets',
  places: [
    {
      summary: 'The wallets of the merchant and its customers',
      filter: filterType('WalletFilter', wallets, { which: 'Which wallets' }),
    },
    {
      on: Merchant,
      owner: 'merchant',
      summary: 'The wallets of the merchant itself, without those of customers',
      filter: OwnedWalletFilter,
    },
    { on: Customer, parent: 'customer', summary: 'The wallets of the customer', filter: OwnedWalletFilter },
  ],
})

addConnection('ledgerEntries', entries, {
  of: LedgerEntry,
  items: "lines of a wallet's statement",
  called: 'lines',
  places: [
    {
      on: Wallet,
      parent: 'wallet',
      summary: 'The statement of the wallet: every movement of its money',
      filter: LedgerEntryFilter,
    },
  ],
})

addMutation(createWallet, {
  description: newWalletDescriptions.operation,
  inputDescription: 'The wallet to open.',
  input: {
    ...requiredTexts({ currency: newWalletDescriptions.currency, description: newWalletDescriptions.description }),
    customerId: optionalId('Customer', `${newWalletDescriptions.customerId} Global id or UUID.`),
    network: optional(newWalletDescriptions.network, NetworkEnum),
  },
  payload: { wallet: exposeRowAs(Wallet, 'The new wallet.') },
})

addMutation(simulateDeposit, {
  description: 'Credits a wallet as if money had arrived from outside. In the sandbox only.',
  inputDescription: 'The deposit to simulate.',
  input: {
    walletId: requiredId('Wallet', 'wallet to credit'),
    amount: required('The amount, in the currency of the wallet.', 'Amount'),
    reference: optional('The reference of the deposit, which is credited once. Without it each call is a new deposit.'),
  },
  payload: { wallet: relationField(Wallet, 'walletId', 'The wallet with its new balance.') },
})
