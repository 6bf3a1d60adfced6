import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { ProjectedRow } from '../../database/projection.ts'
import { cellReader, createProjection } from '../../database/projection.ts'
import type { Reader } from '../../database/query.ts'
import { createdBounds, findSpan, intersectSpans } from '../../lists/time-range.ts'
import { maxCountedRows } from '../../lists/totals.ts'
import { payouts } from '../payouts/list.ts'
import { depositTransactionId } from '../payouts/transaction-id.ts'
import { cancelledOrders, depositMarks, depositNumbers, reversedDepositNumbers } from './repository.ts'
import type { DepositConditions, PayoutConditions, TransactionConditions } from './transaction-filters.ts'
import type { DepositNumbers, TransactionNumber } from './transaction-numbers.ts'
import { mergeNumbers } from './transaction-numbers.ts'

type Search = TransactionConditions & { readonly merchantId: string }

/** Returns at most 10,000 matching transactions, newest first. */
export async function findMatches(read: Reader, search: Search): Promise<TransactionNumber[]> {
  const [ofPayouts, ofDeposits] = await allOrFirstError([
    search.payouts === null ? [] : matchingPayouts(read, search, search.payouts),
    search.deposits === null ? [] : matchingDeposits(read, search, search.deposits),
  ])
  return mergeNumbers(ofPayouts, ofDeposits).slice(0, maxCountedRows)
}

const sequences = createProjection(['sequence'])
const sequencesAndIds = createProjection(['sequence', 'transactionId'])
const sequencesAndOrders = createProjection(['sequence', 'referenceId'])
const sequencesIdsAndOrders = createProjection(['sequence', 'referenceId', 'transactionId'])

async function matchingPayouts(
  read: Reader,
  { merchantId, owner, created, idPart }: Search,
  { isCancelled, sequence, ...conditions }: PayoutConditions,
): Promise<number[]> {
  const columns =
    isCancelled === undefined
      ? idPart === null
        ? sequences
        : sequencesAndIds
      : idPart === null
        ? sequencesAndOrders
        : sequencesIdsAndOrders
  const request = { merchantId, conditions: { ...owner, ...conditions }, created, limit: maxCountedRows, sequence }
  const rows = await payouts.newest(read, request, columns)
  const [sequenceOf, idOf, orderOf] = ['sequence', 'transactionId', 'referenceId'].map((name) =>
    columns.names.includes(name) ? cellReader(columns, name) : null,
  )
  const orderIds = orderOf ? rows.map((row) => String(orderOf(row))) : []
  const cancelled = new Set(
    orderIds.length === 0 ? [] : (await cancelledOrders(read, { merchantId, orderIds })).map(({ orderId }) => orderId),
  )
  const matches = (row: ProjectedRow) =>
    (idPart === null || String(idOf?.(row)).includes(idPart)) &&
    (isCancelled === undefined || cancelled.has(String(orderOf?.(row))) === isCancelled)
  return rows.filter(matches).map((row) => Number(sequenceOf?.(row)))
}

async function matchingDeposits(
  read: Reader,
  search: Search,
  { isReversed, assetCode, sequence }: DepositConditions,
): Promise<DepositNumbers[]> {
  const { merchantId, owner, created, idPart } = search
  const hasIdPart = ({ sequence }: DepositNumbers) =>
    idPart === null || depositTransactionId(merchantId, sequence).includes(idPart)
  if (isReversed) return (await reversedDeposits(read, search, { assetCode, sequence })).filter(hasIdPart)
  const { customerId } = owner
  const inTime = await findSpan(created, async (fromSequence) => {
    const [mark = null] = await depositMarks(read, { merchantId, fromSequence, customerId })
    return mark
  })
  const span = sequence === undefined ? inTime : intersectSpans(inTime, { above: sequence - 1, below: sequence + 1 })
  const rows = await depositNumbers(read, {
    ...{ merchantId, ...owner, assetCode, ...createdBounds(created), ...span, limit: maxCountedRows },
    isCredited: isReversed === false ? true : undefined,
  })
  return rows.filter(hasIdPart)
}

async function reversedDeposits(
  read: Reader,
  { merchantId, owner, created: { createdFrom, createdBefore } }: Search,
  { assetCode, sequence }: DepositConditions,
): Promise<DepositNumbers[]> {
  const rows = await reversedDepositNumbers(read, { merchantId })
  return rows
    .filter(
      (row) =>
        (owner.customerId === undefined || row.customerId === owner.customerId) &&
        (owner.isMerchantOwned === undefined || row.customerId === null) &&
        (assetCode === undefined || row.assetCode === assetCode) &&
        (sequence === undefined || row.sequence === sequence) &&
        (createdFrom === null || row.createdAt >= createdFrom) &&
        (createdBefore === null || row.createdAt < createdBefore),
    )
    .toSorted((one, other) => other.sequence - one.sequence)
}
