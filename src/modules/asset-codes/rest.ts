import { oneOf, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get } from '../../rest/route.ts'
import { listOf, member, nullable, resource, shape } from '../../rest/shape.ts'
import { networkLabel, networks } from '../networks/network.ts'
import type { AssetCode, AssetNetwork } from './asset-code.ts'
import { assetTypes } from './asset-code.ts'
import { ListAssetCodesInput, listAssetCodes } from './list-asset-codes.ts'

const assetNetwork = shape<AssetNetwork>('A network on which the stablecoin is supported.', {
  id: member(({ id }) => id, uuid('The id of the network of this asset.', '01980c5e-0001-7a55-8c1e-6f0b8f0a2d11')),
  network: member(
    ({ network }) => networkLabel(network),
    oneOf('Which network it is; requests write it in lower case.', networks.map(networkLabel)),
  ),
  created_at: member(({ createdAt }) => createdAt, timestamp('When its support began.')),
})

/** The wire shape of contract 2.4, where a network is written like `Erc20`. */
const assetCode = resource<AssetCode>('AssetCode', 'A currency or stablecoin that the service supports.', {
  id: member(({ id }) => id, uuid('The id of the asset.', '01980c5e-0000-7b21-9a7d-0d5c3b1e9f42')),
  asset_type: member(({ assetType }) => assetType, oneOf('What kind of money it is.', assetTypes, 'STABLECOIN')),
  code: member(({ code }) => code, text('Its code: what `currency` fields hold.', 'USDC')),
  created_at: member(({ createdAt }) => createdAt, timestamp('When its support began.')),
  updated_at: member(({ updatedAt }) => updatedAt, timestamp('When it last changed.')),
  networks: nullable(
    ({ networks }) => networks,
    listOf('The networks on which it is supported; null for fiat.', assetNetwork),
  ),
})

export const assetCodeEndpoints: RouteGroup = {
  name: 'Asset codes',
  description: 'The currencies and stablecoins that are supported.',
  routes: [
    get('/api/asset-codes', {
      name: 'listAssetCodes',
      title: 'List asset codes',
      description:
        'Lists the currencies and stablecoins that the service supports, with the networks of each, newest first.',
      input: ListAssetCodesInput,
      operation: listAssetCodes,
      fields: { assetType: 'Only assets of this kind.' },
      example: { assetType: 'STABLECOIN' },
      errors: [],
      response: { data: listOf('The supported assets.', assetCode) },
    }),
  ],
}
