import type { Params } from '../database/query.ts'
import { from, list, query } from '../database/query.ts'

/** The transfers of deposits among `ids`, in any order. */
export const depositTransfers = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  from('transfers')
    .select(['id', 'walletId', 'assetCode', 'amount', 'balanceAfter', 'reference', 'createdAt'])
    .where('merchantId', '=', p.merchantId)
    .where('id', 'in', list(p.ids))
    .where('kind', '=', 'deposit'),
)
