import { filterType } from '../../graphql/schema/connection-fields.ts'
import { enumType } from '../../graphql/schema/enums.ts'
import { exposeColumn, exposeNullableColumn } from '../../graphql/schema/fields.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import type { Entry } from './entry.ts'
import { entryDirections, transferKinds } from './entry.ts'
import { entries, entryKey, findEntries } from './list.ts'

const EntryDirectionEnum = enumType('EntryDirection', entryDirections, 'Which way money went, seen from the wallet.')

const TransferKindEnum = enumType('TransferKind', transferKinds, 'Why money moved.')

export const LedgerEntry = nodeType<Entry>('LedgerEntry', {
  description:
    "A line of a wallet's statement: how much moved, why, and what the wallet held after it. Lines are never changed or removed.",
  key: {
    from: ['transferId', 'kind', 'fee'],
    keyOf: entryKey,
    parse: (text) => (text.includes(':') ? text.toLowerCase() : null),
  },
  source: {
    find: async (context, keys) => {
      const found = await findEntries(context, keys)
      const entries = new Map(found.map((entry) => [entryKey(entry), entry]))
      return (key) => entries.get(key) ?? null
    },
  },
  fields: {
    sequence: exposeColumn('sequence', 'Its number in the statement, from 1 without gaps.', 'Int'),
    direction: exposeColumn('direction', 'Whether money left or came in.', EntryDirectionEnum),
    amount: exposeColumn('amount', 'How much, above zero.', 'Amount'),
    balanceAfter: exposeColumn('balanceAfter', 'What the wallet held after it.', 'Amount'),
    kind: exposeColumn('kind', 'Why the money moved.', TransferKindEnum),
    currency: exposeColumn('assetCode', 'The code of the asset, which is that of the wallet.'),
    transferId: exposeColumn(
      'transferId',
      'The ledger transfer that it belongs to; its other side is outside the wallets.',
      'UUID',
    ),
    reference: exposeNullableColumn(
      'reference',
      'The reference of the deposit that it comes from; null for anything else.',
    ),
    createdAt: exposeColumn('createdAt', 'When the money moved.', 'DateTime'),
  },
})

export const LedgerEntryFilter = filterType('LedgerEntryFilter', entries, {
  which: 'Which lines of a statement',
  known: ['walletId'],
})
