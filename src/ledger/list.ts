import { byOneOf, ofId } from '../lists/filters.ts'
import { defineList } from '../lists/list.ts'
import type { EntryDirection, TransferKind } from './entry.ts'
import { entryDirections, kindsOfDirection, transferKinds } from './entry.ts'
import { entryCounts, joinTransfers, selectEntries } from './repository.ts'

/** The statement of a wallet. */
export const entries = defineList({
  name: 'entries',
  noun: 'Ledger entry',
  table: 'entries',
  joins: joinTransfers,
  select: selectEntries,
  order: 'entries.sequence',
  createdAt: 'transfers.createdAt',
  conditions: {
    // A wallet's account has the wallet's id.
    accountId: { column: 'entries.accountId', order: 'entries.sequence', parents: 'accounts', isRequired: true },
    direction: { column: 'entries.direction' },
    kind: { column: 'transfers.kind' },
  },
  filters: {
    walletId: ofId('Wallet', 'The wallet whose statement it is.'),
    direction: byOneOf(entryDirections, 'Only money that left, or that came in.'),
    kind: byOneOf(transferKinds, 'Only money that moved for this reason.'),
  },
  conditionsOf: ({ walletId, direction, kind }) => {
    const narrowed = narrow(direction, kind)
    return narrowed && { accountId: walletId, ...narrowed }
  },
  cursorName: ({ walletId, direction, kind }, { merchantId }) => ({ merchantId, walletId, direction, kind }),
  parents: { wallet: { field: 'walletId', asked: (walletId) => walletId, condition: 'accountId' } },
  keptBy: { parent: 'accountId', totals: entryCounts },
})

/**
 * The conditions of both filters together; `null` where no wallet entry has both.
 *
 * A kind implies a direction, by which an index leads; where that direction has no other kind it is all there is to ask.
 */
function narrow(direction: EntryDirection | null, kind: TransferKind | null) {
  if (kind === null) return { direction: direction ?? undefined }
  const implied = entryDirections.find((each) => kindsOfDirection[each].includes(kind))
  if (implied === undefined || (direction !== null && direction !== implied)) return null
  return { direction: implied, kind: kindsOfDirection[implied].length === 1 ? undefined : kind }
}
