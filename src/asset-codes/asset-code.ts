import type { RowOf } from '../database/tables.ts'

export const assetTypes = ['FIAT', 'STABLECOIN'] as const
export type AssetType = (typeof assetTypes)[number]

/** A currency or stablecoin that the service knows; `networks` is `null` for fiat (contract 2.4). */
export type AssetCode = RowOf<'assetCodes'> & { readonly networks: readonly AssetNetwork[] | null }

export type AssetNetwork = RowOf<'assetNetworks'>
