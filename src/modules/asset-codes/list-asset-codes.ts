import { z } from 'zod'
import { optionalOneOf, parseInput } from '../../core/input.ts'
import type { Reader } from '../../database/query.ts'
import type { Service } from '../../operations/context.ts'
import type { AssetCode } from './asset-code.ts'
import { assetTypes } from './asset-code.ts'
import { allAssetCodes, allAssetNetworks } from './repository.ts'

export const ListAssetCodesInput = z.object({ assetType: optionalOneOf(assetTypes) })

/**
 * The supported asset codes with their networks, newest first (contract 4.12).
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listAssetCodes(
  service: Service,
  input: z.input<typeof ListAssetCodesInput>,
): Promise<AssetCode[]> {
  const { assetType } = parseInput(ListAssetCodesInput, input)
  const assets = await assetCodesWithNetworks(service.db)
  return assets.filter((asset) => assetType === null || asset.assetType === assetType)
}

/** Every asset code with its networks; there are few, so two small queries serve every question about them. */
export async function assetCodesWithNetworks(db: Reader): Promise<AssetCode[]> {
  const [assets, networks] = await Promise.all([allAssetCodes(db, {}), allAssetNetworks(db, {})])
  return assets.map((asset) => ({
    ...asset,
    networks: asset.assetType === 'FIAT' ? null : networks.filter(({ assetCode }) => assetCode === asset.code),
  }))
}
