import type { Database } from './database.ts'

/**
 * The latest number of something, for who knows of number `after`. Where that is later than what is known here, it is looked for
 * once more at the server that takes writes: one that was cut off and replaced does not know what has happened since.
 */
export async function readHighWaterMark(
  db: Partial<Pick<Database, 'findPrimary'>>,
  after: number,
  latest: () => Promise<number>,
): Promise<number> {
  const known = await latest()
  if (after <= known) return known
  await db.findPrimary?.()
  return latest()
}
