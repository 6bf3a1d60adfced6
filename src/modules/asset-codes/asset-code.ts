import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'

export const assetTypes = defineEnum({
  FIAT: 'A currency of a state, such as the naira.',
  STABLECOIN: 'A token on a blockchain that is worth as much as a currency, such as USDC.',
})
export type AssetType = (typeof assetTypes)[number]

/** A currency or stablecoin that the service knows; `networks` is `null` for fiat (contract 2.4). */
export type AssetCode = RowOf<'assetCodes'> & { readonly networks: readonly AssetNetwork[] | null }

export type AssetNetwork = RowOf<'assetNetworks'>
