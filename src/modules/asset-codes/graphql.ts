import { connectionType, rethrowWithArgumentNames, sliceArguments } from '../../graphql/schema/connection.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import { addQuery, computedField, exposeColumn, queryField } from '../../graphql/schema/fields.ts'
import { optional } from '../../graphql/schema/inputs.ts'
import { sourceById } from '../../graphql/schema/loader.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import type { AssetCode as AssetCodeRow, AssetNetwork as AssetNetworkRow } from './asset-code.ts'
import { assetTypes } from './asset-code.ts'
import { browseAssetCodes, findAssetCodes, findAssetNetworks } from './list-asset-codes.ts'

export const AssetTypeEnum = enumType('AssetType', assetTypes, 'What kind of money an asset is.')

const AssetNetwork = nodeType<AssetNetworkRow>('AssetNetwork', {
  description: 'A network on which a stablecoin is supported.',
  source: sourceById(findAssetNetworks),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST answers show.', 'UUID'),
    network: exposeColumn('network', 'Which network it is.', NetworkEnum),
    createdAt: exposeColumn('createdAt', 'When its support began.', 'DateTime'),
  },
})

const AssetCode = nodeType<AssetCodeRow>('AssetCode', {
  description: 'A currency or stablecoin that the service supports.',
  source: sourceById(findAssetCodes),
  fields: {
    uuid: exposeColumn('id', 'The id that the REST answers show.', 'UUID'),
    assetType: exposeColumn('assetType', 'What kind of money it is.', AssetTypeEnum),
    code: exposeColumn('code', 'Its code, such as `USDC` or `NGN`: what `currency` fields hold.'),
    networks: computedField(
      [AssetNetwork],
      ['networks'],
      'The networks on which it is supported, a handful at most; none for fiat.',
      ({ networks }) => networks ?? [],
    ),
    createdAt: exposeColumn('createdAt', 'When its support began.', 'DateTime'),
    updatedAt: exposeColumn('updatedAt', 'When it last changed.', 'DateTime'),
  },
})

addQuery(
  'assetCodes',
  queryField(
    connectionType(AssetCode, 'supported assets'),
    'The currencies and stablecoins that the service supports, newest first.',
    { ...sliceArguments, assetType: optional('Only assets of this kind.', AssetTypeEnum) },
    (context, input) => browseAssetCodes(context, input).catch(rethrowWithArgumentNames),
  ),
)
