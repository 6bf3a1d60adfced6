import { oneOf, text, timestamp, uuid } from '../../rest/json-types.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get } from '../../rest/route.ts'
import { listOf, member, nullable, resource, shape } from '../../rest/shape.ts'
import { networkLabel, networks } from '../networks/network.ts'
import type { AssetCode, AssetNetwork } from './asset-code.ts'
import { assetDescriptions, assetTypes } from './asset-code.ts'
import { ListAssetCodesInput, listAssetCodes } from './list-asset-codes.ts'

const assetNetwork = shape<AssetNetwork>(assetDescriptions.network, {
  id: member(({ id }) => id, uuid('The id of the supported network.', '01980c5e-0001-7a55-8c1e-6f0b8f0a2d11')),
  network: member(
    ({ network }) => networkLabel(network),
    oneOf('The network of the stablecoin. Requests write it in lower case.', networks.map(networkLabel)),
  ),
  created_at: member(({ createdAt }) => createdAt, timestamp(assetDescriptions.networkCreatedAt)),
})

/** The API contract (section 2.4) spells networks as `Erc20`. */
const assetCode = resource<AssetCode>('AssetCode', assetDescriptions.asset, {
  id: member(({ id }) => id, uuid('The id of the asset.', '01980c5e-0000-7b21-9a7d-0d5c3b1e9f42')),
  asset_type: member(({ assetType }) => assetType, oneOf(assetDescriptions.assetType, assetTypes, 'STABLECOIN')),
  code: member(({ code }) => code, text(assetDescriptions.code, 'USDC')),
  created_at: member(({ createdAt }) => createdAt, timestamp(assetDescriptions.createdAt)),
  updated_at: member(({ updatedAt }) => updatedAt, timestamp(assetDescriptions.updatedAt)),
  networks: nullable(({ networks }) => networks, listOf('The networks of a stablecoin; null for fiat.', assetNetwork)),
})

export const assetCodeEndpoints: RouteGroup = {
  name: 'Asset codes',
  description: 'The supported currencies and stablecoins.',
  routes: [
    get('/api/asset-codes', {
      name: 'listAssetCodes',
      title: 'List asset codes',
      description:
        'Returns the currencies and stablecoins that the service supports, with the networks of each, newest first.',
      input: ListAssetCodesInput,
      operation: listAssetCodes,
      fields: { assetType: assetDescriptions.assetTypeFilter },
      example: { assetType: 'STABLECOIN' },
      errors: [],
      response: { data: listOf('The supported assets.', assetCode) },
    }),
  ],
}
