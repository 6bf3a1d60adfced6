import type { Params } from '../../database/query.ts'
import { insertRow, query, queryOne, selectFrom } from '../../database/query.ts'

export const allAssetCodes = query(() =>
  selectFrom('assetCodes').selectAll().orderBy('createdAt', 'desc').orderBy('id', 'desc'),
)

export const allAssetNetworks = query(() => selectFrom('assetNetworks').selectAll().orderBy('createdAt').orderBy('id'))

export const assetCodeByCode = queryOne((p: Params<{ code: string }>) =>
  selectFrom('assetCodes').selectAll().where('code', '=', p.code),
)

export const insertAssetCode = insertRow('assetCodes')

export const insertAssetNetwork = insertRow('assetNetworks')
