import { z } from 'zod'
import type { Context } from '../context.ts'
import { sequencedList } from '../database/created-range.ts'
import { sliceByKey, slicesOfEach } from '../database/slices-of-each.ts'
import { uuidsAmong } from '../ids.ts'
import { createdFields, oneOf, optional, parse, uuid } from '../input.ts'
import type { Slice } from '../slice.ts'
import { listInMemory, sliceFields, sliceOf } from '../slice.ts'
import type { Entry, EntryDirection, TransferKind } from './entry.ts'
import { entryDirections, kindsOfDirection, transferKinds } from './entry.ts'
import {
  accountEntryCount,
  accountEntryCounts,
  browsedEntries,
  countBrowsedEntries,
  entryCountsOfWallets,
  entryMark,
  transferIdsOfWallets,
  walletEntriesOfTransfers,
} from './repository.ts'

export const BrowseEntriesInput = z.object({
  walletId: uuid(),
  direction: optional(oneOf(entryDirections)),
  kind: optional(oneOf(transferKinds)),
  ...createdFields,
  ...sliceFields,
})

/**
 * A slice of a wallet's statement, newest first; empty for a wallet that is not the merchant's.
 *
 * @param input `createdFrom` inclusive and `createdBefore` exclusive, in ISO 8601
 * @throws Refusal INVALID_INPUT
 */
export async function browseEntries(
  { db, merchantId }: Context,
  input: z.input<typeof BrowseEntriesInput>,
): Promise<Slice<Entry>> {
  const { walletId, direction, kind, createdFrom, createdBefore, ...slice } = parse(BrowseEntriesInput, input)
  const name = nameOf({ merchantId, walletId, direction, kind })
  const narrowed = narrow(direction, kind)
  if (narrowed === null) return sliceOf(listInMemory<Entry>(name, []), slice)

  const filter = { merchantId, accountId: walletId, ...narrowed }
  const list = sequencedList<Entry>({
    name,
    created: { createdFrom, createdBefore },
    sequenceOf: ({ sequence }) => sequence,
    markAt: (fromSequence) => entryMark(db, { merchantId, accountId: walletId, fromSequence }),
    rows: async (range) => (await browsedEntries(db, { ...filter, ...range })) as Entry[],
    count: (range) => countBrowsedEntries(db, { ...filter, ...range }),
    keptTotal:
      narrowed.direction === undefined
        ? async () => (await accountEntryCount(db, { merchantId, id: walletId }))?.entryCount ?? 0
        : null,
  })
  return sliceOf(list, slice)
}

/** The merchant's wallet entries among `keys`, in any order; entries of clearing accounts are left out. */
export async function findEntries(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  keys: readonly { readonly transferId: string; readonly line: number }[],
): Promise<Entry[]> {
  const asked = new Set(keys.map(({ transferId, line }) => `${transferId.toLowerCase()} ${line}`))
  const transferIds = uuidsAmong(keys.map(({ transferId }) => transferId))
  const entries = (await walletEntriesOfTransfers(db, { merchantId, transferIds })) as Entry[]
  return entries.filter(({ transferId, line }) => asked.has(`${transferId} ${line}`))
}

/**
 * The filters of both together; `null` where no wallet entry has both.
 *
 * A kind implies a direction, by which an index leads; where that direction has no other kind it is all there is to ask.
 */
function narrow(
  direction: EntryDirection | null,
  kind: TransferKind | null,
): { direction?: EntryDirection; kind?: TransferKind } | null {
  if (kind === null) return direction === null ? {} : { direction }
  const implied = entryDirections.find((each) => kindsOfDirection[each].includes(kind))
  if (implied === undefined || (direction !== null && direction !== implied)) return null
  return kindsOfDirection[implied].length === 1 ? { direction: implied } : { direction: implied, kind }
}

/**
 * The same slice of the statement of each of these wallets, by the wallet's id.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function browseEntriesOfWallets(
  context: Context,
  walletIds: readonly string[],
  input: Omit<z.input<typeof BrowseEntriesInput>, 'walletId'>,
): Promise<ReadonlyMap<string, Slice<Entry>>> {
  const { db, merchantId } = context
  const { direction, kind, createdFrom, createdBefore, ...slice } = parse(
    BrowseEntriesInput.omit({ walletId: true }),
    input,
  )
  const narrowed = narrow(direction, kind)
  if (slice.after !== null || slice.before !== null || narrowed === null) {
    return sliceByKey(walletIds, (walletId) => browseEntries(context, { ...input, walletId }))
  }
  return slicesOfEach<Entry>(
    {
      parentIds: walletIds,
      parentIdOf: ({ accountId }) => accountId,
      nameOf: (walletId) => nameOf({ merchantId, walletId, direction, kind }),
      sequenceOf: ({ sequence }) => sequence,
      created: { createdFrom, createdBefore },
      rows: async (range) => {
        const ids = await transferIdsOfWallets(db, { merchantId, ...narrowed, ...range })
        return (await walletEntriesOfTransfers(db, { merchantId, transferIds: ids.map(({ id }) => id) })) as Entry[]
      },
      counts: (range) => entryCountsOfWallets(db, { merchantId, ...narrowed, ...range }),
      keptTotals:
        narrowed.direction === undefined
          ? async () => {
              const accounts = await accountEntryCounts(db, { merchantId, ids: walletIds })
              return new Map(accounts.map(({ id, entryCount }) => [id, entryCount]))
            }
          : null,
    },
    slice,
  )
}

function nameOf(list: {
  merchantId: string
  walletId: string
  direction: EntryDirection | null
  kind: TransferKind | null
}): readonly unknown[] {
  return ['entries', list]
}
