import type { z } from 'zod'
import { networkLabel, networks } from '../networks/network.ts'
import type { JsonSchema, Reference } from '../rest/reference.ts'
import { listOf, object, oneOf, orNull, text, timestamp, uuid } from '../rest/reference.ts'
import type { WireNames } from '../rest/route.ts'
import { get } from '../rest/route.ts'
import type { AssetCode } from './asset-code.ts'
import { assetTypes } from './asset-code.ts'
import { ListAssetCodesInput, listAssetCodes } from './list-asset-codes.ts'

const listNames: WireNames<z.input<typeof ListAssetCodesInput>> = { assetType: 'asset_type' }

const listReference: Reference<z.input<typeof ListAssetCodesInput>> = {
  name: 'listAssetCodes',
  title: 'List asset codes',
  description:
    'Lists the currencies and stablecoins that the service supports, with the networks of each, newest first.',
  fields: { assetType: 'Only assets of this kind.' },
  example: { assetType: 'STABLECOIN' },
  refusals: [],
  answer: () => ({ data: listOf('The supported assets.', assetCodeSchema()) }),
}

export const assetCodeRoutes = [
  get('/api/asset-codes', ListAssetCodesInput, listNames, listReference, async (context, input) => ({
    data: (await listAssetCodes(context, input)).map(assetCodeJson),
  })),
]

/** The wire shape of contract 2.4, where a network is written like `Erc20`. */
function assetCodeJson({ id, assetType, code, createdAt, updatedAt, networks }: AssetCode) {
  return {
    id,
    asset_type: assetType,
    code,
    created_at: createdAt,
    updated_at: updatedAt,
    networks:
      networks?.map((each) => ({ id: each.id, network: networkLabel(each.network), created_at: each.createdAt })) ??
      null,
  }
}

function assetCodeSchema(): JsonSchema {
  type Json = ReturnType<typeof assetCodeJson>
  const network = object<NonNullable<Json['networks']>[number]>('A network on which the stablecoin is supported.', {
    id: uuid('The id of the network of this asset.', '01980c5e-0001-7a55-8c1e-6f0b8f0a2d11'),
    network: oneOf('Which network it is; requests write it in lower case.', networks.map(networkLabel)),
    created_at: timestamp('When its support began.'),
  })
  return object<Json>(
    'A currency or stablecoin that the service supports.',
    {
      id: uuid('The id of the asset.', '01980c5e-0000-7b21-9a7d-0d5c3b1e9f42'),
      asset_type: oneOf('What kind of money it is.', assetTypes, 'STABLECOIN'),
      code: text('Its code: what `currency` fields hold.', 'USDC'),
      created_at: timestamp('When its support began.'),
      updated_at: timestamp('When it last changed.'),
      networks: orNull(listOf('The networks on which it is supported; null for fiat.', network)),
    },
    { title: 'AssetCode' },
  )
}
