import { filterUuids } from '../../core/ids-and-clock.ts'
import { defineList, omitNulls } from '../../lists/define-list.ts'
import { filterByEnum, filterByRequiredId } from '../../lists/filters.ts'
import type { Context } from '../../operations/context.ts'
import type { Entry, EntryDirection, TransferKind } from './entry.ts'
import { entryDirections, kindsOfDirection, lineNumberOf, transferKinds } from './entry.ts'
import { entryCounts, selectEntries, walletEntriesOfTransfers } from './repository.ts'

/** The statement of a wallet. */
export const entries = defineList({
  name: 'entries',
  noun: 'Ledger entry',
  table: 'transfers',
  select: selectEntries,
  order: 'transfers.sequence',
  createdAt: 'transfers.createdAt',
  conditions: {
    walletId: { column: 'transfers.walletId', order: 'transfers.sequence', parentTable: 'wallets', isRequired: true },
    // What leaves a wallet has no index of its own: what came in is passed over, a microsecond for each.
    isDebit: { column: 'transfers.kind', operator: 'in', value: kindsOfDirection.debit },
    isCredit: { column: 'transfers.kind', operator: 'not in', value: kindsOfDirection.debit },
    kind: { column: 'transfers.kind' },
  },
  filters: {
    walletId: filterByRequiredId('Wallet', 'The wallet whose statement it is.'),
    direction: filterByEnum(entryDirections, 'Only money that left, or that came in.'),
    kind: filterByEnum(transferKinds, 'Only money that moved for this reason.'),
  },
  conditionsOf: ({ walletId, direction, kind, ...others }) => {
    const narrowed = statementConditions(direction, kind)
    return narrowed && { walletId, ...narrowed, ...omitNulls(others) }
  },
  previousCursors: {
    walletId: (walletId) => ({ walletId }),
    direction: (direction) => ({ direction }),
    kind: (kind) => ({ kind }),
  },
  parents: { wallet: { field: 'walletId', asked: (walletId) => walletId, condition: 'walletId' } },
  parentTotals: { parent: 'walletId', totals: entryCounts },
})

/** The conditions of both filters together; `null` where no wallet entry has both. A kind implies a direction, which may have an index. */
function statementConditions(direction: EntryDirection | null, kind: TransferKind | null) {
  if (kind === null) return directionConditions(direction)
  const implied = entryDirections.find((each) => kindsOfDirection[each].includes(kind))
  if (implied === undefined || (direction !== null && direction !== implied)) return null
  return { ...directionConditions(implied), kind }
}

function directionConditions(direction: EntryDirection | null) {
  return { isDebit: direction === 'debit' || undefined, isCredit: direction === 'credit' || undefined }
}

/** Identifies an entry: its transfer and its line there. */
export function entryKey(entry: Pick<Entry, 'transferId' | 'kind' | 'fee'>): string {
  return `${entry.transferId}:${lineNumberOf(entry)}`
}

/** The merchant's wallet entries among `keys`, in any order; lines of clearing accounts are left out. */
export async function findEntries(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  keys: readonly string[],
): Promise<Entry[]> {
  const asked = new Set(keys)
  const transferIds = filterUuids(keys.map((key) => key.slice(0, key.indexOf(':'))))
  const entries = await walletEntriesOfTransfers(db, { merchantId, transferIds })
  return entries.filter((entry) => asked.has(entryKey(entry)))
}
