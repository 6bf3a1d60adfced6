import { parseWholeNumber } from '../modules/operators/actions/action-declaration.ts'
import { searchAcrossMerchants, searchRow } from '../modules/operators/search-across-merchants.ts'
import type { Command } from './command.ts'
import { wordAt } from './command.ts'

export const findCommand: Command = {
  changes: 'nothing',
  summary:
    'Find payouts, customers, wallets, payout methods and deposits by an identifier. Takes an id, transaction id, reference, account number, address, transaction hash, e-mail address or phone number, or the beginning of a customer’s name.',
  words: ['term'],
  options: {
    merchant: ['merchant id', 'of this merchant only'],
    limit: ['number', 'how many to show, at most 50'],
  },
  names: { first: '--limit' },
  columns: {
    type: { priority: 1 },
    description: { priority: 2, isWrapped: true },
    id: { priority: 3 },
    match: { priority: 5 },
    createdAt: { header: 'created', priority: 4 },
  },
  run: async (service, words, { merchant, limit }) => {
    const first = limit === undefined ? undefined : parseWholeNumber('limit', limit)
    const { hits, hasMore } = await searchAcrossMerchants(service, { term: wordAt(words, 0), first, merchant })
    return { results: hits.map(searchRow), hasMore }
  },
}
