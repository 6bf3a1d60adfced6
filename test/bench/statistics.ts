/** The median. */
export function median(figures: readonly number[]): number {
  const sorted = figures.toSorted((one, other) => one - other)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2
}

/** The quantile at a share: the median for 0.5. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((one, other) => one - other)
  return sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN
}
