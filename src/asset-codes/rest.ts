import type { z } from 'zod'
import { networkLabel } from '../networks/network.ts'
import type { WireNames } from '../rest/route.ts'
import { get } from '../rest/route.ts'
import type { AssetCode } from './asset-code.ts'
import { ListAssetCodesInput, listAssetCodes } from './list-asset-codes.ts'

const listNames: WireNames<z.input<typeof ListAssetCodesInput>> = { assetType: 'asset_type' }

export const assetCodeRoutes = [
  get('/api/asset-codes', ListAssetCodesInput, listNames, async (context, input) => ({
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
