import { amount, oneOf, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { ShapeMember, ShapeMembers } from '../../rest/shape.ts'
import { listOf, member, nullable, nullInExample, resource, shape } from '../../rest/shape.ts'
import { assetTypes } from '../asset-codes/asset-code.ts'
import { networks } from '../networks/network.ts'
import type { Wallet, WalletAddress } from './wallet.ts'
import { walletStatuses } from './wallet.ts'

export const exampleWalletId = '01980c5e-9c44-7e0a-b6f1-2a3b4c5d6e7f'

/** The wire shape of contract 2.3; of `addresses` there are three (ruling 31). */
function walletResource(title: string, addresses: ShapeMember<Wallet>, balance = '250.00000000') {
  return resource<Wallet>(title, 'Where a balance in one stablecoin or fiat currency is held.', {
    id: member((wallet) => wallet.id, uuid('The id of the wallet.', exampleWalletId)),
    asset_type: member((wallet) => wallet.assetType, oneOf('What kind of money it holds.', assetTypes, 'STABLECOIN')),
    currency: member((wallet) => wallet.currency, text('The code of what it holds.', 'USDC')),
    balance: member((wallet) => wallet.balance, amount('What it holds now.', balance)),
    description: member((wallet) => wallet.description, text('What its owner calls it.', 'Savings')),
    status: member((wallet) => wallet.status, oneOf('Whether it can be used.', walletStatuses)),
    created_at: member((wallet) => wallet.createdAt, timestamp('When it was opened.')),
    updated_at: member((wallet) => wallet.updatedAt, timestamp('When it last changed; a balance is no change.')),
    customer_id: nullInExample(
      (wallet) => wallet.customerId,
      uuid('The customer whose it is; null when it is the merchant’s own.'),
    ),
    addresses,
  })
}

const { id, crypto_wallet_id, ...addressMembers } = {
  id: member(({ id }) => id, uuid('The id of the address.', '01980c5e-9c45-7b1d-8e2f-0a1b2c3d4e5f')),
  crypto_wallet_id: member(
    ({ walletId }) => walletId,
    uuid('The id of the wallet that it belongs to.', exampleWalletId),
  ),
  address: member(
    ({ address }) => address,
    text('The address as it is written on its network.', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
  ),
  network: member(({ network }) => network, oneOf('The network that it is on.', networks)),
  created_at: member(({ createdAt }) => createdAt, timestamp('When it was given to the wallet.')),
} satisfies ShapeMembers<WalletAddress>

const addressListMember = (address: ShapeMembers<WalletAddress>): ShapeMember<Wallet> =>
  member(
    ({ addresses }) => addresses,
    listOf('Where deposits are sent, oldest first; none for fiat.', shape('An address.', address)),
  )
const oldestAddressMember: ShapeMember<Wallet> = nullable(
  ({ addresses: [oldest = null] }) => oldest,
  shape('Its oldest address, where deposits are sent; null for fiat.', addressMembers),
)

export const createdWallet = walletResource(
  'CreatedWallet',
  addressListMember({ id, crypto_wallet_id, ...addressMembers }),
  '0.00000000',
)
export const wallet = walletResource('Wallet', addressListMember({ id, ...addressMembers }))
export const listedWallet = walletResource('ListedWallet', oldestAddressMember)
