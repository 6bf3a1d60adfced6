import type { z } from 'zod'
import { assetTypes } from '../asset-codes/asset-code.ts'
import { findCustomer } from '../customers/get-customer.ts'
import { formatAmount } from '../money/amount.ts'
import { networkSpellings, networks, networkWritten } from '../networks/network.ts'
import { listAnswer, listRoute, listSchemas } from '../rest/list-route.ts'
import type { JsonSchema, Reference, SchemasOf } from '../rest/reference.ts'
import {
  addition,
  amount,
  idField,
  listOf,
  mostlyNull,
  object,
  oneOf,
  orNull,
  text,
  timestamp,
  uuid,
} from '../rest/reference.ts'
import type { WireNames } from '../rest/route.ts'
import { get, post } from '../rest/route.ts'
import { CreateWalletInput, createWallet } from './create-wallet.ts'
import { GetWalletInput, getWallet } from './get-wallet.ts'
import { walletsWithAddresses } from './list-wallets.ts'
import type { Wallet, WalletAddress } from './wallet.ts'
import { walletStatuses } from './wallet.ts'

const createNames: WireNames<z.input<typeof CreateWalletInput>> = {
  currency: 'currency',
  description: 'description',
  customerId: 'customer_id',
  network: 'network',
}

const getNames: WireNames<z.input<typeof GetWalletInput>> = { walletId: 'wallet_id' }

type CreatedAddress = ReturnType<typeof createdAddressJson>

const createReference: Reference<z.input<typeof CreateWalletInput>> = {
  name: 'createWallet',
  title: 'Open a wallet',
  description:
    'Opens a wallet with a balance of zero, for the merchant or for one of its customers. A stablecoin wallet gets an address on `network` that deposits are sent to. An owner may have several wallets of one currency.',
  fields: {
    currency: 'The code of what it will hold: one of the supported asset codes.',
    description: 'What its owner calls it.',
    customerId: idField('The customer whose wallet it will be; without it, it is the merchant’s own.'),
    network: {
      enum: networkSpellings,
      description: 'The network of its address: required for a stablecoin, which must support it, absent for fiat.',
    },
  },
  example: { currency: 'USDC', description: 'Savings', network: 'erc20' },
  refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED', 'DEPOSIT_ADDRESS_UNAVAILABLE'],
  answer: () => ({
    data: walletSchema('CreatedWallet', addressesSchema<CreatedAddress>(addressMembers()), '0.00000000'),
  }),
}

const listExample = { currency: 'USDC' }
const listed = {
  answer: listAnswer(listedWalletJson),
  schemas: listSchemas(() => listOf('The wallets of the page.', listedWalletSchema())),
}

const getReference: Reference<z.input<typeof GetWalletInput>> = {
  name: 'getWallet',
  title: 'Get a wallet',
  description: 'Gives one wallet of the merchant or of its customers, with all its addresses.',
  fields: { walletId: idField('The id of the wallet.') },
  example: { walletId: '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f' },
  refusals: ['RESOURCE_NOT_FOUND'],
  answer: () => {
    const { crypto_wallet_id: _, ...members } = addressMembers()
    return { data: walletSchema('Wallet', addressesSchema<ReturnType<typeof addressJson>>(members)) }
  },
}

export const walletRoutes = [
  post('/api/wallets', CreateWalletInput, createNames, createReference, async (context, input) => {
    const { result: wallet, isReplayed } = await context.perform(createWallet, context, {
      ...input,
      network: networkWritten(input.network),
    })
    const addresses = wallet.addresses.map((address) => createdAddressJson(wallet, address))
    return { isReplayed, data: { ...walletJson(wallet), addresses } }
  }),
  listRoute('/api/wallets', walletsWithAddresses, {
    name: 'listWallets',
    title: 'List the merchant’s wallets',
    description: `Lists the merchant’s own wallets, newest first; those of its customers are listed for each. A value of a filter that is not known matches nothing. ${addition}`,
    owner: 'merchant',
    example: listExample,
    ...listed,
  }),
  listRoute('/api/wallets/:customer_id/customer', walletsWithAddresses, {
    name: 'listCustomerWallets',
    title: 'List the wallets of a customer',
    description:
      'Lists the wallets of one customer, newest first. A value of a filter that is not known matches nothing.',
    ofCustomer: { wire: 'customer_id', find: async (context, id) => (await findCustomer(context.db, context, id)).id },
    example: { customerId: '01980c5e-7a10-7c3f-9d2b-4e5f60718293', ...listExample },
    ...listed,
  }),
  // The contract calls the key optional here; a balance is nobody's but its owner's, so it is required (ruling 33).
  get('/api/wallets/:wallet_id', GetWalletInput, getNames, getReference, async (context, input) => {
    const wallet = await getWallet(context, input)
    return { data: { ...walletJson(wallet), addresses: wallet.addresses.map(addressJson) } }
  }),
]

/** The wire shape of contract 2.3 but for `addresses`, of which there are three (ruling 31). */
function walletJson(wallet: Wallet) {
  return {
    id: wallet.id,
    asset_type: wallet.assetType,
    currency: wallet.currency,
    balance: formatAmount(wallet.balance),
    description: wallet.description,
    status: wallet.status,
    created_at: wallet.createdAt,
    updated_at: wallet.updatedAt,
    customer_id: wallet.customerId,
  }
}

function createdAddressJson({ id: crypto_wallet_id }: Wallet, { id, address, network, createdAt }: WalletAddress) {
  return { id, crypto_wallet_id, address, network, created_at: createdAt }
}

function addressJson({ id, address, network, createdAt }: WalletAddress) {
  return { id, address, network, created_at: createdAt }
}

/** In a list of wallets `addresses` is the oldest address itself, or null for fiat. */
function listedWalletJson(wallet: Wallet) {
  const [oldest] = wallet.addresses
  const addresses = oldest ? { address: oldest.address, network: oldest.network, created_at: oldest.createdAt } : null
  return { ...walletJson(wallet), addresses }
}

function walletSchema(title: string, addresses: JsonSchema, balance = '250.00000000'): JsonSchema {
  return object<ReturnType<typeof walletJson> & { addresses: unknown }>(
    'Where a balance in one stablecoin or fiat currency is held.',
    {
      id: uuid('The id of the wallet.', '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'),
      asset_type: oneOf('What kind of money it holds.', assetTypes, 'STABLECOIN'),
      currency: text('The code of what it holds.', 'USDC'),
      balance: amount('What it holds now.', balance),
      description: text('What its owner calls it.', 'Savings'),
      status: oneOf('Whether it can be used.', walletStatuses),
      created_at: timestamp('When it was opened.'),
      updated_at: timestamp('When it last changed; a balance is no change.'),
      customer_id: mostlyNull(uuid('The customer whose it is; null when it is the merchant’s own.')),
      addresses,
    },
    { title },
  )
}

function listedWalletSchema(): JsonSchema {
  const { address, network, created_at } = addressMembers()
  const listed = object<NonNullable<ReturnType<typeof listedWalletJson>['addresses']>>(
    'Its oldest address, where deposits are sent; null for fiat.',
    { address, network, created_at },
  )
  return walletSchema('ListedWallet', orNull(listed))
}

function addressesSchema<Json>(members: SchemasOf<Json>): JsonSchema {
  return listOf('Where deposits are sent, oldest first; none for fiat.', object<Json>('An address.', members))
}

/** What is said of an address, of which each of the three shows some. */
function addressMembers() {
  return {
    id: uuid('The id of the address.', '01980c5e-9c45-7b1d-8e2f-0a1b2c3d4e5f'),
    crypto_wallet_id: uuid('The id of the wallet that it belongs to.', '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'),
    address: text('The address as it is written on its network.', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
    network: oneOf('The network that it is on.', networks),
    created_at: timestamp('When it was given to the wallet.'),
  } as const
}
