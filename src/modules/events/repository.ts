import type { Params } from '../../database/query.ts'
import { listParam, query, selectFrom } from '../../database/query.ts'

export const depositsByTransfers = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  selectFrom('deposits')
    .leftJoin('chainDeposits', (join) =>
      join
        .onRef('chainDeposits.merchantId', '=', 'deposits.merchantId')
        .onRef('chainDeposits.reference', '=', 'deposits.reference')
        .onRef('chainDeposits.depositReference', '=', 'deposits.reference'),
    )
    .leftJoin('walletAddresses', (join) =>
      join
        .onRef('walletAddresses.merchantId', '=', 'chainDeposits.merchantId')
        .onRef('walletAddresses.walletId', '=', 'chainDeposits.walletId')
        .onRef('walletAddresses.id', '=', 'chainDeposits.addressId'),
    )
    .select(['deposits.transferId', 'deposits.sequence', 'chainDeposits.txHash', 'chainDeposits.network'])
    .select('walletAddresses.address')
    .where('deposits.merchantId', '=', p.merchantId)
    .where('deposits.transferId', 'in', listParam(p.ids)),
)

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
