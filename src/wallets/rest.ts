import type { z } from 'zod'
import { formatAmount } from '../money/amount.ts'
import type { WireNames } from '../rest/route.ts'
import { get, pagination, post } from '../rest/route.ts'
import { CreateWalletInput, createWallet } from './create-wallet.ts'
import { GetWalletInput, getWallet } from './get-wallet.ts'
import { ListCustomerWalletsInput, listCustomerWallets } from './list-wallets.ts'
import type { Wallet, WalletAddress } from './wallet.ts'

const createNames: WireNames<z.input<typeof CreateWalletInput>> = {
  currency: 'currency',
  description: 'description',
  customerId: 'customer_id',
  network: 'network',
}

const listNames: WireNames<z.input<typeof ListCustomerWalletsInput>> = {
  customerId: 'customer_id',
  status: 'status',
  assetType: 'asset_type',
  currency: 'currency',
  page: 'page',
  limit: 'limit',
}

const getNames: WireNames<z.input<typeof GetWalletInput>> = { walletId: 'wallet_id' }

export const walletRoutes = [
  post('/api/wallets', CreateWalletInput, createNames, async (context, input) => {
    const wallet = await createWallet(context, input)
    const addresses = wallet.addresses.map((address) => createdAddressJson(wallet, address))
    return { data: { ...walletJson(wallet), addresses } }
  }),
  get('/api/wallets/:customer_id/customer', ListCustomerWalletsInput, listNames, async (context, input) => {
    const page = await listCustomerWallets(context, input)
    return { data: page.items.map(listedWalletJson), pagination: pagination(page) }
  }),
  // The contract calls the key optional here; a balance is nobody's but its owner's, so it is required (ruling 33).
  get('/api/wallets/:wallet_id', GetWalletInput, getNames, async (context, input) => {
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

/** In the list of a customer's wallets `addresses` is the oldest address itself, or null for fiat. */
function listedWalletJson(wallet: Wallet) {
  const [oldest] = wallet.addresses
  const addresses = oldest ? { address: oldest.address, network: oldest.network, created_at: oldest.createdAt } : null
  return { ...walletJson(wallet), addresses }
}
