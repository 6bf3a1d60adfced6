import { filterType } from '../../graphql/schema/connection-fields.ts'
import { valuesEnum } from '../../graphql/schema/enums.ts'
import { column, columnOrNull } from '../../graphql/schema/fields.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import type { Entry } from './entry.ts'
import { entryDirections, transferKinds } from './entry.ts'
import { entryKey, findEntries } from './find-entries.ts'
import { entries } from './list.ts'

const EntryDirectionEnum = valuesEnum('EntryDirection', entryDirections, 'Which way money went, seen from the wallet.')

const TransferKindEnum = valuesEnum('TransferKind', transferKinds, 'Why money moved.')

export const LedgerEntry = nodeType<Entry>('LedgerEntry', {
  description:
    "A line of a wallet's statement: how much moved, why, and what the wallet held after it. Lines are never changed or removed.",
  key: {
    from: ['transferId', 'kind', 'fee'],
    of: entryKey,
    read: (text) => (text.includes(':') ? text.toLowerCase() : null),
  },
  source: {
    find: async (context, keys) => {
      const found = await findEntries(context, keys)
      const entries = new Map(found.map((entry) => [entryKey(entry), entry]))
      return (key) => entries.get(key) ?? null
    },
  },
  fields: {
    sequence: column('sequence', 'Its number in the statement, from 1 without gaps.', 'Int'),
    direction: column('direction', 'Whether money left or came in.', EntryDirectionEnum),
    amount: column('amount', 'How much, above zero.', 'Amount'),
    balanceAfter: column('balanceAfter', 'What the wallet held after it.', 'Amount'),
    kind: column('kind', 'Why the money moved.', TransferKindEnum),
    currency: column('assetCode', 'The code of the asset, which is that of the wallet.'),
    transferId: column(
      'transferId',
      'The ledger transfer that it belongs to; its other side is outside the wallets.',
      'UUID',
    ),
    reference: columnOrNull('reference', 'The reference of the deposit that it comes from; null for anything else.'),
    createdAt: column('createdAt', 'When the money moved.', 'DateTime'),
  },
})

export const LedgerEntryFilter = filterType('LedgerEntryFilter', entries, {
  which: 'Which lines of a statement',
  known: ['walletId'],
})
