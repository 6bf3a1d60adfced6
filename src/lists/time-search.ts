import type { MaybePromise } from '../core/maybe-promise.ts'

type SequencedRow = { readonly sequence: number; readonly createdAt: string }

/** Sequence numbers have 31 bits. */
export const maxSequence = 2 ** 31 - 1

/** After this number of rounds, the search bisects, so the number of rounds is logarithmic in the worst case. */
const maxInterpolationRounds = 16

/**
 * Finds the last row before each time, in the order of `times`. A row with a higher sequence number must not have an
 * earlier time. Therefore later rows do not change the result.
 *
 * The search interpolates between the times of known rows. If rows are spread evenly over time, the number of rounds
 * does not depend on the number of rows. All times share the rows that a round reads.
 *
 * @param readRows returns for each sequence number the last row whose number is at most that number
 */
export async function findLastBefore<Row extends SequencedRow>(
  times: readonly string[],
  readRows: (sequences: readonly number[]) => MaybePromise<readonly (Row | null)[]>,
): Promise<readonly (Row | null)[]> {
  const [oldest = null, newest = null] = await readRows([1, maxSequence])
  if (newest === null) return times.map(() => null)
  const brackets = times.map((time) => createBracket(time, newest))
  for (const bracket of brackets) narrow(bracket, 1, oldest)
  for (let round = 0; ; round++) {
    const open = brackets.filter(({ lower, upper }) => upper.sequence - lower.sequence > 1)
    if (open.length === 0) return brackets.map(({ lastRow }) => lastRow)
    const choose = round < maxInterpolationRounds ? interpolate : bisect
    const sequences = [...new Set(open.map(choose))]
    const rows = await readRows(sequences)
    for (const bracket of open) {
      for (const [place, sequence] of sequences.entries()) narrow(bracket, sequence, rows[place] ?? null)
      reduceKeptEnd(bracket.lower)
      reduceKeptEnd(bracket.upper)
    }
  }
}

/** `distanceMs` is the weight of the end in the interpolation: initially the distance from the searched time. */
type BracketEnd = { readonly sequence: number; distanceMs: number; roundsKept: number }

/** Rows up to `lower` are older than `time`, and `lastRow` is the last of them. The row `upper` is not older. */
type Bracket<Row> = { readonly time: string; lower: BracketEnd; upper: BracketEnd; lastRow: Row | null }

function createBracket<Row extends SequencedRow>(time: string, newest: Row): Bracket<Row> {
  const start = { sequence: 0, distanceMs: Number.NaN, roundsKept: 0 }
  if (newest.createdAt < time) return { time, lower: start, upper: { ...start, sequence: 1 }, lastRow: newest }
  return { time, lower: start, upper: bracketEnd(time, newest.sequence, newest), lastRow: null }
}

function bracketEnd(time: string, sequence: number, { createdAt }: SequencedRow): BracketEnd {
  return { sequence, distanceMs: Math.abs(Date.parse(createdAt) - Date.parse(time)), roundsKept: -1 }
}

/** @param row the last row up to `sequence` */
function narrow<Row extends SequencedRow>(bracket: Bracket<Row>, sequence: number, row: Row | null): void {
  const { time, lower, upper } = bracket
  if (sequence <= lower.sequence || sequence >= upper.sequence) return
  if (row === null) {
    bracket.lower = { ...lower, sequence }
  } else if (row.createdAt < time) {
    bracket.lower = bracketEnd(time, sequence, row)
    bracket.lastRow = row
  } else {
    bracket.upper = bracketEnd(time, row.sequence, row)
  }
}

/**
 * The Illinois algorithm: if one end of a bracket stays the same in successive rounds, its weight is halved. Otherwise
 * the other end would approach the time slowly.
 */
function reduceKeptEnd(end: BracketEnd): void {
  end.roundsKept++
  if (end.roundsKept >= 2) end.distanceMs /= 2
}

function interpolate(bracket: Bracket<unknown>): number {
  const { lower, upper } = bracket
  const share = lower.distanceMs / (lower.distanceMs + upper.distanceMs)
  const sequence = Math.round(lower.sequence + (upper.sequence - lower.sequence) * share)
  // Without a known row before the time, the share is not a number.
  if (Number.isNaN(sequence)) return bisect(bracket)
  return Math.max(lower.sequence + 1, Math.min(sequence, upper.sequence - 1))
}

function bisect({ lower, upper }: Bracket<unknown>): number {
  return Math.floor((lower.sequence + upper.sequence) / 2)
}
