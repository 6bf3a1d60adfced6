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
import { walletStatuses } from './wallet.ts'

const WalletStatusEnum = enumType('WalletStatus', walletStatuses, 'Whether a wallet can be used.')

const WalletAddress = nodeType<WalletAddressRow>('WalletAddress', {
  description: 'Where deposits to a stablecoin wallet are sent.',
  source: sourceById(findWalletAddressesByIds),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST answers show.', 'UUID'),
    address: exposeColumn('address', 'The address as it is written on its network.'),
    network: exposeColumn('network', 'The network that it is on.', NetworkEnum),
    createdAt: exposeColumn('createdAt', 'When it was given to the wallet.', 'DateTime'),
  },
})

export const Wallet = nodeType<WalletRow>('Wallet', {
  description: 'Where a balance in one stablecoin or fiat currency is held, for the merchant or for a customer.',
  source: sourceOfList(wallets),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST paths use.', 'UUID'),
    assetType: exposeColumn('assetType', 'What kind of money it holds.', AssetTypeEnum),
    ...exposeStrings({
      currency: 'The code of what it holds, such as `USDC`.',
      description: 'What its owner calls it.',
    }),
    balance: exposeColumn('balance', 'What it holds now.', 'Amount'),
    status: exposeColumn('status', 'Whether it can be used.', WalletStatusEnum),
    customer: relationField(Customer, 'customerId', 'The customer whose it is; null when it is the merchant’s own.'),
    addresses: relatedListField(
      WalletAddress,
      sourceByForeignKey(findWalletAddresses, ({ walletId }) => walletId),
      'Where deposits are sent, oldest first; none for fiat. A wallet has a handful at most.',
    ),
    createdAt: exposeColumn('createdAt', 'When it was opened.', 'DateTime'),
    updatedAt: exposeColumn('updatedAt', 'When it last changed; a balance is no change.', 'DateTime'),
  },
})

addField(LedgerEntry, 'wallet', relationField(Wallet, 'walletId', 'The wallet whose statement it is a line of.'))

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
      summary: 'The wallets of the merchant and of its customers',
      filter: filterType('WalletFilter', wallets, { which: 'Which wallets' }),
    },
    {
      on: Merchant,
      owner: 'merchant',
      summary: "The wallets that the merchant itself owns, no customer's",
      filter: OwnedWalletFilter,
    },
    { on: Customer, parent: 'customer', summary: 'The wallets that it owns', filter: OwnedWalletFilter },
  ],
})

addConnection('ledgerEntries', entries, {
  of: LedgerEntry,
  items: "lines of a wallet's statement",
  called: 'lines',
  places: [
    { on: Wallet, parent: 'wallet', summary: 'Its statement: every movement of its money', filter: LedgerEntryFilter },
  ],
})

addMutation(createWallet, {
  description: 'Opens a wallet with a balance of zero; one that holds a stablecoin gets a deposit address.',
  inputDescription: 'A wallet to open.',
  input: {
    ...requiredTexts({
      currency: 'The code of what it will hold, such as `USDC` or `NGN`.',
      description: 'What to call it, in at most 255 characters.',
    }),
    customerId: optionalId(
      'Customer',
      "The customer whose it will be; absent for the merchant's own. Global id, or UUID.",
    ),
    network: optional('The network of its deposit address: required for a stablecoin, absent for fiat.', NetworkEnum),
  },
  payload: { wallet: exposeRowAs(Wallet, 'The new wallet.') },
})

addMutation(simulateDeposit, {
  description: 'Plays the outside world that sends money to a wallet. In the sandbox only.',
  inputDescription: 'Money to put into a wallet as if it had arrived from outside.',
  input: {
    walletId: requiredId('Wallet', 'wallet that gets it'),
    amount: required('How much, in the currency of the wallet.', 'Amount'),
    reference: optional(
      'What tells the deposit from others: one reference pays once. Without it every call is another deposit.',
    ),
  },
  payload: { wallet: relationField(Wallet, 'walletId', 'The wallet with its new balance.') },
})
