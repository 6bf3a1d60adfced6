import { idField, notInContract } from '../../rest/input-fields.ts'
import { listRoute } from '../../rest/list-route.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get } from '../../rest/route.ts'
import { listOf, member } from '../../rest/shape.ts'
import {
  GetTransactionInput,
  getTransaction,
  ListTransactionsByReferenceInput,
  listTransactionsByReference,
} from './get-transaction.ts'
import { customerTransactions, transactions } from './list-transactions.ts'
import { customerTransaction, transaction } from './transaction-shape.ts'
import type { Transaction } from './wallet-transaction.ts'

const dateFields = {
  startDate: { description: 'Only transactions from this day (UTC) or time, such as `2026-03-02`.' },
  endDate: { description: 'Only transactions up to this day (UTC), which is included, or before this time.' },
}

const filteredListHint = 'A filtered list has the newest 10,000 matches; use `end_date` for older ones.'

export const transactionEndpoints: RouteGroup = {
  name: 'Transactions',
  description: 'Payouts and deposits in one list, in the form of the original provider.',
  routes: [
    listRoute('/api/transactions', transactions, {
      name: 'listTransactions',
      title: 'List transactions',
      description: `Lists the payouts and deposits of the merchant and its customers, newest first. ${filteredListHint} ${notInContract}`,
      fields: dateFields,
      example: { transactionType: 'PAYOUT', limit: 2 },
      rows: listOf('The transactions of the page.', transaction),
    }),
    get('/api/customers/transactions/by_txid/:transaction_id', {
      name: 'getTransaction',
      title: 'Get a transaction by its transaction id',
      description: `Returns a payout or deposit by its short transaction id, or by its UUID. ${notInContract}`,
      input: GetTransactionInput,
      operation: getTransaction,
      fields: { transactionId: { description: 'The `transaction_id` or the `id`.' } },
      example: { transactionId: 'K7Q2M9X4T1' },
      errors: ['RESOURCE_NOT_FOUND'],
      response: { data: transaction },
    }),
    get('/api/customers/transactions/by_ref_id/:reference_id', {
      name: 'listTransactionsByReference',
      title: 'Get transactions by their reference',
      description: `Returns the payout or deposit with this reference, in an array. ${notInContract}`,
      input: ListTransactionsByReferenceInput,
      operation: listTransactionsByReference,
      fields: {
        referenceId: { description: 'The `reference_id`, or the reference under which a deposit was credited.' },
      },
      example: { referenceId: '01980c60-1f2f-7a1b-9c2d-3e4f50617283' },
      errors: ['RESOURCE_NOT_FOUND'],
      response: { data: member((rows: readonly Transaction[]) => rows, listOf('The transactions.', transaction)) },
    }),
    listRoute('/api/customers/transactions/by_customer_id/:customer_id', customerTransactions, {
      name: 'listCustomerTransactions',
      title: 'List the transactions of a customer',
      description: `Lists the payouts and deposits of one customer, newest first: the newest 10,000 that match. Use \`end_date\` for older ones. ${notInContract}`,
      fields: { customerId: idField('The id of the customer.'), ...dateFields },
      errors: ['RESOURCE_NOT_FOUND'],
      example: { customerId: '01980c5e-7a10-7c3f-9d2b-4e5f60718293', status: 'COMPLETED' },
      rows: listOf('The transactions of the page.', customerTransaction),
    }),
  ],
}
