/** The bucket of payouts that are not completed. */
export const noDuration = 0

/**
 * The exclusive upper bounds of the buckets in milliseconds. The first bound is one second, and each further bound is
 * larger by a factor of √2.
 */
const upperBoundsMs: readonly number[] = Array.from({ length: 47 }, (_, i) => Math.round(1_000 * 2 ** (i / 2)))

/** If the clocks of two machines differ, the duration can be negative. */
export function bucketOfDuration(durationMs: number): number {
  let bucket = 1
  while ((upperBoundsMs[bucket - 1] ?? Number.POSITIVE_INFINITY) <= durationMs) bucket++
  return bucket
}

/**
 * Returns the estimated duration in milliseconds.
 *
 * @param counts the number of payouts in each bucket
 * @param share for example 0.95
 */
export function estimateQuantile(counts: ReadonlyMap<number, number>, share: number): number | null {
  const buckets = [...counts].filter(([bucket]) => bucket !== noDuration).toSorted(([one], [other]) => one - other)
  const total = buckets.reduce((sum, [, payouts]) => sum + payouts, 0)
  let rest = Math.ceil(total * share)
  for (const [bucket, payouts] of buckets) {
    rest -= payouts
    if (rest <= 0) return middleOf(bucket)
  }
  return null
}

function middleOf(bucket: number): number {
  const [lower, upper] = [upperBoundsMs[bucket - 2], upperBoundsMs[bucket - 1]]
  if (lower === undefined || upper === undefined) return upper ?? lower ?? 0
  return Math.round(Math.sqrt(lower * upper))
}
