import { addQuery, exposeColumn, exposeColumnAs, objectType, queryField } from '../../graphql/schema/fields.ts'
import { optional, required } from '../../graphql/schema/inputs.ts'
import { rowUnion } from '../../graphql/schema/node.ts'
import { Customer } from '../customers/graphql.ts'
import { LedgerEntry } from '../ledger/graphql.ts'
import { BankPayoutMethod, WalletPayoutMethod } from '../payout-methods/graphql.ts'
import type { PayoutMethodType } from '../payout-methods/payout-method.ts'
import { Payout } from '../payouts/graphql.ts'
import { Wallet } from '../wallets/graphql.ts'
import type { SearchHit } from './search.ts'
import { type hitTypesByName, search } from './search.ts'

type TypeName = keyof typeof hitTypesByName

/** GraphQL cannot derive the type of a result from the row alone. */
type ResultRow = SearchHit['row'] & { readonly resultType: TypeName }

const typesByName = { Payout, Customer, Wallet, BankPayoutMethod, WalletPayoutMethod, LedgerEntry }

const SearchResult = rowUnion<ResultRow>('SearchResult', {
  description: 'A found object. A `LedgerEntry` is a deposit or the reversal of one.',
  types: Object.values(typesByName),
  from: ['resultType'],
  typeOf: ({ resultType }) => typesByName[resultType],
})

const namesOfMethodTypes: Record<PayoutMethodType, TypeName> = {
  BANK: 'BankPayoutMethod',
  WALLET: 'WalletPayoutMethod',
}

const namesOfOtherTypes: Record<Exclude<SearchHit['type'], 'payoutMethod'>, TypeName> = {
  payout: 'Payout',
  customer: 'Customer',
  wallet: 'Wallet',
  deposit: 'LedgerEntry',
}

function toResultRow(hit: SearchHit): ResultRow {
  const resultType = hit.type === 'payoutMethod' ? namesOfMethodTypes[hit.row.type] : namesOfOtherTypes[hit.type]
  return { ...hit.row, resultType }
}

const SearchPage = objectType<{ readonly items: readonly ResultRow[]; readonly hasMore: boolean }>('SearchPage', {
  description: 'The results of a search.',
  fields: {
    nodes: exposeColumnAs('items', 'The found objects: first exact matches, then names.', [SearchResult]),
    hasMore: exposeColumn('hasMore', 'Whether more objects match than `first`.', 'Boolean'),
  },
})

addQuery(
  'search',
  queryField(
    SearchPage,
    'Finds objects by an identifier: an id, a transaction id, reference, account number, address, transaction hash, e-mail address or phone number. Also finds customers by the beginning of a name.',
    {
      term: required('The whole identifier, or the beginning of a name, with at most 255 characters. Case is ignored.'),
      first: optional('The maximum number of results, 1 to 50; 20 if absent.', 'Int'),
    },
    async (context, { term, first }) => {
      const { hits, hasMore } = await search(context, { term, first: first ?? undefined })
      return { items: hits.map(toResultRow), hasMore }
    },
  ),
)
