/** For statuses without a duration. */
export const noDuration = 0

/**
 * The upper bounds of the buckets in milliseconds, exclusive: bucket 1 is below one second, each next one is wider by √2, and the
 * last is above 97 days.
 */
const upperBoundsMs: readonly number[] = Array.from({ length: 47 }, (_, i) => Math.round(1_000 * 2 ** (i / 2)))

/** Clocks of two machines may make the duration negative. */
export function bucketOfDuration(durationMs: number): number {
  let bucket = 1
  while ((upperBoundsMs[bucket - 1] ?? Number.POSITIVE_INFINITY) <= durationMs) bucket++
  return bucket
}

/** @param share for example 0.95; @param counts the payouts of each bucket; @returns milliseconds, or `null` without payouts */
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

/** The first bucket has its upper bound, and the last its lower one. */
function middleOf(bucket: number): number {
  const [lower, upper] = [upperBoundsMs[bucket - 2], upperBoundsMs[bucket - 1]]
  if (lower === undefined || upper === undefined) return upper ?? lower ?? 0
  return Math.round(Math.sqrt(lower * upper))
}
