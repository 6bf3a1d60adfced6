import { idField, notInContract } from '../../rest/input-fields.ts'
import { listRoute } from '../../rest/list-route.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get, post } from '../../rest/route.ts'
import { listOf } from '../../rest/shape.ts'
import { networkSpellings, normalizeNetwork } from '../networks/network.ts'
import { createWallet } from './create-wallet.ts'
import { GetWalletInput, getWallet } from './get-wallet.ts'
import { wallets } from './list.ts'
import { ListCustomerWalletsInput, listCustomerWallets, listWallets } from './list-wallets.ts'
import { newWalletDescriptions } from './wallet.ts'
import { createdWallet, exampleWalletId, listedWallet, wallet } from './wallet-shape.ts'

const { owner: _, ...filtersOfCustomer } = wallets.filters
const customerWallets = {
  ...wallets,
  filters: filtersOfCustomer,
  PageInput: ListCustomerWalletsInput,
  page: listCustomerWallets,
}
const example = { currency: 'USDC' }
const rowsDescription = 'The wallets of the page.'

export const walletEndpoints: RouteGroup = {
  name: 'Wallets',
  description: 'Balances of the merchant and its customers.',
  routes: [
    post('/api/wallets', createWallet, {
      title: 'Open a wallet',
      description: newWalletDescriptions.operation,
      fields: {
        currency: newWalletDescriptions.currency,
        description: newWalletDescriptions.description,
        customerId: idField(newWalletDescriptions.customerId),
        network: {
          enum: networkSpellings,
          read: normalizeNetwork,
          description: newWalletDescriptions.network,
        },
      },
      example: { currency: 'USDC', description: 'Savings', network: 'erc20' },
      response: { data: createdWallet },
      location: ({ id }) => `/api/wallets/${id}`,
    }),
    listRoute(
      '/api/wallets',
      { ...wallets, page: listWallets },
      {
        name: 'listWallets',
        title: 'List wallets',
        description: `Returns the wallets of the merchant and its customers, newest first, with all their addresses. An unknown filter value matches nothing. ${notInContract}`,
        example,
        rows: listOf(rowsDescription, wallet),
      },
    ),
    listRoute('/api/wallets/:customer_id/customer', customerWallets, {
      name: 'listCustomerWallets',
      title: 'List the wallets of a customer',
      description: 'Returns the wallets of one customer, newest first. An unknown filter value matches nothing.',
      fields: { customerId: idField('The id of the customer.') },
      errors: ['RESOURCE_NOT_FOUND'],
      example: { customerId: '01980c5e-7a10-7c3f-9d2b-4e5f60718293', ...example },
      rows: listOf(rowsDescription, listedWallet),
    }),
    // The API contract makes the API key optional for this request, but the service requires it, because balances are
    // private (ruling 33).
    get('/api/wallets/:wallet_id', {
      name: 'getWallet',
      title: 'Get a wallet',
      description: 'Returns one wallet of the merchant or a customer, with all its addresses.',
      input: GetWalletInput,
      operation: getWallet,
      fields: { walletId: idField('The id of the wallet.') },
      example: { walletId: exampleWalletId },
      errors: ['RESOURCE_NOT_FOUND'],
      response: { data: wallet },
    }),
  ],
}
