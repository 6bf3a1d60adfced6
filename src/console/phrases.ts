const hourSeconds = 3_600

export function pluralize(count: number, noun: string): string {
  return `${groupThousands(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** The console counts at most this many rows of a list without a stored total. */
export const maxCounted = 1_000

/** @param total `null` if the list has more than `maxCounted` rows */
export function totalText(total: number | null, noun: string): string {
  return total === null ? `more than ${pluralize(maxCounted, noun)}` : pluralize(total, noun)
}

export function groupThousands(count: number | bigint): string {
  return count.toLocaleString('en-US')
}

export function formatDuration(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} seconds`
  if (seconds < 2 * hourSeconds) return `${Math.floor(seconds / 60)} minutes`
  return seconds < 48 * hourSeconds
    ? `${Math.floor(seconds / hourSeconds)} hours`
    : `${Math.floor(seconds / (24 * hourSeconds))} days`
}
