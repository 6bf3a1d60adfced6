import { filterUuids } from '../../core/ids-and-clock.ts'
import type { Context } from '../../operations/context.ts'
import type { Entry } from './entry.ts'
import { lineNumberOf } from './entry.ts'
import { walletEntriesOfTransfers } from './repository.ts'

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
