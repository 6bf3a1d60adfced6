import { amount, oneOf, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { ShapeMember, ShapeMembers } from '../../rest/shape.ts'
import { listOf, member, nullable, nullInExample, resource, shape } from '../../rest/shape.ts'
import { assetTypes } from '../asset-codes/asset-code.ts'
import { networks } from '../networks/network.ts'
import type { Wallet, WalletAddress } from './wallet.ts'
import { walletDescriptions, walletStatuses } from './wallet.ts'

export const exampleWalletId = '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'

/** Contract 2.3. In responses, `addresses` has one of three shapes (ruling 31). */
function walletResource(title: string, addresses: ShapeMember<Wallet>, balance = '250.00000000') {
  return resource<Wallet>(title, walletDescriptions.wallet, {
    id: member((wallet) => wallet.id, uuid('The id of the wallet.', exampleWalletId)),
    asset_type: member((wallet) => wallet.assetType, oneOf(walletDescriptions.assetType, assetTypes, 'STABLECOIN')),
    currency: member((wallet) => wallet.currency, text(walletDescriptions.currency, 'USDC')),
    balance: member((wallet) => wallet.balance, amount(walletDescriptions.balance, balance)),
    description: member((wallet) => wallet.description, text(walletDescriptions.description, 'Savings')),
    status: member((wallet) => wallet.status, oneOf(walletDescriptions.status, walletStatuses)),
    created_at: member((wallet) => wallet.createdAt, timestamp(walletDescriptions.createdAt)),
    updated_at: member((wallet) => wallet.updatedAt, timestamp(walletDescriptions.updatedAt)),
    customer_id: nullInExample((wallet) => wallet.customerId, uuid(walletDescriptions.customer)),
    addresses,
  })
}

const { id, crypto_wallet_id, ...addressMembers } = {
  id: member(({ id }) => id, uuid('The id of the address.', '01980c5e-9c45-7b1d-8e2f-0a1b2c3d4e5f')),
  crypto_wallet_id: member(({ walletId }) => walletId, uuid('The id of the wallet of the address.', exampleWalletId)),
  address: member(
    ({ address }) => address,
    text(walletDescriptions.address, '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
  ),
  network: member(({ network }) => network, oneOf(walletDescriptions.network, networks)),
  created_at: member(({ createdAt }) => createdAt, timestamp(walletDescriptions.addressCreatedAt)),
} satisfies ShapeMembers<WalletAddress>

const addressListMember = (address: ShapeMembers<WalletAddress>): ShapeMember<Wallet> =>
  member(
    ({ addresses }) => addresses,
    listOf('The deposit addresses, oldest first; none for fiat.', shape('A deposit address.', address)),
  )
const oldestAddressMember: ShapeMember<Wallet> = nullable(
  ({ addresses: [oldest = null] }) => oldest,
  shape('The oldest deposit address; null for fiat.', addressMembers),
)

export const createdWallet = walletResource(
  'CreatedWallet',
  addressListMember({ id, crypto_wallet_id, ...addressMembers }),
  '0.00000000',
)
export const wallet = walletResource('Wallet', addressListMember({ id, ...addressMembers }))
export const listedWallet = walletResource('ListedWallet', oldestAddressMember)
