import { assetTypes } from '../asset-codes/asset-code.ts'
import { networkSpellings, networks, networkWritten } from '../networks/network.ts'
import { amount, oneOf, text, timestamp, uuid } from '../rest/forms.ts'
import { listRoute } from '../rest/list-route.ts'
import { addition, idField } from '../rest/reference.ts'
import type { Group } from '../rest/route.ts'
import { get, post } from '../rest/route.ts'
import type { Member, Members } from '../rest/shape.ts'
import { from, listOf, mostlyNull, orNull, resource, shape } from '../rest/shape.ts'
import { CreateWalletInput, createWallet } from './create-wallet.ts'
import { GetWalletInput, getWallet } from './get-wallet.ts'
import { wallets } from './list.ts'
import { ListCustomerWalletsInput, listCustomerWallets, listMerchantWallets } from './list-wallets.ts'
import type { Wallet, WalletAddress } from './wallet.ts'
import { walletStatuses } from './wallet.ts'

const walletId = '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'

/** The wire shape of contract 2.3; of `addresses` there are three (ruling 31). */
function walletWith(title: string, addresses: Member<Wallet>, balance = '250.00000000') {
  return resource<Wallet>(title, 'Where a balance in one stablecoin or fiat currency is held.', {
    id: from((wallet) => wallet.id, uuid('The id of the wallet.', walletId)),
    asset_type: from((wallet) => wallet.assetType, oneOf('What kind of money it holds.', assetTypes, 'STABLECOIN')),
    currency: from((wallet) => wallet.currency, text('The code of what it holds.', 'USDC')),
    balance: from((wallet) => wallet.balance, amount('What it holds now.', balance)),
    description: from((wallet) => wallet.description, text('What its owner calls it.', 'Savings')),
    status: from((wallet) => wallet.status, oneOf('Whether it can be used.', walletStatuses)),
    created_at: from((wallet) => wallet.createdAt, timestamp('When it was opened.')),
    updated_at: from((wallet) => wallet.updatedAt, timestamp('When it last changed; a balance is no change.')),
    customer_id: mostlyNull(
      (wallet) => wallet.customerId,
      uuid('The customer whose it is; null when it is the merchant’s own.'),
    ),
    addresses,
  })
}

const { id, crypto_wallet_id, ...place } = {
  id: from(({ id }) => id, uuid('The id of the address.', '01980c5e-9c45-7b1d-8e2f-0a1b2c3d4e5f')),
  crypto_wallet_id: from(({ walletId }) => walletId, uuid('The id of the wallet that it belongs to.', walletId)),
  address: from(
    ({ address }) => address,
    text('The address as it is written on its network.', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
  ),
  network: from(({ network }) => network, oneOf('The network that it is on.', networks)),
  created_at: from(({ createdAt }) => createdAt, timestamp('When it was given to the wallet.')),
} satisfies Members<WalletAddress>

const addressesOf = (address: Members<WalletAddress>): Member<Wallet> =>
  from(
    ({ addresses }) => addresses,
    listOf('Where deposits are sent, oldest first; none for fiat.', shape('An address.', address)),
  )
const oldestAddress: Member<Wallet> = orNull(
  ({ addresses: [oldest = null] }) => oldest,
  shape('Its oldest address, where deposits are sent; null for fiat.', place),
)

const createdWallet = walletWith('CreatedWallet', addressesOf({ id, crypto_wallet_id, ...place }), '0.00000000')
const wallet = walletWith('Wallet', addressesOf({ id, ...place }))
const listedWallet = walletWith('ListedWallet', oldestAddress)

const customersWallets = { ...wallets, PageInput: ListCustomerWalletsInput, page: listCustomerWallets }
const listed = { example: { currency: 'USDC' }, rows: listOf('The wallets of the page.', listedWallet) }

export const walletEndpoints: Group = {
  name: 'Wallets',
  description: 'Balances, of the merchant or of one of its customers.',
  routes: [
    post('/api/wallets', {
      name: 'createWallet',
      title: 'Open a wallet',
      description:
        'Opens a wallet with a balance of zero, for the merchant or for one of its customers. A stablecoin wallet gets an address on `network` that deposits are sent to. An owner may have several wallets of one currency.',
      input: CreateWalletInput,
      operation: createWallet,
      fields: {
        currency: 'The code of what it will hold: one of the supported asset codes.',
        description: 'What its owner calls it.',
        customerId: idField('The customer whose wallet it will be; without it, it is the merchant’s own.'),
        network: {
          enum: networkSpellings,
          read: networkWritten,
          description: 'The network of its address: required for a stablecoin, which must support it, absent for fiat.',
        },
      },
      example: { currency: 'USDC', description: 'Savings', network: 'erc20' },
      refusals: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED', 'DEPOSIT_ADDRESS_UNAVAILABLE'],
      answer: { data: createdWallet },
    }),
    listRoute(
      '/api/wallets',
      { ...wallets, page: listMerchantWallets },
      {
        name: 'listWallets',
        title: 'List the merchant’s wallets',
        description: `Lists the merchant’s own wallets, newest first; those of its customers are listed for each. A value of a filter that is not known matches nothing. ${addition}`,
        ...listed,
      },
    ),
    listRoute('/api/wallets/:customer_id/customer', customersWallets, {
      name: 'listCustomerWallets',
      title: 'List the wallets of a customer',
      description:
        'Lists the wallets of one customer, newest first. A value of a filter that is not known matches nothing.',
      fields: { customerId: idField('The id of the customer.') },
      refusals: ['RESOURCE_NOT_FOUND'],
      ...listed,
      example: { customerId: '01980c5e-7a10-7c3f-9d2b-4e5f60718293', ...listed.example },
    }),
    // The contract calls the key optional here; a balance is nobody's but its owner's, so it is required (ruling 33).
    get('/api/wallets/:wallet_id', {
      name: 'getWallet',
      title: 'Get a wallet',
      description: 'Gives one wallet of the merchant or of its customers, with all its addresses.',
      input: GetWalletInput,
      operation: getWallet,
      fields: { walletId: idField('The id of the wallet.') },
      example: { walletId },
      refusals: ['RESOURCE_NOT_FOUND'],
      answer: { data: wallet },
    }),
  ],
}
