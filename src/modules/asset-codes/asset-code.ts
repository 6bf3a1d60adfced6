import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { FieldError } from '../../core/errors.ts'
import { notOneOfError } from '../../core/input.ts'
import type { RowOf } from '../../database/tables.ts'

export const assetTypes = defineEnum({
  FIAT: 'A currency of a state, such as the naira.',
  STABLECOIN: 'A token on a blockchain that is worth as much as a currency, such as USDC.',
})
export type AssetType = (typeof assetTypes)[number]

/** A currency or stablecoin that the service knows; `networks` is `null` for fiat (contract 2.4). */
export type AssetCode = RowOf<'assetCodes'> & { readonly networks: readonly AssetNetwork[] | null }

export type AssetNetwork = RowOf<'assetNetworks'>

/** The asset that `code` names, if that is the text of a supported one. */
export function findAsset(assets: readonly AssetCode[], code: unknown): AssetCode | undefined {
  return typeof code === 'string' ? assets.find((asset) => asset.code === code.trim()) : undefined
}

/** The fault of a `code` that is no supported asset (of `assetType`, where one is asked for); none for what is no text. */
export function assetCodeErrors(
  assets: readonly AssetCode[],
  { field, code, assetType }: { field: string; code: unknown; assetType?: AssetType },
): FieldError[] {
  if (typeof code !== 'string' || code.trim() === '') return []
  const fitting = assets.filter((asset) => !assetType || asset.assetType === assetType)
  if (findAsset(fitting, code)) return []
  // Oldest first: the contract's own codes lead the list.
  return [notOneOfError(field, fitting.map((asset) => asset.code).reverse())]
}

/** The fault of a `network` that the asset is not on; none for what is no text or for an asset without networks. */
export function assetNetworkErrors(
  asset: AssetCode | undefined,
  { field, network }: { field: string; network: unknown },
): FieldError[] {
  if (typeof network !== 'string' || network === '' || !asset?.networks) return []
  const supported = asset.networks.map((each) => each.network as string)
  return supported.includes(network) ? [] : [notOneOfError(field, supported)]
}
