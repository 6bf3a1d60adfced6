import type { Service } from '../../operations/context.ts'
import type { AssetCode, AssetNetwork } from './asset-code.ts'
import { assetCodesWithNetworks } from './list-asset-codes.ts'

/** The asset codes among `ids`, in any order; there are few, so all are read. */
export async function findAssetCodes({ db }: Pick<Service, 'db'>, ids: readonly string[]): Promise<AssetCode[]> {
  return (await assetCodesWithNetworks(db)).filter(({ id }) => ids.includes(id))
}

/** The networks of assets among `ids`, in any order. */
export async function findAssetNetworks({ db }: Pick<Service, 'db'>, ids: readonly string[]): Promise<AssetNetwork[]> {
  const assets = await assetCodesWithNetworks(db)
  return assets.flatMap(({ networks }) => networks ?? []).filter(({ id }) => ids.includes(id))
}
