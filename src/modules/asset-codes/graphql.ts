import { connectionType, rethrowWithArgumentNames, sliceArguments } from '../../graphql/schema/connection.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import { addQuery, computedField, exposeColumn, queryField } from '../../graphql/schema/fields.ts'
import { optional } from '../../graphql/schema/inputs.ts'
import { sourceById } from '../../graphql/schema/loader.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import type { AssetCode as AssetCodeRow, AssetNetwork as AssetNetworkRow } from './asset-code.ts'
import { assetDescriptions, assetTypes } from './asset-code.ts'
import { browseAssetCodes, findAssetCodes, findAssetNetworks } from './list-asset-codes.ts'

export const AssetTypeEnum = enumType('AssetType', assetTypes, assetDescriptions.assetType)

const AssetNetwork = nodeType<AssetNetworkRow>('AssetNetwork', {
  description: assetDescriptions.network,
  source: sourceById(findAssetNetworks),
  fields: {
    uuid: exposeColumn('id', 'The id used in REST responses.', 'UUID'),
    network: exposeColumn('network', 'The network of the stablecoin.', NetworkEnum),
    createdAt: exposeColumn('createdAt', assetDescriptions.networkCreatedAt, 'DateTime'),
  },
})

const AssetCode = nodeType<AssetCodeRow>('AssetCode', {
  description: assetDescriptions.asset,
  source: sourceById(findAssetCodes),
  fields: {
    uuid: exposeColumn('id', 'The id used in REST responses.', 'UUID'),
    assetType: exposeColumn('assetType', assetDescriptions.assetType, AssetTypeEnum),
    code: exposeColumn('code', assetDescriptions.code),
    networks: computedField(
      [AssetNetwork],
      ['networks'],
      'The networks of a stablecoin, a handful at most; none for fiat.',
      ({ networks }) => networks ?? [],
    ),
    createdAt: exposeColumn('createdAt', assetDescriptions.createdAt, 'DateTime'),
    updatedAt: exposeColumn('updatedAt', assetDescriptions.updatedAt, 'DateTime'),
  },
})

addQuery(
  'assetCodes',
  queryField(
    connectionType(AssetCode, 'supported assets'),
    'The currencies and stablecoins that the service supports, newest first.',
    { ...sliceArguments, assetType: optional(assetDescriptions.assetTypeFilter, AssetTypeEnum) },
    (context, input) => browseAssetCodes(context, input).catch(rethrowWithArgumentNames),
  ),
)
