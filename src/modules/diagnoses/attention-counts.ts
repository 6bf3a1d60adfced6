import type { Reader } from '../../database/query.ts'
import { attentionCounts } from './repository.ts'

/** How many payouts and deposits of all merchants wait for a person. */
export async function findAttentionCounts({
  db,
}: {
  readonly db: Reader
}): Promise<{ readonly payouts: number; readonly deposits: number }> {
  const counts = await attentionCounts(db, {})
  return { payouts: Number(counts?.payouts ?? 0), deposits: Number(counts?.deposits ?? 0) }
}
