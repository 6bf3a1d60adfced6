import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { FieldError } from '../../core/errors.ts'
import { notOneOfError } from '../../core/input.ts'
import type { RowOf } from '../../database/tables.ts'

export const assetTypes = defineEnum({
  FIAT: 'A state currency, such as the naira.',
  STABLECOIN: 'A blockchain token pegged to a currency, such as USDC.',
})
export type AssetType = (typeof assetTypes)[number]

/** Contract 2.4. `networks` is `null` for fiat currencies. */
export type AssetCode = RowOf<'assetCodes'> & { readonly networks: readonly AssetNetwork[] | null }

export type AssetNetwork = RowOf<'assetNetworks'>

export const assetDescriptions = {
  asset: 'A currency or stablecoin that the service supports.',
  assetType: 'The type of the asset.',
  code: 'The code of the asset, such as `USDC` or `NGN`, as in `currency` fields.',
  createdAt: 'When the asset was added.',
  updatedAt: 'When the asset last changed.',
  network: 'A network on which a stablecoin is supported.',
  networkCreatedAt: 'When the network was added.',
  assetTypeFilter: 'Only assets of this type.',
} as const

export function findAsset(assets: readonly AssetCode[], code: unknown): AssetCode | undefined {
  return typeof code === 'string' ? assets.find((asset) => asset.code === code.trim()) : undefined
}

export function assetCodeErrors(
  assets: readonly AssetCode[],
  { field, code, assetType }: { field: string; code: unknown; assetType?: AssetType },
): FieldError[] {
  if (typeof code !== 'string' || code.trim() === '') return []
  const candidates = assets.filter((asset) => !assetType || asset.assetType === assetType)
  if (findAsset(candidates, code)) return []
  // The error message lists the oldest asset codes first, because the API contract contains the oldest asset codes.
  return [notOneOfError(field, candidates.map((asset) => asset.code).reverse())]
}

export function assetNetworkErrors(
  asset: AssetCode | undefined,
  { field, network }: { field: string; network: unknown },
): FieldError[] {
  if (typeof network !== 'string' || network === '' || !asset?.networks) return []
  const supported = asset.networks.map((each) => each.network as string)
  return supported.includes(network) ? [] : [notOneOfError(field, supported)]
}
