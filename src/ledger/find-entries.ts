import type { Context } from '../context.ts'
import { uuidsAmong } from '../ids.ts'
import type { Entry } from './entry.ts'
import { lineOf } from './entry.ts'
import { walletEntriesOfTransfers } from './repository.ts'

/** The merchant's wallet entries among `keys`, in any order; lines of clearing accounts are left out. */
export async function findEntries(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  keys: readonly { readonly transferId: string; readonly line: number }[],
): Promise<Entry[]> {
  const asked = new Set(keys.map(({ transferId, line }) => `${transferId.toLowerCase()} ${line}`))
  const transferIds = uuidsAmong(keys.map(({ transferId }) => transferId))
  const entries = await walletEntriesOfTransfers(db, { merchantId, transferIds })
  return entries.filter((entry) => asked.has(`${entry.transferId} ${lineOf(entry)}`))
}
