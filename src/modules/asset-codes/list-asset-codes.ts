import { z } from 'zod'
import { oneOf, optional, optionalOneOf, parseInput } from '../../core/input.ts'
import type { Reader } from '../../database/query.ts'
import type { Slice } from '../../lists/slice.ts'
import { createInMemoryList, readSlice, sliceFields } from '../../lists/slice.ts'
import type { Context, Service } from '../../operations/context.ts'
import type { AssetCode, AssetNetwork } from './asset-code.ts'
import { assetTypes } from './asset-code.ts'
import { allAssetCodes, allAssetNetworks } from './repository.ts'

export const ListAssetCodesInput = z.object({ assetType: optionalOneOf(assetTypes) })

/**
 * Asset codes are newest first (contract 4.12).
 *
 * @throws DomainError INVALID_INPUT
 */
export async function listAssetCodes(
  service: Service,
  input: z.input<typeof ListAssetCodesInput>,
): Promise<AssetCode[]> {
  const { assetType } = parseInput(ListAssetCodesInput, input)
  const assets = await assetCodesWithNetworks(service.db)
  return assets.filter((asset) => assetType === null || asset.assetType === assetType)
}

export async function assetCodesWithNetworks(db: Reader): Promise<AssetCode[]> {
  const [assets, networks] = await Promise.all([allAssetCodes(db, {}), allAssetNetworks(db, {})])
  return assets.map((asset) => ({
    ...asset,
    networks: asset.assetType === 'FIAT' ? null : networks.filter(({ assetCode }) => assetCode === asset.code),
  }))
}

export const BrowseAssetCodesInput = z.object({ assetType: optional(oneOf(assetTypes)), ...sliceFields })

export async function browseAssetCodes(
  context: Context,
  input: z.input<typeof BrowseAssetCodesInput>,
): Promise<Slice<AssetCode>> {
  const { first, after, last, before, ...filters } = parseInput(BrowseAssetCodesInput, input)
  const assets = await listAssetCodes(context, filters)
  return readSlice(createInMemoryList(['asset_codes', filters], assets), { first, after, last, before })
}

export async function findAssetCodes({ db }: Pick<Service, 'db'>, ids: readonly string[]): Promise<AssetCode[]> {
  return (await assetCodesWithNetworks(db)).filter(({ id }) => ids.includes(id))
}

export async function findAssetNetworks({ db }: Pick<Service, 'db'>, ids: readonly string[]): Promise<AssetNetwork[]> {
  const assets = await assetCodesWithNetworks(db)
  return assets.flatMap(({ networks }) => networks ?? []).filter(({ id }) => ids.includes(id))
}
