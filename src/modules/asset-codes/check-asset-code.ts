import type { FieldFault } from '../../core/errors.ts'
import { notOneOf } from '../../core/input.ts'
import type { AssetCode, AssetType } from './asset-code.ts'

/** The asset that `code` names, if that is the text of a supported one. */
export function assetNamed(assets: readonly AssetCode[], code: unknown): AssetCode | undefined {
  return typeof code === 'string' ? assets.find((asset) => asset.code === code.trim()) : undefined
}

/** The fault of a `code` that is no supported asset (of `assetType`, where one is asked for); none for what is no text. */
export function assetCodeFault(
  assets: readonly AssetCode[],
  { field, code, assetType }: { field: string; code: unknown; assetType?: AssetType },
): FieldFault[] {
  if (typeof code !== 'string' || code.trim() === '') return []
  const fitting = assets.filter((asset) => !assetType || asset.assetType === assetType)
  if (assetNamed(fitting, code)) return []
  // Oldest first: the contract's own codes lead the list.
  return [notOneOf(field, fitting.map((asset) => asset.code).reverse())]
}

/** The fault of a `network` that the asset is not on; none for what is no text or for an asset without networks. */
export function assetNetworkFault(
  asset: AssetCode | undefined,
  { field, network }: { field: string; network: unknown },
): FieldFault[] {
  if (typeof network !== 'string' || network === '' || !asset?.networks) return []
  const supported = asset.networks.map((each) => each.network as string)
  return supported.includes(network) ? [] : [notOneOf(field, supported)]
}
