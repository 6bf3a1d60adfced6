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
import { createdWallet, exampleWalletId, listedWallet, wallet } from './wallet-shape.ts'

const customerWallets = { ...wallets, PageInput: ListCustomerWalletsInput, page: listCustomerWallets }
const commonListOptions = { example: { currency: 'USDC' }, rows: listOf('The wallets of the page.', listedWallet) }

export const walletEndpoints: RouteGroup = {
  name: 'Wallets',
  description: 'Balances, of the merchant or of one of its customers.',
  routes: [
    post('/api/wallets', createWallet, {
      title: 'Open a wallet',
      description:
        'Opens a wallet with a balance of zero, for the merchant or for one of its customers. A stablecoin wallet gets an address on `network` that deposits are sent to. An owner may have several wallets of one currency.',
      fields: {
        currency: 'The code of what it will hold: one of the supported asset codes.',
        description: 'What its owner calls it.',
        customerId: idField('The customer whose wallet it will be; without it, it is the merchant’s own.'),
        network: {
          enum: networkSpellings,
          read: normalizeNetwork,
          description: 'The network of its address: required for a stablecoin, which must support it, absent for fiat.',
        },
      },
      example: { currency: 'USDC', description: 'Savings', network: 'erc20' },
      response: { data: createdWallet },
    }),
    listRoute(
      '/api/wallets',
      { ...wallets, page: listMerchantWallets },
      {
        name: 'listWallets',
        title: 'List the merchant’s wallets',
        description: `Lists the merchant’s own wallets, newest first; those of its customers are listed for each. A value of a filter that is not known matches nothing. ${notInContract}`,
        ...commonListOptions,
      },
    ),
    listRoute('/api/wallets/:customer_id/customer', customerWallets, {
      name: 'listCustomerWallets',
      title: 'List the wallets of a customer',
      description:
        'Lists the wallets of one customer, newest first. A value of a filter that is not known matches nothing.',
      fields: { customerId: idField('The id of the customer.') },
      errors: ['RESOURCE_NOT_FOUND'],
      ...commonListOptions,
      example: { customerId: '01980c5e-7a10-7c3f-9d2b-4e5f60718293', ...commonListOptions.example },
    }),
    // The contract calls the key optional here; a balance is nobody's but its owner's, so it is required (ruling 33).
    get('/api/wallets/:wallet_id', {
      name: 'getWallet',
      title: 'Get a wallet',
      description: 'Gives one wallet of the merchant or of its customers, with all its addresses.',
      input: GetWalletInput,
      operation: getWallet,
      fields: { walletId: idField('The id of the wallet.') },
      example: { walletId: exampleWalletId },
      errors: ['RESOURCE_NOT_FOUND'],
      response: { data: wallet },
    }),
  ],
}
