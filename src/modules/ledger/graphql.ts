import { filterType } from '../../graphql/schema/connection-fields.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import { exposeColumn, exposeNullableColumn } from '../../graphql/schema/fields.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import type { Entry } from './entry.ts'
import { entryDirections, transferKinds } from './entry.ts'
import { entries, entryKey, findEntries } from './list.ts'

const EntryDirectionEnum = enumType(
  'EntryDirection',
  entryDirections,
  'The direction of the money, seen from the wallet.',
)

const TransferKindEnum = enumType('TransferKind', transferKinds, 'Why the money moved.')

export const LedgerEntry = nodeType<Entry>('LedgerEntry', {
  description:
    "A line of a wallet's statement: the amount, its reason, and the balance after it. Entries are never changed or removed.",
  key: {
    from: ['transferId', 'kind', 'fee'],
    keyOf: entryKey,
    parse: (text) => (text.includes(':') ? text.toLowerCase() : null),
  },
  source: {
    find: async (context, keys) => {
      const rows = await findEntries(context, keys)
      const entries = new Map(rows.map((entry) => [entryKey(entry), entry]))
      return (key) => entries.get(key) ?? null
    },
  },
  fields: {
    sequence: exposeColumn('sequence', 'The position in the statement, from 1 without gaps.', 'Int'),
    direction: exposeColumn('direction', 'Whether the money left or came into the wallet.', EntryDirectionEnum),
    amount: exposeColumn('amount', 'The amount, including the fee; always positive.', 'Amount'),
    balanceAfter: exposeColumn('balanceAfter', 'The balance of the wallet after the entry.', 'Amount'),
    kind: exposeColumn('kind', 'Why the money moved.', TransferKindEnum),
    currency: exposeColumn('assetCode', "The code of the asset, the same as the wallet's."),
    transferId: exposeColumn(
      'transferId',
      'The ledger transfer of the entry. Its other side is an account outside the wallets.',
      'UUID',
    ),
    reference: exposeNullableColumn(
      'reference',
      'The reference of the deposit that was credited or reversed, or of the import of the wallet; null for other kinds.',
    ),
    createdAt: exposeColumn('createdAt', 'When the money moved.', 'DateTime'),
  },
})

export const LedgerEntryFilter = filterType('LedgerEntryFilter', entries, {
  which: 'Which lines of a statement',
  known: ['walletId'],
})
