import { z } from 'zod'
import { limit, page, parseInput } from '../../core/input.ts'
import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Reader } from '../../database/query.ts'
import { filterSchemas } from '../../lists/filters.ts'
import type { Page } from '../../lists/list-pages.ts'
import { latestSequenceNumber } from '../../lists/sequence.ts'
import { hasTimeBounds } from '../../lists/time-range.ts'
import type { Context } from '../../operations/context.ts'
import { findCustomer } from '../customers/get-customer.ts'
import { findMatches } from './find-matches.ts'
import { findTransactions } from './find-transactions.ts'
import { depositNumbersUpTo } from './repository.ts'
import type { TransactionConditions, TransactionFilterValues } from './transaction-filters.ts'
import {
  customerTransactionFilters,
  resolveConditions,
  transactionDateFields,
  transactionFilters,
} from './transaction-filters.ts'
import type { TransactionNumber } from './transaction-numbers.ts'
import { numbersOfPage } from './transaction-numbers.ts'
import type { Transaction } from './wallet-transaction.ts'

const transactionPageSize = 10
const customerTransactionPageSize = 20

const ListTransactionsInput = z.object({
  ...filterSchemas(transactionFilters, 'pageSchema'),
  ...transactionDateFields,
  page: page(),
  limit: limit(transactionPageSize),
})

export const transactions = {
  filters: transactionFilters,
  pageSize: transactionPageSize,
  PageInput: ListTransactionsInput,
  page: listTransactions,
}

/** @throws DomainError INVALID_INPUT */
async function listTransactions(
  context: Context,
  input: z.input<typeof ListTransactionsInput>,
): Promise<Page<Transaction>> {
  return readPage(context, parseInput(ListTransactionsInput, input))
}

const ListCustomerTransactionsInput = z.object({
  customerId: z.string(),
  ...filterSchemas(customerTransactionFilters, 'pageSchema'),
  ...transactionDateFields,
  page: page(),
  limit: limit(customerTransactionPageSize),
})

export const customerTransactions = {
  filters: customerTransactionFilters,
  pageSize: customerTransactionPageSize,
  PageInput: ListCustomerTransactionsInput,
  page: listCustomerTransactions,
}

/** @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND */
async function listCustomerTransactions(
  context: Context,
  input: z.input<typeof ListCustomerTransactionsInput>,
): Promise<Page<Transaction>> {
  const { customerId, ...request } = parseInput(ListCustomerTransactionsInput, input)
  const { id } = await findCustomer(context.db, context, customerId)
  return readPage(context, { ...request, owner: { customerId: id }, transactionId: null })
}

type PageRequest = TransactionFilterValues & { readonly page: number; readonly limit: number }

async function readPage(context: Context, { page, limit, ...filters }: PageRequest): Promise<Page<Transaction>> {
  const { db, merchantId } = context
  const conditions = await resolveConditions(context, filters)
  return db.snapshot(async (read) => {
    const search = { merchantId, ...conditions, offset: (page - 1) * limit, limit }
    const { numbers, total } = isUnfiltered(conditions)
      ? await findNumbers(read, search)
      : await findFilteredNumbers(read, search)
    return { items: await findTransactions(read, merchantId, numbers), total, page, limit }
  })
}

type PageSearch = TransactionConditions & {
  readonly merchantId: string
  readonly offset: number
  readonly limit: number
}

type FoundNumbers = { readonly numbers: readonly TransactionNumber[]; readonly total: number }

function isUnfiltered({ owner, created, idPart, payouts, deposits }: TransactionConditions): boolean {
  return [owner, payouts ?? {}, deposits ?? {}].every(isEmpty) && !hasTimeBounds(created) && idPart === null
}

function isEmpty(conditions: object): boolean {
  return Object.keys(conditions).length === 0
}

/** Sequence numbers have no gaps, so the counts of payouts and deposits determine the sequence numbers of a page. */
async function findNumbers(
  read: Reader,
  { merchantId, payouts, deposits, offset, limit }: PageSearch,
): Promise<FoundNumbers> {
  const [payoutCount, depositCount] = await allOrFirstError([
    payouts === null ? 0 : countOf(read, merchantId, 'payouts'),
    deposits === null ? 0 : countOf(read, merchantId, 'deposits'),
  ])
  const total = payoutCount + depositCount
  const newest = total - offset
  if (newest <= 0) return { numbers: [], total }
  if (payouts !== null && deposits !== null) {
    const request = { merchantId, transactionNumber: newest, limit: limit + 1 }
    return { numbers: numbersOfPage({ newest, limit, deposits: await depositNumbersUpTo(read, request) }), total }
  }
  const source = payouts === null ? 'deposit' : 'payout'
  const length = Math.min(limit, newest)
  return { numbers: Array.from({ length }, (_, i) => ({ source, sequence: newest - i, payoutsBefore: 0 })), total }
}

async function countOf(read: Reader, merchantId: string, name: 'payouts' | 'deposits'): Promise<number> {
  return (await latestSequenceNumber(read, { merchantId, name }))?.latest ?? 0
}

/** Lists at most 10,000 matches, like every filtered list. */
async function findFilteredNumbers(read: Reader, { offset, limit, ...search }: PageSearch): Promise<FoundNumbers> {
  const matches = await findMatches(read, search)
  return { numbers: matches.slice(offset, offset + limit), total: matches.length }
}
