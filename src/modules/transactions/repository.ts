import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { listParam, query, queryOne, queryWithFilters, selectFrom } from '../../database/query.ts'
import { joinReversalAndChain } from '../deposits/repository.ts'
import type { PayoutRow } from './wallet-transaction.ts'

type Sequences = { readonly merchantId: string; readonly sequences: readonly number[] }

const payoutColumns = [
  ...(['merchantId', 'id', 'sequence', 'walletId', 'customerId', 'transactionId', 'referenceId', 'status'] as const),
  ...(['assetCode', 'amount', 'fee', 'feeDeductedFrom', 'balanceAfter', 'exchangeRate', 'amountFiat'] as const),
  ...(['recipientName', 'recipientCurrency', 'recipientCountry', 'bankName', 'bankCode', 'accountNumber'] as const),
  ...(['paymentPurpose', 'narration', 'transferType', 'receiverWalletId', 'cryptoTransactionId', 'network'] as const),
  ...(['address', 'fiatReferenceId', 'createdAt', 'updatedAt', 'payoutMethodId'] as const),
] satisfies (keyof PayoutRow)[]

export const payoutsBySequences = query((p: Params<Sequences>) =>
  selectFrom('payouts')
    .leftJoin('payoutTransfers', (join) =>
      join
        .onRef('payoutTransfers.orderId', '=', 'payouts.referenceId')
        .onRef('payoutTransfers.merchantId', '=', 'payouts.merchantId')
        .on('payouts.status', '=', sql.lit('FAILED'))
        .on('payoutTransfers.state', '=', sql.lit('CANCELLED')),
    )
    .select(payoutColumns.map((column) => `payouts.${column}` as const))
    .select('payoutTransfers.orderId as cancelledOrderId')
    .where('payouts.merchantId', '=', p.merchantId)
    .where('payouts.sequence', 'in', listParam(p.sequences)),
)

export const depositsBySequences = query((p: Params<Sequences>) =>
  joinReversalAndChain(selectFrom('deposits'))
    .selectAll('deposits')
    .select(['depositReversals.createdAt as reversedAt', 'chainDeposits.txHash', 'chainDeposits.network'])
    .where('deposits.merchantId', '=', p.merchantId)
    .where('deposits.sequence', 'in', listParam(p.sequences)),
)

export const depositNumbersUpTo = query((p: Params<{ merchantId: string; transactionNumber: number; limit: number }>) =>
  selectFrom('deposits')
    .select(['sequence', 'transactionNumber'])
    .where('merchantId', '=', p.merchantId)
    .where('transactionNumber', '<=', p.transactionNumber)
    .orderBy('transactionNumber', 'desc')
    .limit(p.limit),
)

type DepositFilters = {
  readonly merchantId: string
  readonly above: number
  readonly below: number
  readonly limit: number
  readonly customerId: string
  readonly isMerchantOwned: true
  readonly assetCode: string
  readonly isCredited: true
  readonly createdFrom: string
  readonly createdBefore: string
}

const depositFilters = [
  ...(['customerId', 'isMerchantOwned', 'assetCode', 'isCredited', 'createdFrom', 'createdBefore'] as const),
] as const

/** Returns deposits newest first. The filter `isCredited` excludes reversed deposits. */
export const depositNumbers = queryWithFilters(depositFilters, (p: Params<DepositFilters>, has) => {
  let deposits = selectFrom('deposits')
    .select(['deposits.sequence', 'deposits.transactionNumber'])
    .where('deposits.merchantId', '=', p.merchantId)
    .where('deposits.sequence', '>', p.above)
    .where('deposits.sequence', '<', p.below)
  if (has('customerId')) deposits = deposits.where('deposits.customerId', '=', p.customerId)
  if (has('isMerchantOwned')) deposits = deposits.where('deposits.customerId', 'is', null)
  if (has('assetCode')) deposits = deposits.where('deposits.assetCode', '=', p.assetCode)
  if (has('createdFrom')) deposits = deposits.where('deposits.createdAt', '>=', p.createdFrom)
  if (has('createdBefore')) deposits = deposits.where('deposits.createdAt', '<', p.createdBefore)
  if (has('isCredited'))
    deposits = deposits.where(({ not, exists, selectFrom: select }) =>
      not(
        exists(
          select('depositReversals')
            .select('depositReversals.reference')
            .whereRef('depositReversals.merchantId', '=', 'deposits.merchantId')
            .whereRef('depositReversals.reference', '=', 'deposits.reference'),
        ),
      ),
    )
  return deposits.orderBy('deposits.sequence', 'desc').limit(p.limit)
})

/** Returns reversed deposits in no particular order. Only operators reverse deposits, so reversed deposits are few. */
export const reversedDepositNumbers = query((p: Params<{ merchantId: string }>) =>
  selectFrom('depositReversals')
    .innerJoin('deposits', (join) =>
      join
        .onRef('deposits.merchantId', '=', 'depositReversals.merchantId')
        .onRef('deposits.reference', '=', 'depositReversals.reference'),
    )
    .select(['deposits.sequence', 'deposits.transactionNumber', 'deposits.customerId', 'deposits.assetCode'])
    .select('deposits.createdAt')
    .where('depositReversals.merchantId', '=', p.merchantId),
)

export const depositMarks = queryWithFilters(
  ['customerId'],
  (p: Params<{ merchantId: string; fromSequence: number; customerId: string }>, has) => {
    const deposits = selectFrom('deposits').select(['sequence', 'createdAt']).where('merchantId', '=', p.merchantId)
    return (has('customerId') ? deposits.where('customerId', '=', p.customerId) : deposits)
      .where('sequence', '<=', p.fromSequence)
      .orderBy('sequence', 'desc')
      .limit(1)
  },
)

export const depositSequenceById = queryOne((p: Params<{ merchantId: string; transferId: string }>) =>
  selectFrom('deposits')
    .select('sequence')
    .where('merchantId', '=', p.merchantId)
    .where('transferId', '=', p.transferId),
)

export const cancelledOrders = query((p: Params<{ merchantId: string; orderIds: readonly string[] }>) =>
  selectFrom('payoutTransfers')
    .select('orderId')
    .where('merchantId', '=', p.merchantId)
    .where('orderId', 'in', listParam(p.orderIds))
    .where('state', '=', sql.lit('CANCELLED')),
)
