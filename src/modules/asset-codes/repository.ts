import type { Params } from '../../database/query.ts'
import { from, insertRow, query, queryOne } from '../../database/query.ts'

/** Every asset code, newest first, ties by id. */
export const allAssetCodes = query(() =>
  from('assetCodes').selectAll().orderBy('createdAt', 'desc').orderBy('id', 'desc'),
)

/** Every network of every asset, in the order in which they were added. */
export const allAssetNetworks = query(() => from('assetNetworks').selectAll().orderBy('createdAt').orderBy('id'))

export const assetCodeByCode = queryOne((p: Params<{ code: string }>) =>
  from('assetCodes').selectAll().where('code', '=', p.code),
)

export const insertAssetCode = insertRow('assetCodes')

export const insertAssetNetwork = insertRow('assetNetworks')
