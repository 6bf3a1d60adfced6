import { filterUuids } from '../../core/ids-and-clock.ts'
import { defineList, omitNulls } from '../../lists/define-list.ts'
import { filterByEnum, filterByRequiredId } from '../../lists/filters.ts'
import type { Context } from '../../operations/context.ts'
import type { Entry, EntryDirection, TransferKind } from './entry.ts'
import { entryDirections, kindsOfDirection, lineNumberOf, transferKinds } from './entry.ts'
import { entryCounts, selectEntries, walletEntriesOfTransfers } from './repository.ts'

export const entries = defineList({
  name: 'entries',
  noun: 'Ledger entry',
  table: 'transfers',
  select: selectEntries,
  order: 'transfers.sequence',
  createdAt: 'transfers.createdAt',
  conditions: {
    walletId: { column: 'transfers.walletId', order: 'transfers.sequence', parentTable: 'wallets', isRequired: true },
    // A query for debits also reads credits, because no partial index on debits exists. Skipping a credit takes about a
    // microsecond.
    isDebit: { column: 'transfers.kind', operator: 'in', value: kindsOfDirection.debit },
    isCredit: { column: 'transfers.kind', operator: 'not in', value: kindsOfDirection.debit },
    kind: { column: 'transfers.kind' },
  },
  filters: {
    walletId: filterByRequiredId('Wallet', 'The wallet of the statement.'),
    direction: filterByEnum(entryDirections, 'Only money that left, or only money that came in.'),
    kind: filterByEnum(transferKinds, 'Only entries of this kind.'),
  },
  toConditions: ({ walletId, direction, kind, ...others }) => {
    const kindAndDirection = statementConditions(direction, kind)
    return kindAndDirection && { walletId, ...kindAndDirection, ...omitNulls(others) }
  },
  previousCursors: {
    walletId: (walletId) => ({ walletId }),
    direction: (direction) => ({ direction }),
    kind: (kind) => ({ kind }),
  },
  parents: { wallet: { field: 'walletId', toFilterValue: (walletId) => walletId, condition: 'walletId' } },
  parentTotals: { parent: 'walletId', totals: entryCounts },
})

/**
 * Returns `null` if no entry can match. A filter by kind also filters by direction, because the direction may have an
 * index.
 */
function statementConditions(direction: EntryDirection | null, kind: TransferKind | null) {
  if (kind === null) return directionConditions(direction)
  const implied = entryDirections.find((each) => kindsOfDirection[each].includes(kind))
  if (implied === undefined || (direction !== null && direction !== implied)) return null
  return { ...directionConditions(implied), kind }
}

function directionConditions(direction: EntryDirection | null) {
  return { isDebit: direction === 'debit' || undefined, isCredit: direction === 'credit' || undefined }
}

export function entryKey(entry: Pick<Entry, 'transferId' | 'kind' | 'fee'>): string {
  return `${entry.transferId}:${lineNumberOf(entry)}`
}

/** Returns the wallets' entries in no particular order, without the entries of clearing accounts. */
export async function findEntries(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  keys: readonly string[],
): Promise<Entry[]> {
  const requested = new Set(keys)
  const transferIds = filterUuids(keys.map((key) => key.slice(0, key.indexOf(':'))))
  const entries = await walletEntriesOfTransfers(db, { merchantId, transferIds })
  return entries.filter((entry) => requested.has(entryKey(entry)))
}
