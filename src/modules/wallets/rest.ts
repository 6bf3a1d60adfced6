import { idField, notInContract } from '../../rest/input-fields.ts'
import { listRoute } from '../../rest/list-route.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get, post } from '../../rest/route.ts'
import { listOf } from '../../rest/shape.ts'
import { networkSpellings, normalizeNetwork } from '../networks/network.ts'
import { createWallet } from './create-wallet.ts'
import { GetWalletInput, getWallet } from './get-wallet.ts'
import { wallets } from './list.ts'
import { ListCustomerWalletsInput, listCustomerWallets, listMerchantWallets } from './list-wallets.ts'
import { newWalletDescriptions } from './wallet.ts'
import { createdWallet, exampleWalletId, listedWallet, wallet } from './wallet-shape.ts'

const customerWallets = { ...wallets, PageInput: ListCustomerWalletsInput, page: listCustomerWallets }
const commonListOptions = { example: { currency: 'USDC' }, rows: listOf('The wallets of the page.', listedWallet) }

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
      { ...wallets, page: listMerchantWallets },
      {
        name: 'listWallets',
        title: 'List the merchant’s wallets',
        description: `Returns the merchant’s own wallets, newest first, without those of its customers. An unknown filter value matches nothing. ${notInContract}`,
        ...commonListOptions,
      },
    ),
    listRoute('/api/wallets/:customer_id/customer', customerWallets, {
      name: 'listCustomerWallets',
      title: 'List the wallets of a customer',
      description: 'Returns the wallets of one customer, newest first. An unknown filter value matches nothing.',
      fields: { customerId: idField('The id of the customer.') },
      errors: ['RESOURCE_NOT_FOUND'],
      ...commonListOptions,
      example: { customerId: '01980c5e-7a10-7c3f-9d2b-4e5f60718293', ...commonListOptions.example },
    }),
    // The API key is optional in the contract, but required here, because balances are private (ruling 33).
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
