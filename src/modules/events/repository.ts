import type { Params } from '../../database/query.ts'
import { listParam, query, selectFrom } from '../../database/query.ts'

/** Returns transfers of deposits and reversals in any order, with the reasons of reversals. */
export const depositTransfers = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  selectFrom('transfers')
    .leftJoin('depositReversals', (join) =>
      join
        .onRef('depositReversals.merchantId', '=', 'transfers.merchantId')
        .onRef('depositReversals.reference', '=', 'transfers.reference')
        .onRef('depositReversals.transferId', '=', 'transfers.id'),
    )
    .select(['transfers.id', 'transfers.walletId', 'transfers.assetCode', 'transfers.amount', 'transfers.balanceAfter'])
    .select(['transfers.reference', 'transfers.createdAt', 'depositReversals.reason'])
    .where('transfers.merchantId', '=', p.merchantId)
    .where('transfers.id', 'in', listParam(p.ids))
    .where('transfers.kind', 'in', ['deposit', 'deposit_reversal']),
)
