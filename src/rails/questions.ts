import type { Context } from '../context.ts'
import { machineTime } from '../context.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** How long after the bank was asked it is asked again, the last for ever. */
const questionDelaysMs: readonly number[] = [
  10 * second,
  30 * second,
  2 * minute,
  10 * minute,
  hour,
  6 * hour,
  24 * hour,
]

/** When a bank that was asked so often is asked again, by the machine's clock. */
export function nextQuestionAt(context: Pick<Context, 'now' | 'aheadMs'>, asked: number): bigint {
  const delay = questionDelaysMs[Math.min(asked, questionDelaysMs.length - 1)] ?? 0
  return BigInt(machineTime(context) + delay)
}
