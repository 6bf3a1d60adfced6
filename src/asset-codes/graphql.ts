import { builder } from '../graphql/builder.ts'
import { connect, connectionType, sliceArguments } from '../graphql/connection.ts'
import { valuesEnum } from '../graphql/enums.ts'
import { loaderById } from '../graphql/loader.ts'
import { addNodeType, Node, nodeId } from '../graphql/node.ts'
import { NetworkEnum } from '../networks/graphql.ts'
import type { AssetCode as AssetCodeRow, AssetNetwork as AssetNetworkRow } from './asset-code.ts'
import { assetTypes } from './asset-code.ts'
import { browseAssetCodes } from './browse-asset-codes.ts'
import { findAssetCodes, findAssetNetworks } from './find-asset-codes.ts'

export const AssetTypeEnum = valuesEnum('AssetType', assetTypes, 'What kind of money an asset is.')

export const AssetNetwork = builder.objectRef<AssetNetworkRow>('AssetNetwork').implement({
  description: 'A network on which a stablecoin is supported.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('AssetNetwork', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST answers show.' }),
    network: t.expose('network', { type: NetworkEnum, description: 'Which network it is.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its support began.' }),
  }),
})

export const AssetCode = builder.objectRef<AssetCodeRow>('AssetCode').implement({
  description: 'A currency or stablecoin that the service supports.',
  interfaces: [Node],
  fields: (t) => ({
    id: t.field(nodeId('AssetCode', ({ id }) => id)),
    uuid: t.expose('id', { type: 'UUID', description: 'The id that the REST answers show.' }),
    assetType: t.expose('assetType', { type: AssetTypeEnum, description: 'What kind of money it is.' }),
    code: t.exposeString('code', { description: 'Its code, such as `USDC` or `NGN`: what `currency` fields hold.' }),
    networks: t.field({
      type: [AssetNetwork],
      description: 'The networks on which it is supported, a handful at most; none for fiat.',
      resolve: ({ networks }) => [...(networks ?? [])],
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When its support began.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

addNodeType('AssetCode', loaderById(findAssetCodes))
addNodeType('AssetNetwork', loaderById(findAssetNetworks))

const AssetCodeConnection = connectionType<AssetCodeRow>('AssetCode', AssetCode, 'supported assets')

builder.queryField('assetCodes', (t) =>
  t.field({
    type: AssetCodeConnection,
    description: 'The currencies and stablecoins that the service supports, newest first.',
    args: {
      ...sliceArguments(t.arg),
      assetType: t.arg({ type: AssetTypeEnum, description: 'Only assets of this kind.' }),
    },
    resolve: (_, args, context, info) => connect(browseAssetCodes(context.rows, args), context, info),
  }),
)
